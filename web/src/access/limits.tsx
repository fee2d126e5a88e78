import type { LimitRule, LimitUsage } from "../api/types.ts";
import { compact, count, duration, money } from "../format.ts";
import { Paste } from "../parts/copy.tsx";
import { fills, tone, type Fill } from "./words.ts";

/** The limits, and how full their buckets are. */
export function Limits({ usage, rules }: { usage: LimitUsage[]; rules: LimitRule[] }) {
  const idle = rules.filter((r) => !usage.some((u) => u.limit === r.name));
  return (
    <section class="card" aria-labelledby="limits">
      <header>
        <h2 id="limits">Limits</h2>
      </header>
      {usage.length === 0 && rules.length === 0 && (
        <>
          <p class="muted">There is none. One for the configuration file:</p>
          <Paste line={'[[limits]]\nname = "budget"\nmodel = "*"\nby = ["principal"]\nusd_per_day = 5.0'} />
        </>
      )}
      {usage.map((u) => (
        <div class="limit" key={u.limit + " " + u.key}>
          <div class="limit-head">
            <b>{u.limit}</b> <span>{u.key.replace(/(^| )::$/, "$1no tool") || "everyone"}</span>
            <span class="grow" />
            {u.remaining === 0 && u.reset_s > 0 && <span class="bad">again in {duration(Math.ceil(u.reset_s))}</span>}
          </div>
          {fills(u).map((f) => (
            <div class="fill" key={f.what}>
              <span class="muted">{f.what}</span>
              <span class={`track ${tone(f)}`} role="meter" aria-label={`${u.limit} ${u.key} ${f.what}`} aria-valuemin={0} aria-valuemax={f.of} aria-valuenow={Math.min(f.used, f.of)}>
                <span style={{ width: `${Math.min(100, (f.used / f.of) * 100)}%` }} />
              </span>
              <span class="num">
                {shown(f, f.used)} of {shown(f, f.of)}
              </span>
            </div>
          ))}
          {fills(u).length === 0 && (
            <p class="muted">
              {count(u.remaining)} left, {count(u.in_flight)} in flight, {count(u.queued)} waiting
            </p>
          )}
        </div>
      ))}
      {idle.map((r) => (
        <div class="limit" key={r.name}>
          <div class="limit-head">
            <b>{r.name}</b> <span class="muted">{r.by?.length ? `by ${r.by.join(", ")}` : "for everyone"}, not in use</span>
          </div>
        </div>
      ))}
    </section>
  );
}

const shown = (f: Fill, n: number): string => (f.unit === "money" ? money(n) : compact(n));
