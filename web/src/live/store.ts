// What has happened, from the control plane's event stream: the newest events, bounded, in batches of one a frame.
import { signal } from "@preact/signals";
import { base, identity, reachable, sessionHeader, whoami } from "../api/client.ts";
import type { Cut, LogEvent, RefusalRow, RequestEvent } from "../api/types.ts";
import { Ring } from "./ring.ts";
import { readEvents, type StreamEvent } from "./stream.ts";

export interface Row extends RequestEvent {
  n: number; // counts up
  time: number;
  cuts: Cut[] | undefined; // undefined: none
  refusal: RefusalRow | undefined;
}

export type Connection = "connecting" | "open" | "lost";

export const maxRows = 10_000;

/** The rows, and how often they have changed: components read changes.value to be told. */
export const rows = new Ring<Row>(maxRows);
export const changes = signal(0);
export const connection = signal<Connection>("connecting");
/** Events that the stream could not give any more: how often, and how many are known. */
export const gaps = signal({ times: 0, lost: 0 });
/** Counts up when a server changed, the configuration was read anew, or something was cut: pages that show those ask again. */
export const serverChanges = signal(0);
export const cutChanges = signal(0);
export const refusals = signal<RefusalRow[]>([]);
export const logs = new Ring<LogEvent>(2000);

let following: AbortController | undefined;
let lastID = "0"; // all that is remembered
let wait = 500;
let timer: ReturnType<typeof setTimeout> | undefined;
let counted = 0;
let dirty = false;

// Cuts and refusals are told before their requests: they wait here for them, a few at most.
const openCuts = new Map<string, Cut[]>();
const openRefusals = new Map<string, RefusalRow>();
const looseCuts: Cut[] = []; // of a program that does not tell their requests
const most = 500;

export function connect(): void {
  if (following) return;
  connection.value = "connecting";
  following = new AbortController();
  void follow(following.signal);
}

/** Follows the stream until it ends or disconnect is called. One that ended is asked for again, from the last event on. */
async function follow(ended: AbortSignal): Promise<void> {
  try {
    const answer = await fetch(`${base}/events`, { headers: { Accept: "text/event-stream", "Last-Event-ID": lastID, ...sessionHeader() }, cache: "no-store", signal: ended });
    if (answer.ok && answer.body) {
      wait = 500;
      connection.value = "open";
      reachable.value = true;
      await readEvents(answer.body, take);
    }
  } catch {
    // It is asked for again below.
  }
  if (ended.aborted) return;
  connection.value = "lost";
  disconnect();
  again();
}

function again(): void {
  timer = setTimeout(retry, wait);
  wait = Math.min(wait * 2, 10_000);
}

async function retry(): Promise<void> {
  try {
    await whoami();
  } catch {
    again();
    return;
  }
  if (identity.value) connect();
}

export function disconnect(): void {
  clearTimeout(timer);
  following?.abort();
  following = undefined;
}

const takers: Record<string, (data: never) => void> = {
  request: addRequest,
  cut: addCut,
  server: () => bump(serverChanges),
  reload: () => bump(serverChanges),
  refusal: addRefusal,
  log: (l: LogEvent) => logs.push(l),
  gap: (g: { lost: number }) => (gaps.value = { times: gaps.value.times + 1, lost: gaps.value.lost + g.lost }),
};

function take(event: StreamEvent): void {
  if (event.id) lastID = event.id;
  try {
    takers[event.type]?.(JSON.parse(event.data) as never);
  } catch {
    return; // an event that is no JSON is none of ours
  }
  schedule();
}

function bump(s: { value: number }): void {
  s.value++;
}

function addRequest(r: RequestEvent): void {
  let cuts = openCuts.get(r.request_id);
  openCuts.delete(r.request_id);
  if (!cuts && looseCuts.length && r.door !== "chat") {
    const found = looseCuts.filter((c) => c.server === r.server && c.tool === r.tool);
    if (found.length) cuts = found;
  }
  looseCuts.length = 0;
  const refusal = openRefusals.get(r.request_id);
  openRefusals.delete(r.request_id);
  rows.push({ ...r, n: ++counted, time: r.at ? Date.parse(r.at) : Date.now(), cuts, refusal });
  dirty = true;
}

function addCut(c: Cut): void {
  bump(cutChanges);
  if (!c.request_id) {
    if (looseCuts.length < most) looseCuts.push(c);
    return;
  }
  const known = openCuts.get(c.request_id);
  if (known) known.push(c);
  else {
    openCuts.set(c.request_id, [c]);
    trim(openCuts);
  }
}

function addRefusal(r: RefusalRow): void {
  refusals.value = [{ ...r, at: r.at ?? new Date().toISOString() }, ...refusals.value].slice(0, 200);
  openRefusals.set(r.request_id, r);
  trim(openRefusals);
}

function trim<T>(map: Map<string, T>): void {
  const oldest = map.keys().next();
  if (map.size > most && !oldest.done) map.delete(oldest.value);
}

/** One change a frame, however many events there are. A hidden page has no frames: then it waits for one. */
let scheduled = false;
function schedule(): void {
  if (scheduled || !dirty) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = dirty = false;
    bump(changes);
  });
}
