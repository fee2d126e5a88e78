// Words for rules, refusals and limits.
import type { LimitUsage, Rule } from "../api/types.ts";

const reasons: Record<string, string> = {
  unauthorized: "the credential is missing or not valid",
  forbidden: "not allowed here",
  acl: "denied by the rule",
  rate: "too many requests, limit",
  concurrency: "too many at once, limit",
  budget: "the day’s budget is used up, limit",
  memory: "too much in memory at once",
};

export const reasonInWords = (reason: string): string => reasons[reason] ?? reason;

/** What a rule is about: "subject ci-*", "tool read_* or write_*". What it leaves out matches anything. */
export function conditions(rule: Rule): { key: string; values: string }[] {
  const found: { key: string; values: string }[] = [];
  for (const [key, value] of Object.entries(rule)) {
    if (key === "name" || key === "action" || !Array.isArray(value) || value.length === 0) continue;
    found.push({ key, values: value.join(" or ") });
  }
  return found;
}

export interface Fill {
  what: string;
  used: number;
  of: number;
  unit: "count" | "money";
}

/** How full a bucket is, in each way that it is bounded. */
export function fills(u: LimitUsage): Fill[] {
  const found: Fill[] = [];
  const add = (what: string, used: number, of: number | undefined, unit: Fill["unit"] = "count"): void => {
    if (of) found.push({ what, used: Math.max(0, used), of, unit });
  };
  add("requests", (u.burst ?? 0) - u.remaining, u.burst);
  add("at once", u.in_flight, u.concurrent);
  add("waiting", u.queued, u.queue);
  add("tokens today", u.tokens_today ?? 0, u.tokens_per_day);
  add("today", u.usd_today ?? 0, u.usd_per_day, "money");
  return found;
}

/** How far it is to a bound: a tone for the bar. */
export function tone(f: Fill): "" | "warn" | "bad" {
  const share = f.used / f.of;
  return share >= 1 ? "bad" : share >= 0.8 ? "warn" : "";
}
