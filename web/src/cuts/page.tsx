// What was cut lately; one of them before and after.
import { useRef, useState } from "preact/hooks";
import { all } from "../api/client.ts";
import type { Cut } from "../api/types.ts";
import { ago, compact, percent, plural } from "../format.ts";
import { cutChanges } from "../live/store.ts";
import { useClock } from "../live/strip.tsx";
import { useLoad } from "../load.ts";
import { Badge } from "../parts/badge.tsx";
import { Empty, Trouble, Waiting } from "../parts/empty.tsx";
import { useFirstLine } from "../parts/firstline.ts";
import { Icon } from "../parts/icon.tsx";
import { link, parts } from "../route.ts";
import { CutDetail } from "./detail.tsx";

export function CutsPage() {
  const id = parts.value[1];
  const now = useClock(5000);
  const cuts = useLoad("cuts", () => all<Cut>("/cuts", {}, 1000), cutChanges.value < 0 ? 0 : 3000);
  const [text, setText] = useState("");
  const [feature, setFeature] = useState("");
  const kept = useRef<Cut[] | undefined>(undefined);
  if (cuts.value) kept.current = newestOfEach(cuts.value);
  const known = kept.current;
  const word = text.toLowerCase();
  const shown = known?.filter((c) => (!feature || c.feature === feature) && [c.id, c.server, c.tool, c.model].some((v) => v.toLowerCase().includes(word)));
  const features = [...new Set(known?.map((c) => c.feature))].sort();
  return (
    <section class={id ? "page cuts open" : "page cuts"} aria-labelledby="cuts-title">
      <div class="cut-list">
        <header class="page-head">
          <h1 id="cuts-title">Cuts</h1>
          {known && <span class="muted">{plural(known.length, "text")}, the newest first</span>}
        </header>
        <div class="filterbar slim" role="search" aria-label="Filter cuts">
          <label class="filter">
            <Icon name="search" />
            <span class="hidden">Filter</span>
            <input data-filter data-testid="filter" type="search" value={text} placeholder="tool, server, model or id" spellcheck={false} onInput={(e) => setText(e.currentTarget.value)} />
            <kbd aria-hidden="true">/</kbd>
          </label>
          <label class="facet">
            <span class="hidden">Feature</span>
            <select value={feature} class={feature ? "set" : ""} onChange={(e) => setFeature(e.currentTarget.value)}>
              <option value="">Feature</option>
              {features.map((f) => (
                <option key={f} value={f}>
                  {f}
                </option>
              ))}
            </select>
          </label>
        </div>
        {cuts.failure && <Trouble failure={cuts.failure} again={cuts.again} />}
        {!known && !cuts.failure && <Waiting />}
        {known && known.length === 0 && <Nothing />}
        {shown && shown.length > 0 && (
          <ul class="cut-rows">
            {shown.slice(0, 300).map((c) => (
              <li key={keyOf(c)}>
                <Row cut={c} chosen={c.id === id} now={now} />
              </li>
            ))}
          </ul>
        )}
        {shown && known && known.length > 0 && shown.length === 0 && <p class="muted">None matches.</p>}
        {shown && shown.length > 300 && <p class="muted">{plural(shown.length - 300, "older one")} not shown; the filter finds them.</p>}
      </div>
      {id ? <CutDetail key={id} id={id} /> : known && known.length > 0 && <Empty title="Choose a cut">Before and after stand here side by side, with the reason.</Empty>}
    </section>
  );
}

/** One row for each text and where it came from: the same text cut again has the same id. */
function newestOfEach(cuts: Cut[]): Cut[] {
  const seen = new Set<string>();
  return cuts.filter((c) => !seen.has(keyOf(c)) && seen.add(keyOf(c)));
}

const keyOf = (c: Cut): string => [c.id, c.feature, c.server, c.tool, c.model].join(" ");

function Row({ cut, chosen, now }: { cut: Cut; chosen: boolean; now: number }) {
  const share = cut.kept_chars / Math.max(1, cut.original_chars);
  return (
    <a class="cut-row" data-testid="cut-row" href={link(["cuts", cut.id])} {...(chosen ? { "aria-current": "true" as const } : {})}>
      <span class="cut-name">{[cut.server, cut.tool].filter(Boolean).join("::") || cut.model || cut.id}</span>
      <span class="cut-saved">−{compact(cut.tokens_saved)}</span>
      <span class="cut-note">
        {cut.feature}
        {cut.model && cut.tool && ` · ${cut.model}`} · {percent(share)} kept · {ago(cut.at, now)}
      </span>
      {cut.recovered && <Badge tone="warn">recovered</Badge>}
      <span class="track" aria-hidden="true">
        <span style={{ width: `${Math.max(1, share * 100)}%` }} />
      </span>
    </a>
  );
}

function Nothing() {
  const first = useFirstLine();
  if (!first) return null;
  const { line, demo } = first;
  return (
    <Empty title="Nothing has been cut yet" line={line}>
      Long results of tools are cut on their way, and each cut can be looked at here and recovered. {demo ? "This line asks the demo server for a build log of 2 500 lines." : "This line has an agent call its tools through secateur."}
    </Empty>
  );
}
