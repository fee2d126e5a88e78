// Who may do what, how full the limits are, and who was turned away.
import { all, get } from "../api/client.ts";
import type { AccessRules, LimitUsage, RefusalRow, TokenName } from "../api/types.ts";
import { ago, moment } from "../format.ts";
import { refusals as live } from "../live/store.ts";
import { useClock } from "../live/strip.tsx";
import { useLoad } from "../load.ts";
import { Badge } from "../parts/badge.tsx";
import { Paste } from "../parts/copy.tsx";
import { Trouble, Waiting } from "../parts/empty.tsx";
import { link } from "../route.ts";
import { Explain } from "./explain.tsx";
import { Limits } from "./limits.tsx";
import { Rules } from "./rules.tsx";
import { reasonInWords } from "./words.ts";

/** What is done about definitions that are new or change, by pins.mode. */
const pinned: Record<string, string> = {
  off: "definitions are not pinned",
  report: "definitions that are new or change are reported",
  strict: "definitions that are new or change are held back",
};

export function AccessPage() {
  const access = useLoad("access", () => get<AccessRules>("/access"), 15_000);
  const tokens = useLoad("tokens", () => all<TokenName>("/tokens"), 15_000);
  const limits = useLoad("limits", () => all<LimitUsage>("/limits"), 2000);
  const refused = useLoad(`refusals ${live.value[0]?.request_id ?? ""}`, () => all<RefusalRow>("/refusals", {}, 1000), 15_000);
  return (
    <section class="page access" aria-labelledby="access-title">
      <header class="page-head">
        <h1 id="access-title">Access</h1>
        {access.value && <Badge tone={access.value.asks ? "good" : "warn"}>{access.value.asks ? "credentials are asked for" : "nothing is asked for"}</Badge>}
        {access.value && access.value.pins !== "" && <span class="muted">{pinned[access.value.pins] ?? access.value.pins}</span>}
      </header>
      <Explain tokens={tokens.value ?? []} />
      <div class="two">
        <div class="stack">
          {access.failure && <Trouble failure={access.failure} again={access.again} />}
          {access.value ? <Rules access={access.value} /> : !access.failure && <Waiting />}
          <Tokens tokens={tokens.value} />
        </div>
        <div class="stack">
          <Limits usage={limits.value ?? []} rules={access.value?.limits ?? []} />
          <Refusals rows={refused.value ?? live.value} />
        </div>
      </div>
    </section>
  );
}

function Tokens({ tokens }: { tokens: TokenName[] | undefined }) {
  return (
    <section class="card" aria-labelledby="tokens">
      <header>
        <h2 id="tokens">Tokens</h2>
        <span class="muted">names and roles; values are kept as hashes and never shown</span>
      </header>
      {tokens && tokens.length === 0 && (
        <>
          <p class="muted">There is none. On your own machine none is needed; one for a colleague or a job:</p>
          <Paste line="secateur token new ci --tenant team-a --role dev --expires 90d" />
        </>
      )}
      {tokens && tokens.length > 0 && (
        <div class="scroll-x">
          <table class="tight">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Roles</th>
                <th scope="col" class="opt">Tenant</th>
                <th scope="col">Expires</th>
                <th scope="col" class="opt">Kept in</th>
              </tr>
            </thead>
            <tbody>
              {tokens.map((t) => (
                <tr key={t.kept + t.name}>
                  <th scope="row">{t.name}</th>
                  <td>{t.roles?.join(", ") || "–"}</td>
                  <td class="opt">{t.tenant}</td>
                  <td>{t.expires ? moment(t.expires) : "never"}</td>
                  <td class="opt">{t.kept.replaceAll("_", " ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Refusals({ rows }: { rows: RefusalRow[] }) {
  const now = useClock(5000);
  return (
    <section class="card" aria-labelledby="refusals">
      <header>
        <h2 id="refusals">Refused lately</h2>
      </header>
      {rows.length === 0 && <p class="muted">Nobody was turned away.</p>}
      {rows.length > 0 && (
        <div class="scroll-x tall" tabIndex={0} role="region" aria-label="Refusals">
          <table class="tight">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">Door</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 100).map((r, i) => (
                <tr key={r.request_id + i}>
                  <td class="nowrap" title={r.at && moment(r.at)}>
                    {r.at ? ago(r.at, now) : "–"}
                  </td>
                  <td>{r.subject || "–"}</td>
                  <td>{r.door}</td>
                  <td>
                    <a href={link(["live"], { q: `id:${r.request_id}` })}>{reasonInWords(r.reason)}</a>
                    {r.rule && (
                      <>
                        {" "}
                        <code>{r.rule}</code>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
