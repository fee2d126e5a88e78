// The last minutes in numbers: requests by time and outcome, and how long they took.
import type { Ring } from "./ring.ts";

export interface Timed {
  time: number;
  outcome: string;
  ms: number;
  saved: number; // tokens
}

export interface Pulse {
  bars: { ok: number; refused: number; failed: number }[]; // the oldest first
  requests: number;
  failed: number;
  refused: number;
  saved: number;
  p50: number;
  p95: number;
}

export function pulseOf<T>(rows: Ring<T>, timed: (row: T) => Timed, kindOf: (outcome: string) => "ok" | "refused" | "failed", now: number, span: number, count: number): Pulse {
  const pulse: Pulse = { bars: Array.from({ length: count }, () => ({ ok: 0, refused: 0, failed: 0 })), requests: 0, failed: 0, refused: 0, saved: 0, p50: 0, p95: 0 };
  const times: number[] = [];
  for (let i = 0; i < rows.length; i++) {
    const row = rows.newest(i);
    if (row === undefined) break;
    const t = timed(row);
    const age = now - t.time;
    if (age >= span) break;
    const bar = pulse.bars[count - 1 - Math.min(count - 1, Math.max(0, Math.floor((age / span) * count)))];
    const kind = kindOf(t.outcome);
    if (bar) bar[kind]++;
    if (kind === "failed") pulse.failed++;
    if (kind === "refused") pulse.refused++;
    pulse.requests++;
    pulse.saved += t.saved;
    times.push(t.ms);
  }
  times.sort((a, b) => a - b);
  pulse.p50 = quantile(times, 0.5);
  pulse.p95 = quantile(times, 0.95);
  return pulse;
}

/** Of sorted numbers; 0 of none. */
export function quantile(sorted: number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}
