import { all } from "../api/client.ts";
import type { Conversation } from "../api/types.ts";
import { ago, money, percent, signedMoney } from "../format.ts";
import { useLoad } from "../load.ts";
import { Trouble } from "../parts/empty.tsx";
import { link } from "../route.ts";

/** The newest conversations with models. */
export function Conversations() {
  const { value, failure, again } = useLoad("conversations", () => all<Conversation>("/conversations"), 10_000);
  const shown = value?.slice(0, 50) ?? [];
  return (
    <section class="card" aria-labelledby="conversations">
      <header>
        <h2 id="conversations">Conversations</h2>
        <span class="muted">the newest first, kept until secateur stops</span>
      </header>
      {failure && <Trouble failure={failure} again={again} />}
      {value && value.length === 0 && <p class="muted">No conversation with a model has passed through yet.</p>}
      {shown.length > 0 && (
        <div class="scroll-x">
          <table class="tight">
            <thead>
              <tr>
                <th scope="col">Conversation</th>
                <th scope="col">Model</th>
                <th scope="col" class="opt">Last request</th>
                <th scope="col" class="num opt">Paid</th>
                <th scope="col" class="num opt">Passing through</th>
                <th scope="col" class="num">Difference</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((c) => {
                const saved = c.passthrough_usd - c.spent_usd;
                return (
                  <tr key={c.id}>
                    <th scope="row">
                      <a href={link(["conversations", c.id])}>
                        <code>{c.id.slice(0, 8)}</code>
                      </a>
                    </th>
                    <td>{[c.provider, c.model].filter(Boolean).join("/")}</td>
                    <td class="opt">{c.last_at ? ago(c.last_at) : "–"}</td>
                    <td class="num opt">{money(c.spent_usd)}</td>
                    <td class="num opt">{money(c.passthrough_usd)}</td>
                    <td class={saved < 0 ? "num bad" : "num"}>
                      {signedMoney(saved)}
                      {c.passthrough_usd > 0 && <span class="muted"> {percent(saved / c.passthrough_usd)}</span>}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {value && value.length > shown.length && <p class="muted">{value.length - shown.length} older ones are not shown.</p>}
    </section>
  );
}
