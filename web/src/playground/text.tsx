import { useEffect, useMemo, useState } from "preact/hooks";
import { Failure, post } from "../api/client.ts";
import type { Demo, Pruned } from "../api/types.ts";
import { compact, count, millis, percent } from "../format.ts";
import { kindOf } from "../cuts/syntax.ts";
import { Code } from "../parts/code.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Empty, Trouble } from "../parts/empty.tsx";
import { Figure } from "../parts/figure.tsx";
import { Lines } from "../parts/lines.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { linesOf, rowsOf } from "./rows.ts";

const types = [
  { id: "", name: "guess" },
  { id: "code", name: "code" },
  { id: "logs", name: "logs" },
  { id: "docs", name: "docs" },
];

export function TextTry({ demos }: { demos: Demo[] }) {
  const [text, setText] = useState("");
  const [goal, setGoal] = useState("");
  const [type, setType] = useState("");
  const [ratio, setRatio] = useState(0.7);
  const { value, failure } = usePruned(text, goal, type, ratio);
  const choose = (name: string): void => {
    const demo = demos.find((d) => d.name === name);
    if (!demo) return;
    setText(demo.text);
    setGoal(demo.goal);
    setType(demo.type);
  };
  const chosen = demos.find((d) => d.text === text)?.name ?? "";
  return (
    <div class="bench">
      <div class="card bench-in">
        <label class="field">
          Goal: what you are after, in words
          <input data-filter data-testid="play-goal" value={goal} onInput={(e) => setGoal(e.currentTarget.value)} placeholder="why does the build fail" />
        </label>
        <div class="bench-row">
          <label class="field">
            Example
            <select value={chosen} onChange={(e) => choose(e.currentTarget.value)}>
              <option value="">your own text</option>
              {demos.map((d) => (
                <option key={d.name} value={d.name}>
                  {d.title || d.name}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            Kind
            <select value={type} onChange={(e) => setType(e.currentTarget.value)}>
              {types.map((t) => (
                <option key={t.id} value={t.id}>
                  {t.name}
                </option>
              ))}
            </select>
          </label>
        </div>
        <label class="field">
          <span class="ratio-label">
            Remove at most <b>{percent(ratio)}</b> of the lines
          </span>
          <input data-testid="play-ratio" type="range" min={0} max={0.95} step={0.05} value={ratio} onInput={(e) => setRatio(Number(e.currentTarget.value))} aria-valuetext={percent(ratio)} />
        </label>
        <label class="field grow-field">
          Text
          <textarea data-testid="play-text" class="mono" value={text} onInput={(e) => setText(e.currentTarget.value)} placeholder="Paste a log, a source file or a page here" spellcheck={false} />
        </label>
      </div>
      <div class="bench-out" aria-busy={value === undefined && text !== ""}>
        {failure && <Trouble failure={failure} />}
        {text === "" && (
          <Empty title="Paste a text, or choose an example" line='secateur prune --goal "why did the build fail" build.log'>
            What stays is shown at once, with the score of every line. The same on the command line:
          </Empty>
        )}
        {text !== "" && value && <Outcome text={value.text} pruned={value.pruned} />}
      </div>
    </div>
  );
}

/** The answer for the newest input; an older one stays in sight until then. */
function usePruned(text: string, goal: string, type: string, ratio: number): { value: { text: string; pruned: Pruned } | undefined; failure: Failure | undefined } {
  const [state, setState] = useState<{ value?: { text: string; pruned: Pruned }; failure?: Failure }>({});
  useEffect(() => {
    if (text === "") {
      setState({});
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const pruned = await post<Pruned>("/playground/text", { text, goal, type, ratio, min_keep_lines: 0 }, abort.signal);
        setState({ value: { text, pruned } });
      } catch (err) {
        if (!abort.signal.aborted) setState((s) => ({ ...s, failure: err instanceof Failure ? err : new Failure(0, { detail: String(err) }) }));
      }
    }, 120);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, goal, type, ratio]);
  return { value: state.value, failure: state.failure };
}

function Outcome({ text, pruned }: { text: string; pruned: Pruned }) {
  const [view, setView] = useState<"all" | "out">("all");
  const { stats, annotations, warnings, pruned_text } = pruned.result;
  const lines = useMemo(() => linesOf(text), [text]);
  const kind = useMemo(() => kindOf(text), [text]);
  const longest = useMemo(() => Math.max(lines.reduce((n, l) => Math.max(n, l.length), 0), annotations.reduce((n, a) => Math.max(n, a.marker.length), 0)), [lines, annotations]);
  const rows = useMemo(() => rowsOf(lines.length, annotations), [lines, annotations]);
  const scores = pruned.scores ?? [];
  const best = useMemo(() => scores.reduce((n: number, s) => Math.max(n, s ?? 0), 0) || 1, [scores]);
  const saved = 1 - stats.tokens_est_after / Math.max(1, stats.tokens_est_before);
  return (
    <>
      <div class="figures">
        <Figure label="Lines kept" value={`${count(stats.kept_lines)} of ${count(stats.original_lines)}`} note={`${percent(stats.pruned_ratio)} removed`} />
        <Figure label="Tokens, estimated" value={<span data-testid="play-tokens" title={`${count(stats.tokens_est_after)} of ${count(stats.tokens_est_before)}`}>{`${compact(stats.tokens_est_after)} of ${compact(stats.tokens_est_before)}`}</span>} note={`${percent(saved)} less`} tone="cut" />
        <Figure label="Ranges removed" value={count(annotations.length)} note={`read as ${pruned.type}${pruned.form && pruned.form !== pruned.type ? `, ${pruned.form}` : ""}`} />
        <Figure label="Took" value={millis(stats.elapsed_ms)} note={stats.backend + (stats.used_fallback ? ", fallback" : "")} />
      </div>
      {warnings?.map((w) => (
        <div class="note-box" key={w}>
          {w}
        </div>
      ))}
      <div class="card bench-text">
        <header>
          <Tabs label="Show" tabs={[{ id: "all", name: "All lines" }, { id: "out", name: "What goes out" }]} chosen={view} choose={setView} />
          <span class="legend">
            <span>
              <i class="swatch score" /> score of a line
            </span>
          </span>
          <span class="grow" />
          <CopyButton text={pruned_text} label="Copy what goes out" />
        </header>
        {view === "out" && (
          <pre class="lines whole" data-testid="play-result" tabIndex={0} aria-label="The text that goes out">
            {pruned_text}
          </pre>
        )}
        {view === "all" && (<Lines
          map={(i) => {
            const row = rows[i];
            return row?.kind === "line" ? { kept: row.kept, score: (scores[row.line - 1] ?? 0) / best } : { kept: false, score: 0 };
          }}
          label="Every line, with its score"
          rows={rows.length}
          chars={longest}
          row={(i) => {
            const row = rows[i];
            if (!row) return null;
            if (row.kind === "marker") return <span class="marker" title={row.reason}>{row.text || `… ${count(row.lines)} lines`}</span>;
            const score = scores[row.line - 1];
            return (
              <span class={row.kept ? "try kept" : "try gone"}>
                <span class="n">{row.line}</span>
                <span class="score" title={typeof score === "number" ? `score ${score.toFixed(3)}` : "not scored"}>
                  {typeof score === "number" && <span style={{ width: `${(Math.max(0, score) / best) * 100}%` }} />}
                </span>
                <span class="fate">{row.kept ? "" : <span class="hidden">removed: </span>}</span>
                <Code text={lines[row.line - 1] ?? ""} kind={kind} />
              </span>
            );
          }}
        />)}
      </div>
    </>
  );
}
