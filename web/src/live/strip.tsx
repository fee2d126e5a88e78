// The last five minutes at a glance.
import { useEffect, useState } from "preact/hooks";
import { outcomeTone } from "../parts/badge.tsx";
import { Figure } from "../parts/figure.tsx";
import { compact, count, millis, percent } from "../format.ts";
import { pulseOf } from "./pulse.ts";
import { savedOf } from "./row.tsx";
import { changes, rows } from "./store.ts";

const span = 5 * 60_000;
const bars = 75;

const kindOf = (outcome: string): "ok" | "refused" | "failed" => {
  const tone = outcomeTone(outcome);
  return tone === "bad" ? "failed" : tone === "warn" ? "refused" : "ok";
};

export function PulseStrip() {
  const now = useClock(1000);
  const pulse = pulseOf(rows, (r) => ({ time: r.time, outcome: r.outcome, ms: r.ms, saved: savedOf(r) }), kindOf, now, span, bars);
  if (pulse.requests === 0) void changes.value; // the first ones are not kept waiting for the clock
  const top = Math.max(4, ...pulse.bars.map((b) => b.ok + b.refused + b.failed));
  const height = (n: number): number => (n / top) * 44;
  return (
    <div class="strip">
      <div class="pulse">
        <svg viewBox={`0 0 ${bars * 4} 44`} preserveAspectRatio="none" role="img" aria-label={`${count(pulse.requests)} requests in the last five minutes, ${count(pulse.failed)} failed`}>
          {pulse.bars.map((b, i) => {
            const ok = height(b.ok);
            const refused = height(b.refused);
            const failed = height(b.failed);
            return (
              <g key={i}>
                <rect class="bar ok" x={i * 4} width={3} y={44 - ok} height={ok} />
                <rect class="bar refused" x={i * 4} width={3} y={44 - ok - refused} height={refused} />
                <rect class="bar failed" x={i * 4} width={3} y={44 - ok - refused - failed} height={failed} />
              </g>
            );
          })}
        </svg>
        <div class="pulse-axis" aria-hidden="true">
          <span>5 min ago</span>
          <span class="keys">
            <i class="swatch ok" /> ok <i class="swatch refused" /> refused <i class="swatch failed" /> failed
          </span>
          <span>now</span>
        </div>
      </div>
      <Figure label="Requests" value={compact(pulse.requests)} />
      <Figure label="Failed" value={pulse.requests ? percent(pulse.failed / pulse.requests) : "–"} tone={pulse.failed ? "bad" : undefined} />
      <Figure label="Median" value={pulse.requests ? millis(pulse.p50) : "–"} note={pulse.requests ? `p95 ${millis(pulse.p95)}` : undefined} />
      <Figure label="Tokens cut" value={pulse.saved ? `−${compact(pulse.saved)}` : "0"} tone={pulse.saved ? "cut" : undefined} />
    </div>
  );
}

/** The time, again and again while the page can be seen. */
export function useClock(every: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
