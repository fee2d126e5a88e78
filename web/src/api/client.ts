// Requests to the control plane. A session has two halves: a cookie that no script can read, which goes along by itself, and a key that this page
// keeps. Browsers keep cookies by host and storage by origin, so no other port of the host gets both.
import type { Identity, List, Problem } from "./types.ts";
import { signal } from "@preact/signals";

export const base = "/api/v1";

/** What a page shows of a request that failed. */
export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly reason: string;
  readonly errors: NonNullable<Problem["errors"]>;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail || problem.title || `the answer was ${status}`);
    this.status = status;
    this.code = problem.code ?? "";
    this.hint = problem.hint ?? "";
    this.reason = problem.reason ?? "";
    this.errors = problem.errors ?? [];
  }
}

/** Who we are: undefined until it is known, null where a sign-in is needed. */
export const identity = signal<Identity | null | undefined>(undefined);

/** Whether secateur can be reached at all. */
export const reachable = signal(true);

const keyName = "secateur-session";
let sessionKey = remembered();

function remembered(): string {
  try {
    return localStorage.getItem(keyName) ?? "";
  } catch {
    return ""; // a browser that keeps nothing
  }
}

function remember(key: string): void {
  sessionKey = key;
  try {
    if (key) localStorage.setItem(keyName, key);
    else localStorage.removeItem(keyName);
  } catch {
    // Then the session ends with the page.
  }
}

/** The page's half of the session, which every request to the control plane needs. Another page of this origin may have signed in. */
export function sessionHeader(): Record<string, string> {
  const key = remembered() || sessionKey;
  return key ? { "X-Secateur-Session": key } : {};
}

export async function ask<T>(method: string, path: string, body?: unknown, abort?: AbortSignal): Promise<T> {
  const answer = await send(method, path, "application/json", body, abort);
  if (answer === undefined) return undefined as T;
  const value = parsed<T>(answer);
  if (value === undefined) throw new Failure(200, { detail: "the answer is not JSON" });
  return value;
}

/** The text of an answer of the control plane; a download, for example. */
export const text = async (path: string): Promise<string> => (await send("GET", base + path, "*/*")) ?? "";

/** Sends a request and gives the text of its answer; undefined where it has none. */
async function send(method: string, path: string, accept: string, body?: unknown, abort?: AbortSignal): Promise<string | undefined> {
  const init: RequestInit = { method, headers: { Accept: accept, ...sessionHeader() } };
  if (abort) init.signal = abort;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (err) {
    if (abort?.aborted) throw err;
    reachable.value = false;
    throw new Failure(0, { detail: "secateur does not answer", hint: "Is it still running? secateur status tells." });
  }
  reachable.value = true;
  if (answer.status === 204) return undefined;
  const received = await answer.text();
  if (!answer.ok) {
    if (answer.status === 401 && path.startsWith(base)) identity.value = null;
    throw new Failure(answer.status, parsed<Problem>(received) ?? {});
  }
  return received;
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** The values that are set, as a query. */
export function query(values: Record<string, string | number | undefined>): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== "") q.set(name, String(value));
  const text = q.toString();
  return text && "?" + text;
}

export const get = <T>(path: string, abort?: AbortSignal): Promise<T> => ask<T>("GET", base + path, undefined, abort);

export const post = <T>(path: string, body?: unknown, abort?: AbortSignal): Promise<T> => ask<T>("POST", base + path, body ?? {}, abort);

export const remove = (path: string): Promise<void> => ask<void>("DELETE", base + path);

/** All items of a list, a page after the other, at most so many. */
export async function all<T>(path: string, values: Record<string, string | undefined> = {}, most = 5000): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page: List<T> = await get<List<T>>(path + query({ ...values, limit: 1000, cursor }));
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor && items.length < most);
  return items;
}

export async function whoami(): Promise<void> {
  try {
    identity.value = await get<Identity>("/whoami");
  } catch (err) {
    if (!(err instanceof Failure && err.status === 401)) throw err;
  }
}

export async function signIn(token: string): Promise<void> {
  const session = await ask<{ key: string }>("POST", "/ui/session", { token });
  remember(session.key);
  await whoami(); // with the cookie
  if (!identity.value) throw new Failure(401, { detail: "The browser kept no cookie for this page", hint: "Allow cookies for it, and try again", code: "no_cookie" });
}

export async function signOut(): Promise<void> {
  await ask<void>("DELETE", "/ui/session");
  remember("");
  identity.value = null;
}
