// One server: what can be done, what it last said, its tools and their pins.
import { useEffect, useRef, useState } from "preact/hooks";
import { all, get, post, query, remove } from "../api/client.ts";
import type { Login, Pin, Server, SignInState, Tool } from "../api/types.ts";
import { count, duration, moment, plural } from "../format.ts";
import { useLoad } from "../load.ts";
import { Badge, stateTone } from "../parts/badge.tsx";
import { Paste } from "../parts/copy.tsx";
import { Facts } from "../parts/dialog.tsx";
import { Trouble } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { announce, announceFailure } from "../parts/toast.tsx";
import { link } from "../route.ts";
import { Pins } from "./pins.tsx";
import { Tools } from "./tools.tsx";

export function ServerDetail({ server, again }: { server: Server; again: () => void }) {
  const path = `/servers/${encodeURIComponent(server.id)}`;
  const stamp = `${server.id} ${server.state} ${server.restarts} ${server.tools}`;
  const tools = useLoad(`tools ${stamp}`, () => all<Tool>("/tools", { server: server.id }));
  const pins = useLoad(`pins ${stamp}`, () => all<Pin>("/pins", { server: server.id }), 5000);
  const logins = useLoad(`logins ${server.id}`, () => all<Login>("/logins"), 10_000);
  const [busy, setBusy] = useState("");
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), []);
  const act = async (what: string, done: string): Promise<void> => {
    setBusy(what);
    try {
      const after = await post<Server>(`${path}/${what}`);
      announce(`${server.id}: ${done}, ${after.state}`);
    } catch (err) {
      announceFailure(err);
    }
    setBusy("");
    again();
    tools.again();
    pins.again();
  };
  const login = logins.value?.find((l) => l.server === server.id);
  const held = server.state === "held";
  const disabled = server.state === "disabled" || held;
  return (
    <article ref={box} class="detail" aria-labelledby="server-name">
      <header class="detail-head">
        <h2 id="server-name">{server.id}</h2>
        <Badge tone={stateTone(server.state)}>{server.state}</Badge>
        <span class="grow" />
        <a class="icon-button" href={link(["servers"])} aria-label="Close" title="Close">
          <Icon name="close" />
        </a>
      </header>
      <div class="actions">
        <button type="button" data-testid="restart" disabled={busy !== "" || disabled} onClick={() => act("restart", "restarted")}>
          <Icon name="restart" /> {busy === "restart" ? "Restarting…" : "Restart"}
        </button>
        <button type="button" data-testid="refresh" disabled={busy !== "" || disabled} onClick={() => act("refresh", "asked for its lists again")}>
          {busy === "refresh" ? "Refreshing…" : "Refresh"}
        </button>
        {held && (
          <button type="button" data-testid="approve" disabled={busy !== ""} onClick={() => act("approve", "approved")}>
            {busy === "approve" ? "Approving…" : "Approve"}
          </button>
        )}
        <button type="button" data-testid={disabled ? "enable" : "disable"} disabled={busy !== "" || held} onClick={() => act(disabled ? "enable" : "disable", disabled ? "enabled" : "disabled")}>
          {disabled ? "Enable" : "Disable"}
        </button>
        {(server.transport === "http" || server.transport === "sse" || login) && <SignInWith server={server} login={login} path={path} again={logins.again} />}
      </div>
      {server.last_error && (
        <div class={server.state === "ready" ? "note-box" : "note-box bad"}>
          <strong>{server.state === "ready" ? "Last error, since recovered" : "Last error"}</strong>
          <pre class="text">{server.last_error}</pre>
        </div>
      )}
      {server.sandbox && (
        <div class={server.sandbox_gaps.length > 0 ? "note-box bad" : "note-box"} data-testid="sandbox">
          <strong>Sandbox: {server.sandbox}</strong>
          {server.sandbox_gaps.length > 0 && <p>This system cannot enforce: {server.sandbox_gaps.join("; ")}</p>}
        </div>
      )}
      {server.problems.length > 0 && (
        <div class="note-box">
          <strong>Listed, but not usable</strong>
          <ul>
            {server.problems.map((p) => (
              <li key={p}>{p}</li>
            ))}
          </ul>
        </div>
      )}
      <Facts
        facts={[
          ["Transport", server.transport],
          ["Era", server.era && `${server.era} (${server.protocol})`],
          ["Process", server.pid !== null && String(server.pid)],
          ["Up for", server.state === "ready" && duration(server.uptime_s)],
          ["Restarts", count(server.restarts)],
          ["Lists", [plural(server.tools, "tool"), plural(server.resources, "resource"), plural(server.prompts, "prompt")].join(", ")],
          ["Definitions", `about ${plural(server.tokens, "token")}: its tools, resources and prompts, if a client lists them all`],
          ["Signed in", login && `${login.subject || "yes"} at ${login.issuer}${login.expires_at ? `, until ${moment(login.expires_at)}` : ""}`],
        ]}
      />
      {pins.value && <Pins server={server.id} pins={pins.value} again={pins.again} />}
      <Tools tools={tools.value} of={server.tokens} />
      {tools.failure && <Trouble failure={tools.failure} again={tools.again} />}
      <Stderr server={server} path={path} />
    </article>
  );
}

function Stderr({ server, path }: { server: Server; path: string }) {
  const stderr = useLoad(`stderr ${server.id}`, () => get<{ lines: string[] | null }>(`${path}/stderr` + query({ lines: 200 })), 3000);
  const lines = stderr.value?.lines ?? [];
  return (
    <>
      <h3>Standard error</h3>
      {server.pid === null && lines.length === 0 ? (
        <p class="muted">It has no process of ours, so there is none.</p>
      ) : lines.length === 0 ? (
        <p class="muted">It has written nothing.</p>
      ) : (
        <pre class="text log" tabIndex={0} aria-label={`Standard error of ${server.id}`}>
          {lines.join("\n")}
        </pre>
      )}
    </>
  );
}

function SignInWith({ server, login, path, again }: { server: Server; login: Login | undefined; path: string; again: () => void }) {
  const state = useLoad(`login ${server.id}`, () => get<SignInState>(`${path}/login`), 2000);
  const remote = !["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  const [line, setLine] = useState(false);
  const waiting = state.value?.state === "waiting";
  useEffect(() => {
    if (!waiting) again();
  }, [state.value?.state]);
  const start = async (): Promise<void> => {
    try {
      const { url } = await post<SignInState>(`${path}/login`);
      if (url && isWeb(url)) open(url, "_blank", "noopener");
    } catch (err) {
      announceFailure(err);
      setLine(true);
    }
    state.again();
  };
  const stop = async (): Promise<void> => {
    try {
      await remove(`${path}/login`);
      announce(`Signed out of ${server.id}`);
    } catch (err) {
      announceFailure(err);
    }
    again();
    state.again();
  };
  const url = state.value?.url;
  return (
    <>
      {login || waiting ? (
        <button type="button" data-testid="sign-out" onClick={stop}>
          {waiting ? "Give up the sign-in" : "Sign out"}
        </button>
      ) : (
        <button type="button" data-testid="sign-in" onClick={remote ? () => setLine(true) : start}>
          <Icon name="out" /> Sign in
        </button>
      )}
      {waiting && url && isWeb(url) && (
        <p class="wide" role="status">
          Waits for you to sign in at{" "}
          <a href={url} target="_blank" rel="noopener noreferrer">
            {new URL(url).host}
          </a>
        </p>
      )}
      {state.value?.state === "failed" && !login && (
        <p class="wide bad" role="status">
          The sign-in failed: {state.value.error}
        </p>
      )}
      {line && !login && (
        <div class="wide">
          {remote && <p class="muted">The server’s page leads back to the machine that secateur runs on, so it has to be opened there:</p>}
          <Paste line={`secateur login ${server.id}`} />
        </div>
      )}
    </>
  );
}

const isWeb = (url: string): boolean => /^https?:\/\//.test(url) && URL.canParse(url);
