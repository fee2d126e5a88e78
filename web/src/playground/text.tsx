import { useEffect, useState } from "preact/hooks";
import { Failure, post } from "../api/client.ts";
import type { Demo, Pruned } from "../api/types.ts";
import { percent } from "../format.ts";
import { Empty, Trouble } from "../parts/empty.tsx";
import { Outcome } from "./outcome.tsx";

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
