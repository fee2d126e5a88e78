// Colours for code, logs and JSON, a line at a time. A line that it reads wrongly is coloured wrongly, and never shown otherwise than it is.

export type Kind = "json" | "log" | "code" | "text";

export interface Token {
  text: string;
  kind: "" | "string" | "number" | "comment" | "word" | "key" | "bad" | "warn";
}

const keywords = new Set(
  (
    "abstract as async await break case catch chan class const continue def default defer del do elif else enum except export extends false final finally fn for from func function go goto if impl implements import in " +
    "interface is lambda let loop match mod mut namespace new nil none not null or package pass private protected pub public raise range return select self static struct super switch this throw trait true try type " +
    "typeof undefined union unsafe use var void where while with yield"
  ).split(" "),
);

/** What a text seems to be. */
export function kindOf(text: string): Kind {
  const head = text.slice(0, 4000);
  const trimmed = head.trimStart();
  if (/^[[{]/.test(trimmed) && /"\s*:|^\[\s*[[{"\d]/.test(trimmed)) return "json";
  const lines = head.split("\n").slice(0, 40).filter(Boolean);
  if (lines.length === 0) return "text";
  const share = (pattern: RegExp): number => lines.filter((l) => pattern.test(l)).length / lines.length;
  if (share(/^\W{0,2}\d{2,4}[-/:]\d\d|\b(TRACE|DEBUG|INFO|WARN(ING)?|ERROR|FATAL)\b/) > 0.4) return "log";
  if (share(/[;{}]\s*$|^\s*(\/\/|#|def |func |class |import |return |if |for )|=>|:=|\)\s*:\s*$/) > 0.25) return "code";
  return "text";
}

const patterns: Record<Exclude<Kind, "text">, RegExp> = {
  json: /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)|\b(true|false|null)\b/g,
  log: /(\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[-+]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)|("(?:[^"\\]|\\.)*")|\b(ERROR|FATAL|PANIC|CRITICAL|FAIL(?:ED|URE)?|error|panic|failed)\b|\b(WARN(?:ING)?)\b|\b(TRACE|DEBUG|INFO|NOTICE)\b|(\b\d+(?:\.\d+)?(?:ms|s|kB|MB|GB|%)?\b)/g,
  code: /(\/\/.*|#(?![\w{(!]).*|#\s.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\\n]|\\.){0,200}'|`[^`]*`?)|(\b(?:0x[\da-fA-F]+|\d[\d_]*(?:\.\d+)?)\b)|([A-Za-z_]\w*)/g,
};

/** The parts of a line; together they are the line. */
export function tokenize(line: string, kind: Kind): Token[] {
  if (kind === "text" || line.length > 4000) return line ? [{ text: line, kind: "" }] : [];
  const tokens: Token[] = [];
  let at = 0;
  const push = (text: string, k: Token["kind"]): void => {
    if (!text) return;
    const last = tokens[tokens.length - 1];
    if (last && last.kind === k) last.text += text;
    else tokens.push({ text, kind: k });
  };
  for (const m of line.matchAll(patterns[kind])) {
    push(line.slice(at, m.index), "");
    at = m.index + m[0].length;
    if (kind === "json" && m[1] !== undefined) {
      push(m[1], m[2] !== undefined ? "key" : "string");
      push(m[2] ?? "", "");
    } else push(m[0], kindOfMatch(m, kind));
  }
  push(line.slice(at), "");
  return tokens;
}

function kindOfMatch(m: RegExpExecArray, kind: Kind): Token["kind"] {
  if (kind === "json") return m[3] !== undefined ? "number" : "word";
  if (kind === "log") return m[1] !== undefined ? "comment" : m[2] !== undefined ? "string" : m[3] !== undefined ? "bad" : m[4] !== undefined ? "warn" : m[5] !== undefined ? "key" : "number";
  if (m[1] !== undefined) return "comment";
  if (m[2] !== undefined) return "string";
  if (m[3] !== undefined) return "number";
  return keywords.has(m[0]) ? "word" : "";
}

export interface Marked extends Token {
  mark: boolean;
}

/** The tokens, split where a searched word begins and ends. */
export function marked(tokens: Token[], word: string): Marked[] {
  if (!word) return tokens.map((t) => ({ ...t, mark: false }));
  const line = tokens.map((t) => t.text).join("").toLowerCase();
  const needle = word.toLowerCase();
  const edges: [number, number][] = [];
  for (let i = line.indexOf(needle); i >= 0; i = line.indexOf(needle, i + needle.length)) edges.push([i, i + needle.length]);
  const found: Marked[] = [];
  let at = 0;
  for (const t of tokens) {
    let from = at;
    const end = at + t.text.length;
    for (const [a, b] of edges) {
      if (b <= from || a >= end) continue;
      if (a > from) found.push({ text: t.text.slice(from - at, a - at), kind: t.kind, mark: false });
      const start = Math.max(a, from);
      const stop = Math.min(b, end);
      found.push({ text: t.text.slice(start - at, stop - at), kind: t.kind, mark: true });
      from = stop;
    }
    if (from < end) found.push({ text: t.text.slice(from - at), kind: t.kind, mark: false });
    at = end;
  }
  return found;
}
