// The configured servers: how they fare, and what can be done about it.
import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import { all, get } from "../api/client.ts";
import type { Server, Status } from "../api/types.ts";
import { bytes, compact, count, duration, moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { serverChanges } from "../live/store.ts";
import { Badge, stateTone } from "../parts/badge.tsx";
import { Empty, Trouble, Waiting } from "../parts/empty.tsx";
import { Figure } from "../parts/figure.tsx";
import { link, parts } from "../route.ts";
import { ServerDetail } from "./detail.tsx";

export function ServersPage() {
  const id = parts.value[1];
  const servers = useLoad(`servers ${serverChanges.value}`, () => all<Server>("/servers"), 5000);
  const status = useLoad("status", () => get<Status>("/status"), 5000);
  const known = useLast(servers.value);
  const one = known?.find((s) => s.id === id);
  return (
    <section class="page servers" aria-labelledby="servers-title">
      <header class="page-head">
        <h1 id="servers-title">Servers</h1>
        {status.value && <Program status={status.value} />}
      </header>
      {servers.failure && <Trouble failure={servers.failure} again={servers.again} />}
      {!known && !servers.failure && <Waiting />}
      {known && known.length === 0 && (
        <Empty title="No server is configured" line="secateur add files -- npx -y @modelcontextprotocol/server-filesystem .">
          secateur starts the servers, restarts them when they fail and cuts what they answer. Add one, or take over those of your editor with <code>secateur import</code>.
        </Empty>
      )}
      {known && known.length > 0 && (
        <div class={one ? "split open" : "split"}>
          <div class="table-box">
            <Table servers={known} chosen={id} />
          </div>
          {one && <ServerDetail key={one.id} server={one} again={servers.again} />}
          {id && !one && <Empty title={`There is no server ${id}`} />}
        </div>
      )}
    </section>
  );
}

/** The value before, as long as the next one is on its way. */
function useLast<T>(value: T | undefined): T | undefined {
  const kept = useRef<T | undefined>(undefined);
  if (value !== undefined) kept.current = value;
  return kept.current;
}

function Table({ servers, chosen }: { servers: Server[]; chosen: string | undefined }) {
  const total = Math.max(1, ...servers.map((s) => s.tokens));
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Server</th>
          <th scope="col">State</th>
          <th scope="col" class="opt">Transport</th>
          <th scope="col" class="opt">Era</th>
          <th scope="col" class="num opt">Up for</th>
          <th scope="col" class="num opt">Restarts</th>
          <th scope="col" class="num opt">In flight</th>
          <th scope="col" class="num">Tools</th>
          <th scope="col" class="num">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {servers.map((s) => (
          <Fragment key={s.id}>
            <tr data-testid="server-row" class={s.id === chosen ? "chosen" : ""}>
              <th scope="row">
                <a href={link(["servers", s.id])} {...(s.id === chosen ? { "aria-current": "true" as const } : {})}>
                  {s.id}
                </a>
              </th>
              <td>
                <Badge tone={stateTone(s.state)}>{s.state}</Badge>
              </td>
              <td class="opt">{s.transport}</td>
              <td class="opt">{s.era ? <span title={s.protocol}>{s.era}</span> : "–"}</td>
              <td class="num opt nowrap">{s.state === "ready" ? duration(s.uptime_s) : "–"}</td>
              <td class="num opt">{count(s.restarts)}</td>
              <td class="num opt">{count(s.in_flight)}</td>
              <td class="num">{count(s.tools)}</td>
              <td class="num meter-cell">
                <span class="meter" style={{ width: `${(s.tokens / total) * 100}%` }} aria-hidden="true" />
                {compact(s.tokens)}
              </td>
            </tr>
            {s.last_error && s.state !== "ready" && (
              <tr class={s.id === chosen ? "chosen note" : "note"}>
                <td colSpan={9} class="row-note bad">
                  {s.last_error}
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function Program({ status }: { status: Status }) {
  const { store } = status;
  return (
    <div class="figures">
      <Figure label="secateur" value={status.version} note={status.config.path || "built-in default"} />
      <Figure label="Running for" value={duration(status.uptime_s)} note={`since ${moment(status.started_at)}`} />
      <Figure label="Sessions" value={count(status.sessions)} note={`${count(status.in_flight)} calls in flight`} />
      <Figure label="Originals kept" value={compact(store.originals)} note={`${bytes(store.bytes)} of ${bytes(store.max_bytes)}`} />
      {status.config.restart_needed.length > 0 && <Figure label="Waits for a restart" value={status.config.restart_needed.join(", ")} tone="bad" />}
    </div>
  );
}
