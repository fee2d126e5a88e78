import { useMemo, useState } from "preact/hooks";
import { Failure, post } from "../api/client.ts";
import type { Demo, Replayed } from "../api/types.ts";
import { compact, count, money, moneyLike, percent, plural } from "../format.ts";
import { Badge } from "../parts/badge.tsx";
import { Code } from "../parts/code.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Empty, Trouble } from "../parts/empty.tsx";
import { Lines } from "../parts/lines.tsx";
import { exampleRequest } from "./example.ts";

export function ConversationTry({ demos }: { demos: Demo[] }) {
  const [text, setText] = useState("");
  const [model, setModel] = useState("");
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Replayed | Failure | null>(null);
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      setAnswer(await post<Replayed>("/playground/conversation", { request: text, model: model.trim() }));
    } catch (err) {
      setAnswer(err instanceof Failure ? err : new Failure(0, { detail: String(err) }));
    }
    setBusy(false);
  };
  return (
    <div class="bench">
      <form class="card bench-in" onSubmit={run}>
        <div class="bench-row">
          <label class="field">
            Model, if another than the request’s
            <input value={model} onInput={(e) => setModel(e.currentTarget.value)} placeholder="as in the request" spellcheck={false} />
          </label>
          <button type="button" onClick={() => setText(exampleRequest(demos))}>
            Use an example
          </button>
        </div>
        <label class="field grow-field">
          Request: Chat Completions, Messages or Responses, as JSON
          <textarea data-filter data-testid="play-request" class="mono" value={text} onInput={(e) => setText(e.currentTarget.value)} placeholder='{"model": "…", "messages": […]}' spellcheck={false} required />
        </label>
        <button type="submit" data-testid="play-submit" class="primary" disabled={busy || text.trim() === ""}>
          {busy ? "Working it out…" : "What would go out?"}
        </button>
      </form>
      <div class="bench-out" aria-live="polite">
        {answer instanceof Failure && <Trouble failure={answer} />}
        {answer === null && (
          <Empty title="Paste a request to a model" line="secateur replay transcript.jsonl">
            You see what would go out in its place, and what the conversation would have cost up to it, request by request. Whole transcripts of your agent replay on the command line:
          </Empty>
        )}
        {answer !== null && !(answer instanceof Failure) && <Outcome value={answer} />}
      </div>
    </div>
  );
}

function Outcome({ value }: { value: Replayed }) {
  const lines = useMemo(() => pretty(value.out).split("\n"), [value.out]);
  const longest = useMemo(() => lines.reduce((n, l) => Math.max(n, l.length), 0), [lines]);
  const messages = value.messages ?? [];
  const changes = messages.filter((m) => m.how !== "kept");
  return (
    <>
      <Cost value={value} />
      <section class="card" aria-labelledby="changes">
        <header>
          <h2 id="changes">What would change</h2>
          <span class="muted">
            {plural(changes.length, "result")} of {plural(messages.length, "part")}; {compact(tokens(messages, "tokens_before"))} → {compact(tokens(messages, "tokens_after"))} tokens
          </span>
        </header>
        {changes.length === 0 && <p class="muted">Nothing: with what is configured, this request goes out as it came.</p>}
        <ul class="changes">
          {changes.map((c, i) => (
            <li key={i}>
              <Badge tone="cut">{c.how}</Badge>
              <span>
                message {c.message + 1}
                {c.tool && (
                  <>
                    , <code>{c.tool}</code>
                  </>
                )}
              </span>
              <span class="muted">
                {compact(c.original_chars)} → {compact(c.kept_chars)} characters, {compact(c.tokens_before)} → {compact(c.tokens_after)} tokens
              </span>
              {c.text && (
                <details>
                  <summary>what stands in its place</summary>
                  <pre class="text log">{c.text}</pre>
                </details>
              )}
            </li>
          ))}
        </ul>
      </section>
      <div class="card bench-text">
        <header>
          <h2>What goes out</h2>
          <span class="grow" />
          <CopyButton text={value.out} label="Copy the request that goes out" />
        </header>
        <Lines
          label="The request that goes out"
          rows={lines.length}
          chars={longest}
          row={(i) => (
            <span class="try out">
              <span class="n">{i + 1}</span>
              <Code text={lines[i] ?? ""} kind="json" />
            </span>
          )}
        />
      </div>
    </>
  );
}

function tokens(messages: NonNullable<Replayed["messages"]>, when: "tokens_before" | "tokens_after"): number {
  return messages.reduce((sum, m) => sum + m[when], 0);
}

function Cost({ value }: { value: Replayed }) {
  const { prices } = value;
  const strategies = value.strategies ?? [];
  const most = Math.max(...strategies.map((s) => s.usd), value.passthrough_usd, 1e-12);
  const dollars = moneyLike([most]);
  const price = moneyLike([prices?.cached_input ?? 0]);
  return (
    <section class="card" aria-labelledby="cost">
      <header>
        <h2 id="cost">What it would have cost</h2>
        <span class="muted">
          {value.format}, {value.model || "no model"}, {plural(value.requests, "request")} up to here; prompts only, estimated
        </span>
      </header>
      {prices === null && <p class="muted">This model has no price in the table, so there is no money to compare. Name another one above, for example gpt-5.</p>}
      {prices !== null && (
        <table class="tight plain-table">
          <caption class="muted">
            A million tokens of input: {price(prices.input)}, from the cache {price(prices.cached_input)}, written to it {price(prices.cache_write)}
          </caption>
          <thead>
            <tr>
              <th scope="col">Policy</th>
              <th scope="col" class="wide">
                <span class="hidden">Cost as a bar</span>
              </th>
              <th scope="col" class="num">Cost</th>
              <th scope="col" class="num">To passing through</th>
              <th scope="col" class="num opt">Masked</th>
              <th scope="col" class="num opt">Pruned</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">passing through</th>
              <td class="wide">
                <span class="track big" title={money(value.passthrough_usd)}>
                  <span style={{ width: `${(value.passthrough_usd / most) * 100}%` }} />
                </span>
              </td>
              <td class="num">{dollars(value.passthrough_usd)}</td>
              <td class="num">{percent(1)}</td>
              <td class="num opt">{count(0)}</td>
              <td class="num opt">{count(0)}</td>
            </tr>
            {strategies.map((s) => (
              <tr key={s.name} class={s.chosen ? "chosen" : ""}>
                <th scope="row">
                  {s.name} {s.chosen && <Badge tone="good">configured</Badge>}
                </th>
                <td class="wide">
                  <span class={s.usd > value.passthrough_usd * 1.0001 ? "track big bad" : "track big"} title={money(s.usd)}>
                    <span style={{ width: `${(s.usd / most) * 100}%` }} />
                  </span>
                </td>
                <td class="num">{dollars(s.usd)}</td>
                <td class="num">{percent(s.ratio)}</td>
                <td class="num opt">{count(s.masked)}</td>
                <td class="num opt">{count(s.pruned)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
