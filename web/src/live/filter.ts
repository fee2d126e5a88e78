// The filter of the live page: words that must all match. A word is a text, or a field and what it must be: server:files, tool:read_*,
// outcome:!ok, who:alice, door:chat, model:"claude *". Commas give alternatives; * stands for anything.

export const fields = ["server", "tool", "model", "outcome", "who", "door", "method", "id"] as const;
export type Field = (typeof fields)[number];

export interface Term {
  field: Field | ""; // "": any of them
  not: boolean;
  values: string[]; // any of them, in lower case
}

export type Subject = Record<Field, string>;

const isField = (word: string): word is Field => (fields as readonly string[]).includes(word);

/** Splits at spaces that are in no quotes. */
function words(text: string): string[] {
  return text.match(/(?:[^\s"]+|"[^"]*"?)+/g) ?? [];
}

export function parse(text: string): Term[] {
  const terms: Term[] = [];
  for (const word of words(text)) {
    const colon = word.indexOf(":");
    const name = colon > 0 ? alias(word.slice(0, colon).toLowerCase()) : "";
    const field = isField(name) ? name : "";
    let value = field ? word.slice(colon + 1) : word;
    const not = value.startsWith("!") || value.startsWith("-");
    if (not) value = value.slice(1);
    const values = value
      .split(",")
      .map((v) => v.replaceAll('"', "").toLowerCase())
      .filter(Boolean);
    if (values.length) terms.push({ field, not, values });
  }
  return terms;
}

function alias(name: string): string {
  return name === "principal" || name === "subject" ? "who" : name;
}

export function matches(terms: Term[], subject: Subject): boolean {
  return terms.every((t) => {
    const found = t.values.some((v) => (t.field ? equals(v, subject[t.field]) : fields.some((f) => subject[f].toLowerCase().includes(v))));
    return found !== t.not;
  });
}

/** A value with * in it matches as a glob, any other as a whole. */
function equals(pattern: string, value: string): boolean {
  value = value.toLowerCase();
  if (!pattern.includes("*")) return value === pattern;
  const pieces = pattern.split("*");
  const start = pieces[0] ?? "";
  const end = pieces[pieces.length - 1] ?? "";
  if (!value.startsWith(start) || !value.endsWith(end) || value.length < start.length + end.length) return false;
  let at = start.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = value.indexOf(piece, at);
    if (found < 0 || found + piece.length > value.length - end.length) return false;
    at = found + piece.length;
  }
  return true;
}

/** The value that a field is held to, if it is one alone. */
export function chosen(text: string, field: Field): string {
  const term = parse(text).find((t) => t.field === field && !t.not);
  return term?.values.length === 1 ? (term.values[0] ?? "") : "";
}

/** The filter with a field held to a value; "" lets the field free. */
export function choose(text: string, field: Field, value: string): string {
  const rest = words(text).filter((w) => parse(w)[0]?.field !== field);
  if (value) rest.push(`${field}:${/[\s,"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value}`);
  return rest.join(" ");
}
