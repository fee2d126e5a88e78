// Traffic of all doors as it happens.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { count, plural } from "../format.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty } from "../parts/empty.tsx";
import { useFirstLine } from "../parts/firstline.ts";
import { VirtualGrid } from "../parts/virtual.tsx";
import { search, setSearch } from "../route.ts";
import { Drawer } from "./drawer.tsx";
import { FilterBar } from "./filterbar.tsx";
import { parse } from "./filter.ts";
import { PulseStrip } from "./strip.tsx";
import { Cells, Heads } from "./row.tsx";
import { Selection } from "./selection.ts";
import { changes, connection, gaps, maxRows, rows, type Row } from "./store.ts";

export function LivePage() {
  const text = search.value.get("q") ?? "";
  const paused = useSignal<Row[] | null>(null);
  const opened = useSignal<Row | null>(null);
  const selection = useMemo(() => new Selection(rows, parse(text)), [text]);
  const narrow = useNarrow();
  if (changes.value >= 0) selection.update();
  const frozen = paused.value;
  const length = frozen ? frozen.length : selection.length;
  const at = (i: number): Row | undefined => (frozen ? frozen[frozen.length - 1 - i] : selection.newest(i));
  const missed = frozen ? selection.length - frozen.length : 0;
  useEffect(() => {
    if (paused.value) paused.value = selection.freeze();
  }, [text]);
  const toggle = (): void => {
    paused.value = paused.value ? null : selection.freeze();
  };
  usePauseKey(toggle);
  return (
    <section class="page live" aria-labelledby="live-title">
      <header class="page-head">
        <h1 id="live-title">Live</h1>
        <ConnectionNote />
        <span class="grow" />
        <button type="button" data-testid="live-pause" onClick={toggle} aria-pressed={frozen !== null}>
          <Icon name={frozen ? "play" : "pause"} />
          {frozen ? (missed > 0 ? `Resume, ${count(missed)} new` : "Resume") : "Pause"}
        </button>
      </header>
      <PulseStrip />
      <FilterBar text={text} set={(t) => setSearch("q", t)} />
      {length === 0 ? (
        <Nothing filtered={text !== "" && rows.length > 0} clear={() => setSearch("q", "")} />
      ) : (
        <VirtualGrid
          key={text}
          testid="live-row"
          label="Requests, the newest first"
          rows={length}
          rowHeight={narrow ? 54 : 32}
          grown={frozen ? 0 : selection.grown}
          header={<Heads />}
          row={(i) => {
            const row = at(i);
            return row && <Cells row={row} />;
          }}
          open={(i) => (opened.value = at(i) ?? null)}
        />
      )}
      <footer class="page-foot" aria-live="off">
        {plural(length, "request")}
        {text !== "" && ` of ${count(rows.length)}`}
        {rows.total > maxRows && `; the newest ${count(maxRows)} are kept here`}
        {gaps.value.times > 0 && `; ${gaps.value.lost > 0 ? plural(gaps.value.lost, "event") : "some events"} missed while disconnected`}
      </footer>
      {opened.value && <Drawer row={opened.value} close={() => (opened.value = null)} narrow={(t) => setSearch("q", t)} text={text} />}
    </section>
  );
}

function ConnectionNote() {
  const words = { connecting: "connecting…", open: "connected", lost: "reconnecting…" }[connection.value];
  return (
    <span data-testid="connection" class={`connection ${connection.value}`} role="status">
      <span class="dot" aria-hidden="true" />
      {words}
    </span>
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) {
    return (
      <div class="empty">
        <h2>No request matches</h2>
        <p>Nothing of what is remembered passes the filter.</p>
        <button type="button" onClick={clear}>
          Clear the filter
        </button>
      </div>
    );
  }
  return <First />;
}

function First() {
  const first = useFirstLine();
  if (!first) return null;
  const { line, demo } = first;
  return (
    <Empty title="Nothing has happened yet" line={line}>
      Requests appear here the moment they are answered.{" "}
      {demo ? (
        <>
          Paste this line into a terminal for a first one, or point your agent at {location.origin}/mcp with <code>secateur connect</code>.
        </>
      ) : (
        <>This line points an agent at {location.origin}/mcp; it knows others too.</>
      )}
    </Empty>
  );
}

/** Whether rows need two lines. */
function useNarrow(): boolean {
  const query = "(max-width: 760px)";
  const [narrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = (): void => setNarrow(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, []);
  return narrow;
}

/** The key p pauses, where nobody types. */
function usePauseKey(toggle: () => void): void {
  useEffect(() => {
    const onKey = (e: KeyboardEvent): void => {
      if (e.key === "p" && !e.ctrlKey && !e.metaKey && !e.altKey && !(e.target instanceof HTMLElement && e.target.matches("input,select,textarea")) && !document.querySelector("dialog[open]")) toggle();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}
