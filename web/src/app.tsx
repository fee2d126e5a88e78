// The frame around the pages: navigation, sign-in, help.
import { useEffect, useRef } from "preact/hooks";
import { identity, reachable, whoami } from "./api/client.ts";
import { Help } from "./help.tsx";
import { helpOpen, listenToKeys } from "./keyboard.ts";
import { connect, disconnect } from "./live/store.ts";
import { LivePage } from "./live/page.tsx";
import { Navigation } from "./navigation.tsx";
import { pages, type PageID } from "./pages.ts";
import { Lazy } from "./parts/lazy.tsx";
import { Toasts } from "./parts/toast.tsx";
import { followLinks, parts } from "./route.ts";
import { SignIn } from "./signin.tsx";
import "./theme.ts";

export function App() {
  useEffect(() => {
    const stopKeys = listenToKeys();
    document.addEventListener("click", followLinks);
    const ask = (): void => {
      whoami().catch(() => setTimeout(ask, 2000));
    };
    ask();
    return () => {
      stopKeys();
      document.removeEventListener("click", followLinks);
    };
  }, []);
  const who = identity.value;
  const admin = who?.roles.includes("admin") ?? false;
  useEffect(() => {
    if (!admin) return;
    connect();
    return disconnect;
  }, [admin]);
  if (who === undefined) {
    return <div class="start">{!reachable.value && <p role="status">secateur does not answer. Trying again…</p>}</div>;
  }
  if (!admin) return <SignIn who={who} />;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <Navigation />
      <Main />
      <Toasts />
      {helpOpen.value && <Help />}
    </div>
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

const savings = () => import("./savings/page.tsx").then((m) => m.SavingsPage);
const conversation = () => import("./savings/conversation.tsx").then((m) => m.ConversationPage);
const cuts = () => import("./cuts/page.tsx").then((m) => m.CutsPage);
const servers = () => import("./servers/page.tsx").then((m) => m.ServersPage);
const access = () => import("./access/page.tsx").then((m) => m.AccessPage);
const playground = () => import("./playground/page.tsx").then((m) => m.PlaygroundPage);

function Main() {
  const ref = useRef<HTMLElement>(null);
  const page = parts.value[0] as PageID | "conversations";
  const name = pages.find((p) => p.id === page)?.name ?? (page === "conversations" ? "Conversation" : "Not found");
  const first = useRef(true);
  useEffect(() => {
    document.title = `${name} · secateur`;
    if (!first.current) ref.current?.focus({ preventScroll: true });
    first.current = false;
  }, [name]);
  return (
    <main id="main" ref={ref} tabIndex={-1} aria-label={name}>
      {page === "live" && <LivePage />}
      {page === "savings" && <Lazy load={savings} />}
      {page === "conversations" && <Lazy load={conversation} />}
      {page === "cuts" && <Lazy load={cuts} />}
      {page === "servers" && <Lazy load={servers} />}
      {page === "access" && <Lazy load={access} />}
      {page === "playground" && <Lazy load={playground} />}
      {name === "Not found" && (
        <div class="empty">
          <h1>There is no such page</h1>
          <p>
            <a href="/ui/live">Live</a> shows what happens.
          </p>
        </div>
      )}
    </main>
  );
}
