// What the pruner made of a text: every line with its score and its fate, or what goes out.
import { useMemo, useState } from "preact/hooks";
import type { Pruned } from "../api/types.ts";
import { kindOf, type Kind } from "../cuts/syntax.ts";
import { compact, count, millis, percent } from "../format.ts";
import { Code } from "../parts/code.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Figure } from "../parts/figure.tsx";
import { Lines } from "../parts/lines.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { linesOf, rowsOf } from "./rows.ts";

export function Outcome({ text, pruned }: { text: string; pruned: Pruned }) {
  const [view, setView] = useState<"all" | "out">("all");
  const { warnings, pruned_text } = pruned.result;
  return (
    <>
      <Sums pruned={pruned} />
      {warnings?.map((w) => (
        <div class="note-box" key={w}>
          {w}
        </div>
      ))}
      <div class="card bench-text">
        <header>
          <Tabs label="Show" tabs={[{ id: "all", name: "All lines" }, { id: "out", name: "What goes out" }]} chosen={view} choose={setView} />
          {view === "all" && (
            <span class="legend">
              <i class="swatch score" /> score of a line
            </span>
          )}
          <span class="grow" />
          <CopyButton text={pruned_text} label="Copy what goes out" />
        </header>
        {view === "all" ? (
          <AllLines text={text} pruned={pruned} />
        ) : (
          <pre class="lines whole" data-testid="play-result" tabIndex={0} aria-label="The text that goes out">
            {pruned_text}
          </pre>
        )}
      </div>
    </>
  );
}

function Sums({ pruned }: { pruned: Pruned }) {
  const { stats, annotations } = pruned.result;
  const less = 1 - stats.tokens_est_after / Math.max(1, stats.tokens_est_before);
  const tokens = (show: (n: number) => string): string => `${show(stats.tokens_est_after)} of ${show(stats.tokens_est_before)}`;
  return (
    <div class="figures">
      <Figure label="Lines kept" value={`${count(stats.kept_lines)} of ${count(stats.original_lines)}`} note={`${percent(stats.pruned_ratio)} removed`} />
      <Figure
        label="Tokens, estimated"
        value={
          <span data-testid="play-tokens" title={tokens(count)}>
            {tokens(compact)}
          </span>
        }
        note={`${percent(less)} less`}
        tone="cut"
      />
      <Figure label="Ranges removed" value={count(annotations.length)} note={`read as ${pruned.type}${pruned.form && pruned.form !== pruned.type ? `, ${pruned.form}` : ""}`} />
      <Figure label="Took" value={millis(stats.elapsed_ms)} note={stats.backend + (stats.used_fallback ? ", fallback" : "")} />
    </div>
  );
}

function AllLines({ text, pruned }: { text: string; pruned: Pruned }) {
  const { annotations } = pruned.result;
  const lines = useMemo(() => linesOf(text), [text]);
  const kind = useMemo(() => kindOf(text), [text]);
  const rows = useMemo(() => rowsOf(lines.length, annotations), [lines, annotations]);
  const longest = useMemo(() => [...lines, ...annotations.map((a) => a.marker)].reduce((n, l) => Math.max(n, l.length), 0), [lines, annotations]);
  const scores = pruned.scores ?? [];
  const best = useMemo(() => scores.reduce((n: number, s) => Math.max(n, s ?? 0), 0) || 1, [scores]);
  return (
    <Lines
      label="Every line, with its score"
      rows={rows.length}
      chars={longest}
      map={(i) => {
        const row = rows[i];
        return row?.kind === "line" ? { kept: row.kept, score: (scores[row.line - 1] ?? 0) / best } : { kept: false, score: 0 };
      }}
      row={(i) => {
        const row = rows[i];
        if (!row) return null;
        if (row.kind === "line") return <Line n={row.line} text={lines[row.line - 1] ?? ""} kind={kind} kept={row.kept} score={scores[row.line - 1] ?? null} best={best} />;
        return (
          <span class="marker" title={row.reason}>
            {row.text || `… ${count(row.lines)} lines`}
          </span>
        );
      }}
    />
  );
}

interface LineProps {
  n: number;
  text: string;
  kind: Kind;
  kept: boolean;
  score: number | null; // null: it was not scored
  best: number;
}

function Line({ n, text, kind, kept, score, best }: LineProps) {
  return (
    <span class={kept ? "try kept" : "try gone"}>
      <span class="n">{n}</span>
      <span class="score" title={score === null ? "not scored" : `score ${score.toFixed(3)}`}>
        {score !== null && <span style={{ width: `${(Math.max(0, score) / best) * 100}%` }} />}
      </span>
      <span>{!kept && <span class="hidden">removed: </span>}</span>
      <Code text={text} kind={kind} />
    </span>
  );
}
