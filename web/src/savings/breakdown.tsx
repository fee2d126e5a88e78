// The same by feature, model, tool or server. Losses are bars to the left.
import { useState } from "preact/hooks";
import { get, query } from "../api/client.ts";
import type { Savings, SavingsItem } from "../api/types.ts";
import { compact, money, moneyLike, percent } from "../format.ts";
import { useLoad } from "../load.ts";
import { Trouble, Waiting } from "../parts/empty.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { net } from "./series.ts";

const groups = [
  { id: "feature", name: "Feature" },
  { id: "model", name: "Model" },
  { id: "tool", name: "Tool" },
  { id: "server", name: "Server" },
];

const features: Record<string, string> = {
  masked: "masked: old results of a conversation, replaced by a line",
  pruned: "pruned: lines of a conversation’s results that its goal does not need",
  mcp: "mcp: long results cut on the way from an MCP server",
  gateway: "gateway: the same at the raw JSON-RPC door",
  "(none)": "requests out of which nothing was cut",
};

export function Breakdown({ since }: { since: string }) {
  const [by, setBy] = useState("feature");
  const { value, failure, again } = useLoad(`savings ${since} ${by}`, () => get<Savings>("/savings" + query({ by, since })), 15_000);
  const items = (value?.items ?? []).toSorted((a, b) => net(b) - net(a) || b.saved_usd - a.saved_usd || b.cut_tokens - a.cut_tokens);
  return (
    <section class="card" aria-labelledby="where">
      <header>
        <h2 id="where">Where it comes from</h2>
        <span class="grow" />
        <Tabs label="Group by" tabs={groups} chosen={by} choose={setBy} />
      </header>
      {failure && <Trouble failure={failure} again={again} />}
      {!value && !failure && <Waiting lines={3} />}
      {value && items.length === 0 && <p class="muted">Nothing in this period.</p>}
      {items.length > 0 && <Rows items={items} by={by} />}
    </section>
  );
}

function Rows({ items, by }: { items: SavingsItem[]; by: string }) {
  const money0 = items.some((i) => i.saved_usd !== 0 || i.lost_usd !== 0);
  const gain = (i: SavingsItem): number => (money0 ? i.saved_usd : i.cut_tokens);
  const loss = (i: SavingsItem): number => (money0 ? i.lost_usd : i.recovered_tokens);
  const most = Math.max(...items.map(gain), 1e-12);
  const worst = Math.max(...items.map(loss), 0);
  const total = most + worst;
  const dollars = moneyLike(items.flatMap((i) => [i.spent_usd, i.saved_usd]));
  const zero = (worst / total) * 100;
  return (
    <div class="scroll-x">
      <table class="tight">
        <thead>
          <tr>
            <th scope="col">{by[0]?.toUpperCase() + by.slice(1)}</th>
            <th scope="col" class="wide">
              <span class="legend">
                <span>
                  <i class="swatch failed" /> {money0 ? "lost" : "recovered"}
                </span>
                <span>
                  <i class="swatch ok" /> {money0 ? "saved" : "cut"}
                </span>
              </span>
            </th>
            <th scope="col" class="num">Net</th>
            <th scope="col" class="num opt">Paid</th>
            <th scope="col" class="num opt">Tokens cut</th>
            <th scope="col" class="num opt">Recovered</th>
            <th scope="col" class="num opt">Cache hits</th>
          </tr>
        </thead>
        <tbody>
          {items.map((i) => (
            <tr key={i.key}>
              <th scope="row" class="key" title={features[i.key] ?? i.key}>
                {i.key === "(none)" ? (by === "feature" ? "nothing cut" : `no ${by}`) : i.key}
              </th>
              <td class="wide">
                <span class="diverging" title={`saved ${money(i.saved_usd)}, lost ${money(i.lost_usd)}`}>
                  <span class="zero" style={{ left: `${zero}%` }} />
                  <span class="gain" style={{ left: `${zero}%`, width: `${(gain(i) / total) * 100}%` }} />
                  <span class="loss" style={{ right: `${100 - zero}%`, width: `${(loss(i) / total) * 100}%` }} />
                </span>
              </td>
              <td class={i.saved_usd < i.lost_usd ? "num bad" : "num"}>{(i.saved_usd > i.lost_usd ? "+" : "") + dollars(i.saved_usd - i.lost_usd)}</td>
              <td class="num opt">{dollars(i.spent_usd)}</td>
              <td class="num opt">{compact(i.cut_tokens)}</td>
              <td class="num opt">{percent(i.recovery_rate)}</td>
              <td class="num opt">{i.cache_hit_rate > 0 ? percent(i.cache_hit_rate) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
