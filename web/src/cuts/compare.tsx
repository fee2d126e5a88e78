// Before and after, side by side: what was removed is folded on the left, and its marker stands on the right.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, plural } from "../format.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { folds, search, type Segment, type Window } from "./segments.ts";
import { marked, tokenize, type Kind } from "./syntax.ts";

interface Props {
  segments: Segment[];
  kind: Kind;
  before: string;
  after: string;
  unknown: boolean; // what was removed is not known any more
}

const step = 400; // lines that a click unfolds
const around = 8; // lines shown around one that was found

export function Compare({ segments, kind, before, after, unknown }: Props) {
  const [open, setOpen] = useState<Window[][]>([]);
  const [word, setWord] = useState("");
  const [chosen, setChosen] = useState(0);
  const body = useRef<HTMLDivElement>(null);
  const found = useMemo(() => search(segments, word), [segments, word]);
  const at = found[Math.min(chosen, found.length - 1)];
  const unfold = (segment: number, window: Window): void => {
    setOpen((all) => {
      const next = all.slice();
      next[segment] = [...(next[segment] ?? []), window];
      return next;
    });
  };
  useEffect(() => {
    if (!at) return;
    if (segments[at.segment]?.kind === "removed") unfold(at.segment, [at.line - around, at.line + around + 1]);
    // After the lines are there.
    requestAnimationFrame(() => body.current?.querySelector("[data-found]")?.scrollIntoView({ block: "center" }));
  }, [at?.segment, at?.line, word]);
  const move = (by: number): void => setChosen((n) => (found.length ? (n + by + found.length) % found.length : 0));
  const removed = segments.filter((s) => s.kind === "removed");
  const hidden = removed.reduce((sum, s) => sum + s.lines.length, 0);
  return (
    <section class="compare" aria-label="Before and after">
      <div class="compare-bar">
        <span class="muted">{unknown ? "which lines were removed is not known" : `${plural(removed.length, "range")} removed, ${plural(hidden, "line")}`}</span>
        <span class="grow" />
        <label class="filter small">
          <Icon name="search" />
          <span class="hidden">Search inside</span>
          <input
            type="search"
            value={word}
            placeholder="Search inside"
            spellcheck={false}
            onInput={(e) => {
              setWord(e.currentTarget.value);
              setChosen(0);
            }}
            onKeyDown={(e) => {
              if (e.key === "Enter") move(e.shiftKey ? -1 : 1);
            }}
          />
        </label>
        {word && (
          <span class="found" role="status">
            {found.length ? `${count(chosen + 1)} of ${count(found.length)}` : "not found"}
          </span>
        )}
        {removed.length > 0 && (
          <button type="button" onClick={() => setOpen(open.length ? [] : segments.map((s): Window[] => [[0, Math.min(s.lines.length, 5000)]]))}>
            <Icon name="fold" /> {open.length ? "Fold" : "Unfold"}
          </button>
        )}
      </div>
      <div class="compare-head">
        <span>
          Before <CopyButton text={before} label="Copy the text before" />
        </span>
        <span>
          After {unknown && !after && <span class="muted">is not kept</span>}
          {after && <CopyButton text={after} label="Copy the text after" />}
        </span>
      </div>
      <div class="compare-body" ref={body} tabIndex={0} role="region" aria-label="Texts">
        {segments.map((s, i) => (
          <Part key={i} segment={s} kind={kind} known={!unknown} windows={open[i] ?? []} unfold={(w) => unfold(i, w)} word={word} found={at?.segment === i ? at.line : -1} />
        ))}
      </div>
    </section>
  );
}

interface PartProps {
  segment: Segment;
  kind: Kind;
  known: boolean; // that what is kept went out
  windows: Window[];
  unfold: (w: Window) => void;
  word: string;
  found: number; // line to bring into view; -1: none
}

const block = 50; // lines that the browser lays out together, or not at all

function Part({ segment: s, kind, known, windows, unfold, word, found }: PartProps) {
  const rows: ComponentChildren[] = [];
  const show = (from: number, to: number): void => {
    for (let start = from; start < to; start += block) {
      const lines = [];
      for (let i = start; i < Math.min(to, start + block); i++) {
        const number = i > 0 || s.starts ? s.line + i : null;
        lines.push(<Line key={i} number={number} text={s.lines[i] ?? ""} kind={kind} kept={s.kind === "kept"} after={known && s.kind === "kept"} word={word} found={i === found} />);
      }
      rows.push(
        <div key={`lines ${start}`} class="compare-block" style={{ containIntrinsicSize: `auto ${lines.length * 19}px` }}>
          {lines}
        </div>,
      );
    }
  };
  if (s.kind === "kept") {
    show(0, s.lines.length);
    return <>{rows}</>;
  }
  for (const fold of folds(s.lines.length, windows)) {
    if (!fold.hidden) {
      show(fold.from, fold.to);
      continue;
    }
    const lines = fold.to - fold.from;
    rows.push(
      <button key={`fold ${fold.from}`} type="button" class="fold" onClick={() => unfold([fold.from, Math.min(fold.to, fold.from + step)])}>
        <Icon name="right" />
        {plural(lines, "line")} removed{s.reason && ` · ${s.reason}`}
        {lines > step && <span class="muted"> · shows {count(step)}</span>}
      </button>,
    );
  }
  return (
    <div class="removed">
      <div class="removed-before">{rows}</div>
      <div class="removed-after">
        <pre>{s.marker || "a marker stood here"}</pre>
      </div>
    </div>
  );
}

interface LineProps {
  number: number | null;
  text: string;
  kind: Kind;
  kept: boolean;
  after: boolean; // it stands on the right too
  word: string;
  found: boolean;
}

function Line({ number, text, kind, kept, after, word, found }: LineProps) {
  const code = marked(tokenize(text, kind), word).map((t, i) =>
    t.mark ? (
      <mark key={i} class={t.kind && `s-${t.kind}`}>
        {t.text}
      </mark>
    ) : t.kind ? (
      <span key={i} class={`s-${t.kind}`}>
        {t.text}
      </span>
    ) : (
      t.text
    ),
  );
  return (
    <div class={kept ? "line" : "line gone"} {...(found ? { "data-found": "" } : {})}>
      <span class="n">{number ?? ""}</span>
      <code>{code}</code>
      {after && (
        <>
          <span class="n" aria-hidden="true" />
          <code aria-hidden="true">{code}</code>
        </>
      )}
    </div>
  );
}
