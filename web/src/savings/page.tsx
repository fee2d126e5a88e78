// Money against passing everything through: what was paid, what was saved, and what was lost by it.
import { useState } from "preact/hooks";
import { get, query, text } from "../api/client.ts";
import type { Savings } from "../api/types.ts";
import { compact, money, percent, signedMoney } from "../format.ts";
import { useLoad } from "../load.ts";
import { Empty, Trouble, Waiting } from "../parts/empty.tsx";
import { Figure } from "../parts/figure.tsx";
import { Icon } from "../parts/icon.tsx";
import { search, setSearch } from "../route.ts";
import { Breakdown } from "./breakdown.tsx";
import { Conversations } from "./conversations.tsx";
import { Measured } from "./measured.tsx";
import { net, points, type Unit } from "./series.ts";
import { TimeChart } from "./timechart.tsx";
import { save } from "../parts/save.ts";
import { Tabs } from "../parts/tabs.tsx";
import { announceFailure } from "../parts/toast.tsx";

const periods = [
  { id: "24h", name: "24 h", span: 86_400 },
  { id: "7d", name: "7 d", span: 7 * 86_400 },
  { id: "30d", name: "30 d", span: 30 * 86_400 },
  { id: "90d", name: "90 d", span: 90 * 86_400 },
];

async function download(since: string): Promise<void> {
  save(`secateur-savings-${since}.csv`, "text/csv", await text("/savings.csv" + query({ by: "day", since })));
}

export function SavingsPage() {
  const since = periods.find((p) => p.id === search.value.get("since")) ?? periods[1]!;
  const loaded = useLoad(`savings ${since.id}`, () => overTime(since.id), 15_000);
  const [wish, setUnit] = useState<Unit | null>(null);
  const value = loaded.value?.savings;
  const unit = wish ?? (value && value.passthrough_usd === 0 && value.cut_tokens > 0 ? "tokens" : "money");
  return (
    <section class="page savings" aria-labelledby="savings-title">
      <header class="page-head">
        <h1 id="savings-title">Savings</h1>
        <span class="grow" />
        <Tabs label="Period" tabs={periods} chosen={since.id} choose={(id) => setSearch("since", id)} />
        <button type="button" class="button" onClick={() => download(since.id).catch(announceFailure)}>
          <Icon name="save" /> CSV
        </button>
      </header>
      {loaded.failure && <Trouble failure={loaded.failure} again={loaded.again} />}
      {!value && !loaded.failure && <Waiting />}
      {value && (
        <>
          <Totals value={value} />
          {value.passthrough_usd === 0 && value.cut_tokens === 0 ? (
            <Nothing />
          ) : (
            <section class="card" aria-labelledby="over-time">
              <header>
                <h2 id="over-time">Over time</h2>
                <span class="grow" />
                <Tabs
                  label="Unit"
                  tabs={[{ id: "money", name: "Money" }, { id: "tokens", name: "Tokens" }]}
                  chosen={unit}
                  choose={(id) => setUnit(id as Unit)}
                />
              </header>
              <TimeChart points={points(value.items ?? [], unit, Date.now() / 1000, since.span, loaded.value?.step)} unit={unit} hours={loaded.value?.step === 3600} />
            </section>
          )}
          <Breakdown since={since.id} />
        </>
      )}
      <Conversations />
      <Measured />
    </section>
  );
}

interface OverTime {
  savings: Savings;
  step: number;
}

/** A day by its hours, longer periods by days. */
async function overTime(since: string): Promise<OverTime> {
  const hours = since === "24h";
  return { savings: await get<Savings>("/savings" + query({ by: hours ? "hour" : "day", since })), step: hours ? 3600 : 86_400 };
}

function Totals({ value }: { value: Savings }) {
  const saved = net(value);
  const share = value.passthrough_usd > 0 ? saved / value.passthrough_usd : 0;
  return (
    <div class="figures savings-figures">
      <Figure
        label="Net saved"
        value={signedMoney(saved)}
        tone={saved < 0 ? "bad" : "good"}
        note={value.passthrough_usd > 0 ? `${percent(Math.abs(share))} ${share < 0 ? "dearer" : "cheaper"}` : "no priced request yet"}
      />
      <Figure label="Paid" value={money(value.spent_usd)} note={`passing through: ${money(value.passthrough_usd)}`} />
      <Figure label="Saved" value={money(value.saved_usd)} />
      <Figure label="Lost" value={money(-value.lost_usd)} tone={value.lost_usd > 0 ? "bad" : undefined} note="by rewriting what a cache had" />
      <Figure label="Tokens cut" value={compact(value.cut_tokens)} note={`${compact(value.recovered_tokens)} recovered`} tone="cut" />
      <Figure label="Recovery rate" value={percent(value.recovery_rate)} note="of cut texts were asked for again" />
      <Figure label="Provider cache hits" value={percent(value.cache_hit_rate)} note="of prompt tokens" />
    </div>
  );
}

function Nothing() {
  return (
    <Empty title="Nothing to count yet" line={`export OPENAI_BASE_URL=${location.origin}/v1 ANTHROPIC_BASE_URL=${location.origin}`}>
      Money is counted for requests to a model that pass through secateur. Configure a provider under <code>[providers]</code>, then start your agent with this line; tokens of MCP results are counted as soon as one is cut.
    </Empty>
  );
}
