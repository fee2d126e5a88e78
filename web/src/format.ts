// Numbers, sizes, money and times as the reader's locale writes them.

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });
const tenth = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const shares = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

export const count = (n: number): string => whole.format(n);

/** 12 345 678 as 12.3M. */
export const compact = (n: number): string => (Math.abs(n) < 10_000 ? whole.format(n) : short.format(n));

export const percent = (share: number): string => (Number.isFinite(share) ? shares.format(share) : "–");

/** How many digits after the point money needs so that it is not shown as nothing. */
export function moneyDigits(usd: number): number {
  const size = Math.abs(usd);
  if (size === 0 || size >= 1) return 2;
  return Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(size))));
}

export function money(usd: number): string {
  const digits = moneyDigits(usd);
  return new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(usd === 0 ? 0 : usd);
}

/** A formatter for a column of money, in which every row has the same digits after the point. */
export function moneyLike(values: number[]): (usd: number) => string {
  const most = Math.max(0, ...values.map(Math.abs));
  return moneyWith(most >= 10 ? 2 : most >= 1 ? 3 : Math.min(6, moneyDigits(most) + 1));
}

/** A formatter for the marks of an axis, which lie so far apart. */
export function moneyEvery(step: number): (usd: number) => string {
  return moneyWith(step > 0 ? Math.min(6, Math.max(2, -Math.floor(Math.log10(step)))) : 2);
}

function moneyWith(digits: number): (usd: number) => string {
  const format = new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return (usd) => format.format(usd === 0 ? 0 : usd);
}

/** Money with its sign, for differences. */
export const signedMoney = (usd: number): string => (usd > 0 ? "+" : "") + money(usd);

export function millis(ms: number): string {
  if (ms > 0 && ms < 0.1) return "< " + tenth.format(0.1) + " ms";
  if (ms < 10) return tenth.format(ms) + " ms";
  if (ms < 1000) return whole.format(ms) + " ms";
  if (ms < 60_000) return tenth.format(ms / 1000) + " s";
  return duration(ms / 1000);
}

export function bytes(n: number): string {
  if (n < 1000) return whole.format(n) + " B";
  for (const unit of ["kB", "MB", "GB"]) {
    n /= 1000;
    if (n < 999.5 || unit === "GB") return (n < 10 ? tenth : whole).format(n) + " " + unit;
  }
  return "";
}

const units: [string, number][] = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]];

/** 93 784 s as 1 d 2 h: the two largest units. */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const words: string[] = [];
  for (const [unit, size] of units) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) words.push(`${whole.format(n)} ${unit}`);
    if (words.length === 2 || (words.length === 1 && n === 0)) break;
  }
  return words.length ? words.join(" ") : "0 s";
}

/** How long ago something was, in its largest unit. */
export function ago(at: string | Date, now: number = Date.now()): string {
  const seconds = (now - new Date(at).getTime()) / 1000;
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 1) return "just now";
  for (const [unit, size] of units) if (seconds >= size) return `${whole.format(Math.floor(seconds / size))} ${unit} ago`;
  return "";
}

const clocks = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

export const clock = (at: string | number): string => formatted(clocks, at);
export const moment = (at: string | number): string => formatted(moments, at);
export const day = (at: string | number): string => formatted(days, at);

function formatted(format: Intl.DateTimeFormat, at: string | number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : format.format(date);
}

/** "1 cut", "2 cuts". */
export const plural = (n: number, one: string, many: string = one + "s"): string => `${count(n)} ${n === 1 ? one : many}`;
