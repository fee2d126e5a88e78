import type { ComponentChildren } from "preact";

/** good: as it should be; bad: failed; warn: to look at; calm: neither. */
export type Tone = "good" | "bad" | "warn" | "calm" | "cut";

/** A word with a sign before it, so that colour is never all that tells. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <span class="sign" aria-hidden="true" />
      {children}
    </span>
  );
}

const stateTones: Record<string, Tone> = {
  ready: "good", starting: "warn", restarting: "warn", degraded: "warn", down: "bad", disabled: "calm", stopped: "calm",
};

export const stateTone = (state: string): Tone => stateTones[state] ?? "calm";

const refusing = new Set(["refused", "rate_limited", "forbidden", "unauthorized", "acl", "denied", "overloaded"]);
const calmOutcomes = new Set(["notification", "client_gone", "cancelled", "canceled", "input_required"]);

export function outcomeTone(outcome: string): Tone {
  if (outcome === "ok") return "good";
  if (refusing.has(outcome)) return "warn";
  return calmOutcomes.has(outcome) ? "calm" : "bad";
}
