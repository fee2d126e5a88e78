// Savings as they are drawn: by time without holes, and as steps of a waterfall.
import type { ConversationRequest, SavingsItem, Totals } from "../api/types.ts";

export type Unit = "money" | "tokens";

export interface Point {
  at: number; // seconds since 1970, the start of the day or hour in UTC
  gain: number;
  loss: number; // not negative
}

const day = 86_400;

/** What a period saved and lost, in a unit. */
export function gainAndLoss(t: Totals, unit: Unit): { gain: number; loss: number } {
  return unit === "money" ? { gain: t.saved_usd, loss: t.lost_usd } : { gain: t.cut_tokens, loss: t.recovered_tokens };
}

/** Saved less lost. */
export const net = (t: Totals): number => t.passthrough_usd - t.spent_usd;

/** One point for every step of the period, also where nothing happened. Keys are days (2026-11-15) or hours (2026-11-15T17:00:00Z). */
export function points(items: SavingsItem[], unit: Unit, now: number, span: number, step: number = day): Point[] {
  const known = new Map<number, Point>();
  for (const item of items) {
    const at = Date.parse(item.key.length === 10 ? item.key + "T00:00:00Z" : item.key) / 1000;
    if (Number.isFinite(at)) known.set(at, { at, ...gainAndLoss(item, unit) });
  }
  const last = Math.floor(now / step) * step;
  const first = Math.min(last - Math.max(0, Math.ceil(span / step) - 1) * step, ...known.keys());
  const all: Point[] = [];
  for (let at = first; at <= last && all.length < 4000; at += step) all.push(known.get(at) ?? { at, gain: 0, loss: 0 });
  return all;
}

export interface Step {
  request: ConversationRequest;
  difference: number; // saved by this request; negative: lost
  from: number; // sum before
  to: number; // sum after
}

/** A conversation's requests with the running sum of what they saved. */
export function waterfall(requests: ConversationRequest[]): Step[] {
  let sum = 0;
  return requests.map((request) => {
    const from = sum;
    const difference = request.passthrough_usd - request.spent_usd;
    sum += difference;
    return { request, difference, from, to: sum };
  });
}

/** Round values between two that an axis can show, about so many. */
export function ticks(low: number, high: number, about: number): number[] {
  const range = high - low;
  if (!(range > 0)) return [low];
  const rough = range / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? rough;
  const found: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step + 0);
  return found;
}

/** The rows of a CSV file, as RFC 4180 wants them; a cell that a spreadsheet would run is made a text. */
export function csv(rows: (string | number)[][]): string {
  const cell = (value: string | number): string => {
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((r) => r.map(cell).join(",")).join("\r\n") + "\r\n";
}
