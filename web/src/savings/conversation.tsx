// One conversation: what each request cost, and what it would have.
import { all, get } from "../api/client.ts";
import type { Account, Conversation, Resume } from "../api/types.ts";
import { clock, count, money, moneyLike, percent, signedMoney } from "../format.ts";
import { useLoad } from "../load.ts";
import { Empty, Trouble, Waiting } from "../parts/empty.tsx";
import { Figure } from "../parts/figure.tsx";
import { Icon } from "../parts/icon.tsx";
import { save } from "../parts/save.ts";
import { link, parts } from "../route.ts";
import { csv, waterfall, type Step } from "./series.ts";
import { Waterfall } from "./waterfall.tsx";

export function ConversationPage() {
  const id = parts.value[1] ?? "";
  const { value, failure, again } = useLoad(
    `conversation ${id}`,
    async () => (id ? get<Account>(`/conversations/${encodeURIComponent(id)}`) : newest()),
    10_000,
  );
  if (failure && !value) return <Trouble failure={failure} again={again} />;
  if (value === undefined) return <Waiting />;
  if (value === null) return <Empty title="No conversation yet">Conversations appear once a request to a model has passed through.</Empty>;
  const steps = waterfall(value.requests);
  const saved = value.passthrough_usd - value.spent_usd;
  const prompt = steps.reduce((sum, s) => sum + s.request.prompt_tokens, 0);
  const cached = steps.reduce((sum, s) => sum + s.request.cached_tokens, 0);
  return (
    <section class="page savings" aria-labelledby="conversation-title">
      <header class="page-head">
        <nav aria-label="Back">
          <a href={link(["savings"])}>Savings</a>
        </nav>
        <h1 id="conversation-title">
          Conversation <code>{value.id.slice(0, 8)}</code>
        </h1>
        <span class="muted">{[value.provider, value.model].filter(Boolean).join("/")}</span>
        <span class="grow" />
        <button type="button" onClick={() => save(`conversation-${value.id}.csv`, "text/csv", table(steps))}>
          <Icon name="save" /> CSV
        </button>
      </header>
      <div class="figures">
        <Figure
          label="Net saved"
          value={signedMoney(saved)}
          tone={saved < 0 ? "bad" : "good"}
          note={value.passthrough_usd > 0 ? `${percent(Math.abs(saved / value.passthrough_usd))} ${saved < 0 ? "dearer" : "cheaper"}` : undefined}
        />
        <Figure label="Paid" value={money(value.spent_usd)} note={`passing through: ${money(value.passthrough_usd)}`} />
        <Figure label="Requests" value={count(steps.length)} note={steps.length === 200 ? "the newest are kept" : undefined} />
        <Figure label="Provider cache hits" value={prompt ? percent(cached / prompt) : "–"} note="of prompt tokens" />
      </div>
      {value.resume && <ResumeCard resume={value.resume} />}
      <section class="card" aria-labelledby="waterfall">
        <header>
          <h2 id="waterfall">Request by request</h2>
          <span class="muted">each step is what a request saved or lost; where it ends is the sum</span>
        </header>
        <Waterfall steps={steps} />
      </section>
      <Requests steps={steps} />
    </section>
  );
}

async function newest(): Promise<Account | null> {
  const first = (await all<Conversation>("/conversations"))[0];
  return first ? get<Account>(`/conversations/${encodeURIComponent(first.id)}`) : null;
}

function ResumeCard({ resume }: { resume: Resume }) {
  return (
    <section class="card" aria-labelledby="resume">
      <header>
        <h2 id="resume">To go on with it</h2>
        <span class="muted">the next prompt, {count(resume.prompt_tokens)} tokens as they would go out, estimated</span>
      </header>
      <div class="figures bare">
        <Figure label="At once, cache warm" value={money(resume.warm_usd)} />
        <Figure label="Later, cache cold" value={money(resume.cold_usd)} note="the provider has forgotten it" />
        <Figure label="Cold, passing through" value={money(resume.passthrough_cold_usd)} note={`${signedMoney(resume.passthrough_cold_usd - resume.cold_usd)} saved by what is cut`} />
      </div>
    </section>
  );
}

function Requests({ steps }: { steps: Step[] }) {
  const dollars = moneyLike(steps.flatMap((s) => [s.request.spent_usd, s.to]));
  const signed = (usd: number): string => (usd > 0 ? "+" : "") + dollars(usd);
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Requests">
      <table class="tight">
        <caption class="hidden">The requests, the oldest first</caption>
        <thead>
          <tr>
            <th scope="col" class="num">#</th>
            <th scope="col" class="opt">Time</th>
            <th scope="col" class="num opt">Prompt</th>
            <th scope="col" class="num opt">Cached</th>
            <th scope="col" class="num opt">Masked</th>
            <th scope="col" class="num opt">Pruned</th>
            <th scope="col" class="num">Paid</th>
            <th scope="col" class="num">Difference</th>
            <th scope="col" class="num">Sum</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((s, i) => (
            <tr key={s.request.request_id + i}>
              <th scope="row" class="num">
                {i + 1}
              </th>
              <td class="opt">{clock(s.request.at)}</td>
              <td class="num opt">{count(s.request.prompt_tokens)}</td>
              <td class="num opt">{s.request.prompt_tokens ? percent(s.request.cached_tokens / s.request.prompt_tokens) : "–"}</td>
              <td class="num opt">{count(s.request.masked)}</td>
              <td class="num opt">{count(s.request.pruned)}</td>
              <td class="num">{dollars(s.request.spent_usd)}</td>
              <td class={s.difference < 0 ? "num bad" : "num"}>{signed(s.difference)}</td>
              <td class="num">{signed(s.to)}</td>
              <td class="why">{s.request.why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function table(steps: Step[]): string {
  const head = ["request_id", "at", "prompt_tokens", "cached_tokens", "masked", "pruned", "spent_usd", "passthrough_usd", "difference_usd", "sum_usd", "why"];
  return csv([
    head,
    ...steps.map(({ request: r, difference, to }) => [r.request_id, r.at, r.prompt_tokens, r.cached_tokens, r.masked, r.pruned, r.spent_usd, r.passthrough_usd, difference, to, r.why]),
  ]);
}
