// Drives the dashboard in Chromium as a person would, on the real program with real servers. The plan comes as JSON in PLAN; what fails is
// written to standard output, a line each, and the exit status tells whether anything did.
import { spawn, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { corpus } from "./hostile-corpus.mjs";

const plan = JSON.parse(process.env.PLAN);
const base = `http://127.0.0.1:${plan.port}`;
const patience = Number(process.env.PATIENCE ?? 60_000);
const axe = readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
rmSync(plan.shots, { recursive: true, force: true });
mkdirSync(plan.shots, { recursive: true });

let failures = 0;
async function step(name, act) {
  const began = performance.now();
  try {
    await act();
    console.log(`ok ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (err) {
    failures++;
    console.log(`FAIL ${name}: ${err?.stack ?? err}`);
    await page?.screenshot({ path: `${plan.shots}/failed-${failures}.png` }).catch(() => {});
  }
}

// The program, on a port of its own, so that it can be had again where it was.
let program;
async function startProgram(config = plan.config, address = base, more = {}) {
  program = spawn(plan.binary, ["serve", "--config", config], { env: { ...env, ...more }, stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(program, "exit");
  for (;;) {
    try {
      if ((await fetch(`${address}/readyz`)).status === 200) return;
    } catch {
      // not listening yet
    }
    const over = await Promise.race([ended, new Promise((go) => setTimeout(go, 100, null))]);
    if (over) throw new Error(`secateur ended with ${over[0]}`);
  }
}
async function stopProgram() {
  const ended = once(program, "exit");
  program.kill("SIGTERM");
  await ended;
}

// A provider that answers every request alike, and tells what it counted. It is also a remote MCP server that wants somebody to sign in, and
// the authorization server for that, which asks no questions.
const provider = createServer((req, res) => {
  let body = "";
  const own = `http://${req.headers.host}`;
  const at = new URL(req.url, own);
  const say = (value, status = 200) => {
    res.writeHead(status, { "content-type": "application/json" });
    res.end(JSON.stringify(value));
  };
  if (at.pathname === "/mcp" && !req.headers.authorization) return void res.writeHead(401, { "www-authenticate": "Bearer" }).end();
  if (at.pathname.startsWith("/.well-known/oauth-protected-resource")) return say({ resource: `${own}/mcp`, authorization_servers: [own] });
  if (at.pathname === "/.well-known/oauth-authorization-server") {
    return say({ issuer: own, authorization_endpoint: `${own}/authorize`, token_endpoint: `${own}/token`, registration_endpoint: `${own}/register`, code_challenge_methods_supported: ["S256"] });
  }
  if (at.pathname === "/register") return say({ client_id: "dashboard" }, 201);
  if (at.pathname === "/authorize") {
    return void res.writeHead(302, { location: `${at.searchParams.get("redirect_uri")}?code=c&state=${encodeURIComponent(at.searchParams.get("state"))}` }).end();
  }
  if (at.pathname === "/token") return say({ access_token: "opaque", token_type: "Bearer", expires_in: 3600 });
  req.on("data", (chunk) => (body += chunk));
  req.on("end", () => {
    res.setHeader("content-type", "application/json");
    const tokens = Math.round(body.length / 4);
    res.end(JSON.stringify({
      id: "x", object: "chat.completion", model: "m", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "seen" } }],
      usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1, prompt_tokens_details: { cached_tokens: Math.round(tokens / 2) } },
    }));
  });
}).listen(0, "127.0.0.1");
await once(provider, "listening");
const env = { ...process.env, ...plan.env, PROVIDER_PORT: String(provider.address().port) };

const bearer = { authorization: `Bearer ${plan.token}`, "content-type": "application/json" };
const api = async (path, init = {}) => fetch(`${base}/api/v1${path}`, { headers: bearer, ...init });
const call = async (server, tool) =>
  (await fetch(`${base}/api/mcp-gateway/${server}/rpc`, { method: "POST", headers: bearer, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: {} } }) })).text();

async function converse(model, results) {
  const messages = [{ role: "user", content: "Why does the build fail?" }];
  for (let i = 0; i <= results.length; i++) {
    const res = await fetch(`${base}/v1/chat/completions`, { method: "POST", headers: bearer, body: JSON.stringify({ model, messages }) });
    assert.equal(res.status, 200, await res.text());
    if (i === results.length) break;
    messages.push({ role: "assistant", content: null, tool_calls: [{ id: `call_${i}`, type: "function", function: { name: "read_log", arguments: `{"goal":"the failing test"}` } }] });
    messages.push({ role: "tool", tool_call_id: `call_${i}`, content: results[i] });
  }
}

const browser = await chromium.launch({ executablePath: plan.chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", reducedMotion: "reduce" });
context.setDefaultTimeout(patience);
const complaints = [];
function watch(p) {
  p.on("console", (m) => { if (m.type() === "error" && !/status of (401|503)|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/.test(m.text())) complaints.push(m.text()); });
  p.on("pageerror", (e) => complaints.push(String(e)));
  p.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
  p.on("request", (r) => { if (!r.url().startsWith(base)) complaints.push(`asked elsewhere: ${r.url()}`); });
}
let page = await context.newPage();
watch(page);

const go = async (path, heading) => {
  await page.goto(`${base}/ui/${path}`);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
};
const seen = (text) => page.getByText(text, { exact: false }).filter({ visible: true }).first().waitFor();

await step("a fresh program: every page says what to do next", async () => {
  const fresh = `http://127.0.0.1:${plan.freshPort}`;
  await startProgram(plan.fresh, fresh, { XDG_STATE_HOME: `${plan.env.XDG_STATE_HOME}-fresh` });
  const first = await context.newPage();
  for (const [path, title, line] of [
    ["live", "Nothing has happened yet", /^secateur connect /],
    ["savings", "Nothing to count yet", /^export OPENAI_BASE_URL=/],
    ["cuts", "Nothing has been cut yet", /^secateur connect /],
    ["servers", "No server is configured", /^secateur add /],
    ["conversations", "No conversation yet"],
    ["playground/conversation", "Paste a request to a model", /^secateur replay /],
  ]) {
    await first.goto(`${fresh}/ui/${path}`);
    await first.getByRole("heading", { name: title }).waitFor();
    if (line) assert.match(await first.locator(".paste code").first().textContent(), line, path);
    await first.screenshot({ path: `${plan.shots}/fresh-${path.replace("/", "-")}.png` });
  }
  await first.goto(`${fresh}/ui/access`);
  await first.getByRole("region", { name: "Rules" }).waitFor();
  await first.screenshot({ path: `${plan.shots}/fresh-access.png` });
  assert.equal(await first.getByRole("button", { name: /sign out/i }).count(), 0, "nobody has signed in");
  await first.close();
  await stopProgram();
});

await startProgram();
await step("a stranger is asked for a token, once", async () => {
  let bytes = 0;
  const sizes = [];
  const weigh = (r) => { if (r.url().startsWith(`${base}/ui/`)) sizes.push(r.request().sizes().then((s) => (bytes += s.responseBodySize))); };
  page.on("response", weigh);
  await page.goto(`${base}/`);
  const field = page.getByLabel("Token of the role admin");
  await field.fill("not-the-token");
  await page.keyboard.press("Enter");
  await page.getByText(/not valid|wrong|unknown/i).first().waitFor();
  await field.fill(plan.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Live" }).waitFor();
  page.off("response", weigh);
  await Promise.all(sizes);
  console.log(`first load: ${bytes} bytes`);
  assert.ok(bytes > 0 && bytes <= 150_000, `${bytes} bytes`);
  const [cookie] = await context.cookies(`${base}/api/v1/status`);
  assert.ok(cookie.httpOnly && cookie.sameSite === "Strict" && cookie.path === "/api/v1", JSON.stringify(cookie));
  assert.deepEqual(await context.cookies(`${base}/mcp`), []);
  assert.equal(await page.evaluate(() => document.cookie), "");
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.ok(!kept.includes(plan.token) && !kept.includes(cookie.value), kept);
  assert.equal(await page.evaluate(() => fetch("/api/v1/status").then((r) => r.status)), 401, "the cookie without the page's half");
  await page.addInitScript(() => {
    new MutationObserver((_, seen) => {
      if (!document.querySelector("h1")) return;
      seen.disconnect();
      window.interactive = performance.now();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Live" }).waitFor();
  console.log(`interactive after ${Math.round(await page.evaluate(() => window.interactive))} ms`);
});

await step("live: what happens is there at once", async () => {
  await go("live", "Live");
  await page.getByRole("status").filter({ hasText: "connected" }).waitFor();
  for (const tool of ["read_log", "read_source", "read_json"]) await call("demo", tool);
  await page.getByRole("row", { name: /demo::read_json/ }).waitFor();
  await page.getByRole("row", { name: /demo::read_log/ }).waitFor();
});

await step("live: pause, filter, and one request in a drawer", async () => {
  await page.getByRole("button", { name: "Pause" }).click();
  await call("everything", "echo");
  const echo = page.getByRole("row", { name: /everything::echo/ });
  await page.getByRole("button", { name: /Resume, \d+ new/ }).waitFor();
  assert.equal(await echo.count(), 0, "a paused page goes on");
  await page.getByRole("button", { name: "Resume" }).click();
  await echo.waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("server:everything");
  await page.getByRole("row", { name: /demo::/ }).first().waitFor({ state: "detached" });
  await page.getByRole("row", { name: /everything::echo/ }).first().click();
  await page.getByText(/request id/i).first().waitFor();
  await page.getByTestId("payload-request").getByText('"method":"tools/call"').waitFor();
  await page.getByTestId("payload-answer").locator("pre").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox", { name: "Filter" }).fill("");
  await page.getByRole("row", { name: /demo::/ }).first().waitFor();
});

await step("what servers, tools and models are called is shown as text", async () => {
  for (const text of corpus) await call("hostile", text);
  await converse(corpus[0], [`${corpus.join("\n")}\n`.repeat(400)]);
  await seen(corpus[0]);
  for (const [path, heading] of [["servers/hostile", "Servers"], ["cuts", "Cuts"], ["savings", "Savings"], ["access", "Access"], ["live", "Live"]]) {
    await go(path, heading);
    await seen(path === "access" ? "Refused lately" : corpus[0]);
    assert.equal(await page.evaluate(() => window.hurt), undefined, path);
  }
  await go("cuts", "Cuts");
  await page.getByRole("link").filter({ hasText: corpus[0] }).first().click();
  await page.getByRole("button", { name: /copy/i }).first().waitFor();
  assert.equal(await page.evaluate(() => window.hurt), undefined, "cut");
});

await step("savings: money, a conversation request by request, a table for a spreadsheet", async () => {
  const lines = readFileSync(plan.log, "utf8").split("\n");
  await converse("p/model-m", [lines.slice(100).join("\n"), lines.toReversed().join("\n")]);
  await go("savings", "Savings");
  await seen("What is measured, what is estimated");
  for (const by of ["Model", "Tool", "Server", "Feature"]) await page.getByRole("group", { name: "Group by" }).getByRole("button", { name: by }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.match(readFileSync(await download.path(), "utf8"), /spent_usd,passthrough_usd/);
  await page.locator('a[href*="/ui/conversations/"]').first().click();
  await seen(/passing through/i);
  const resume = page.getByRole("region", { name: "To go on with it" });
  const { id } = (await (await api("/conversations?limit=1")).json()).items[0];
  const figures = (await (await api(`/conversations/${id}`)).json()).resume;
  assert.ok(figures.warm_usd > 0 && figures.warm_usd < figures.cold_usd && figures.cold_usd < figures.passthrough_cold_usd, JSON.stringify(figures));
  for (const label of ["At once, cache warm", "Later, cache cold", "Cold, passing through"]) await resume.getByText(label).waitFor();
  await resume.getByText(/\$\d/).first().waitFor();
});

await step("cuts: before and after; search, copy, and the original again", async () => {
  await go("cuts", "Cuts");
  await page.getByRole("link").filter({ hasText: "demo::read_log" }).first().click();
  await page.waitForURL(/\/ui\/cuts\/prn_/);
  const texts = page.getByRole("region", { name: "Texts" });
  await texts.getByRole("button", { name: /lines removed/ }).first().waitFor();
  await texts.getByText(/KIMI_PROXY_OBSERVATION_MASKED original_chars=/).first().waitFor();
  await page.getByRole("article").getByText("not recovered").waitFor();
  await page.getByRole("searchbox", { name: "Search inside" }).fill("discount");
  await page.getByRole("status").filter({ hasText: /^1 of \d+/ }).waitFor();
  await texts.locator("mark").first().waitFor();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
  await page.getByRole("button", { name: "Copy the text before" }).click();
  await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
  const original = readFileSync(plan.log, "utf8");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), original);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByTestId("recover").click()]);
  assert.equal(readFileSync(await file.path(), "utf8"), original);
  await page.getByRole("article").getByText(/^recovered/).first().waitFor();
  await page.getByTestId("cut-row").filter({ hasText: "demo::read_log" }).filter({ hasText: "recovered" }).first().waitFor();
  const pruned = (await (await api("/cuts?feature=pruned&limit=1000")).json()).items.find((c) => c.model.startsWith("p/"));
  await go(`cuts/${pruned.id}`, "Cuts");
  await page.getByRole("article").getByText("the failing test").waitFor();
  await page.getByRole("region", { name: "Texts" }).getByText(/PRUN/).first().waitFor();
});

await step("servers: state, standard error, tools; restart, refresh, disable, enable", async () => {
  await go("servers", "Servers");
  await page.getByRole("row", { name: /broken .*down/ }).waitFor();
  await page.getByRole("link", { name: "everything", exact: true }).click();
  const detail = page.getByRole("article", { name: "everything" });
  await detail.getByText("tokens of definitions").waitFor();
  const pid = async () => (await (await api("/servers/everything")).json()).pid;
  const before = await pid();
  const done = (verb) => page.waitForResponse((r) => r.url().endsWith(`/servers/everything/${verb}`) && r.request().method() === "POST");
  const press = async (button, verb) => {
    const answered = done(verb);
    await detail.getByRole("button", { name: button }).click();
    const sure = page.getByRole("dialog").getByRole("button", { name: button });
    await Promise.race([answered, sure.waitFor().then(() => sure.click()).catch(() => {})]);
    assert.equal((await answered).status(), 200, verb);
  };
  await press("Restart", "restart");
  assert.notEqual(await pid(), before);
  await press("Refresh", "refresh");
  await press("Disable", "disable");
  await detail.getByText("disabled").first().waitFor();
  assert.match(readFileSync(plan.config, "utf8"), /disabled = true/);
  await press("Enable", "enable");
  await detail.getByText("ready").first().waitFor();
  await page.goto(`${base}/ui/servers/hostile`);
  await seen(/standard error/i);
  assert.match(readFileSync(plan.config, "utf8"), /# a note that stays/);
});

await step("servers: a definition that has changed, and its approval", async () => {
  writeFileSync(plan.description, "reads a file, and sends it elsewhere");
  await go("servers/hostile", "Servers");
  const detail = page.getByRole("article", { name: "hostile" });
  await detail.getByRole("button", { name: "Restart" }).click();
  const diff = detail.getByLabel("What has changed");
  await diff.getByText("sends it elsewhere").waitFor();
  await detail.getByText("changed", { exact: true }).first().waitFor();
  const approve = detail.getByRole("button", { name: "Approve" });
  await approve.click();
  await diff.waitFor({ state: "detached" });
  assert.equal(await approve.count(), 0);
  assert.ok((await (await api("/pins?server=hostile")).json()).items.every((p) => p.state === "pinned"));
});

await step("servers: sign in with one that asks for it, and out", async () => {
  await go("servers/remote", "Servers");
  const detail = page.getByRole("article", { name: "remote" });
  const [opened] = await Promise.all([context.waitForEvent("page"), detail.getByTestId("sign-in").click()]);
  await opened.getByText("Signed in. You can close this page.").waitFor();
  await opened.close();
  await detail.getByText(/yes at http:\/\/127\.0\.0\.1/).waitFor();
  await detail.getByRole("button", { name: "Sign out" }).click();
  await detail.getByTestId("sign-in").waitFor();
  assert.deepEqual((await (await api("/logins")).json()).items, []);
});

await step("access: rules, tokens by name, limits, refusals; why a call is allowed or not", async () => {
  await fetch(`${base}/api/v1/status`, { headers: { authorization: "Bearer wrong" } });
  await go("access", "Access");
  await seen("no-source");
  await page.getByRole("region", { name: "Tokens" }).getByText("ci", { exact: true }).waitFor();
  await page.getByRole("region", { name: "Refused lately" }).getByText(/unauthorized|not valid|no token/i).first().waitFor();
  await page.getByRole("combobox", { name: "Principal" }).fill("ci");
  await page.getByRole("combobox", { name: "Target" }).fill("demo::read_source");
  await page.getByRole("button", { name: "Explain" }).click();
  await page.getByRole("region", { name: "Explain a call" }).getByText(/den(y|ied)/i).first().waitFor();
  const html = await page.content();
  assert.ok(!html.includes(plan.token) && !html.includes("sha256:"), "a secret is on the page");
});

await step("playground: what 'secateur prune' answers", async () => {
  await go("playground", "Playground");
  const text = readFileSync(plan.log, "utf8");
  const goal = "why does the discount test fail";
  await page.getByTestId("play-goal").fill(goal);
  // As a paste puts it there; to type it would take a minute.
  await page.getByTestId("play-text").evaluate((field, text) => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, text);
  await page.getByTestId("tab-out").click();
  const prune = (ratio) =>
    JSON.parse(execFileSync(plan.binary, ["prune", "--config", plan.config, "--json", "--goal", goal, "--ratio", ratio], { input: text, env, stdio: ["pipe", "pipe", "ignore"], maxBuffer: 1 << 26 }));
  const shows = async (result) => {
    const words = `${result.stats.tokens_est_after.toLocaleString("en-US")} of ${result.stats.tokens_est_before.toLocaleString("en-US")}`;
    await page.getByTestId("play-tokens").and(page.getByTitle(words, { exact: true })).waitFor();
    assert.equal(await page.getByTestId("play-result").textContent(), result.pruned_text);
  };
  await shows(prune(await page.getByTestId("play-ratio").inputValue()));
  await page.getByTestId("play-ratio").fill("0.3");
  await shows(prune("0.3"));
  await page.getByTestId("tab-all").click();
  await page.getByText("PRUNÉ").first().waitFor();
});

await step("playground: what would go out of a conversation, and what it would have cost", async () => {
  await go("playground/conversation", "Playground");
  await page.getByRole("button", { name: "Use an example" }).click();
  assert.match(await page.getByTestId("play-request").inputValue(), /"name": "read_log"/);
  await page.getByTestId("play-submit").click();
  await page.getByRole("region", { name: "What it would have cost" }).getByText(/passing through|passthrough/i).first().waitFor();
  await page.getByRole("region", { name: "What would change" }).getByText("pruned").first().waitFor();
  await page.getByLabel("The request that goes out").getByText(/"model"/).first().waitFor();
  await page.screenshot({ path: `${plan.shots}/playground-answered.png` });
});

await step("keyboard: go, filter, help", async () => {
  await go("live", "Live");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForURL(/\/ui\/(savings|servers)/);
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
});

await step("other sites get nothing: no request in this browser's name, no frame", async () => {
  const site = createServer((_, res) => { res.setHeader("content-type", "text/html"); res.end("<!doctype html><title>elsewhere</title>"); }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${site.address().port}/`);
  const refused = async () => (await (await api("/refusals?limit=1000")).json()).items.filter((r) => r.reason === "forbidden").length;
  const before = await refused();
  await other.evaluate(async (base) => {
    await fetch(`${base}/api/v1/servers/demo/restart`, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }).catch(() => {});
    await fetch(`${base}/api/v1/status`, { mode: "no-cors", credentials: "include" }).catch(() => {});
  }, base);
  assert.equal(await refused(), before + 2);
  assert.equal(await other.evaluate((base) => fetch(`${base}/api/v1/status`, { credentials: "include" }).then(() => "read", () => "refused"), base), "refused");
  await other.evaluate((address) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = done;
    frame.src = address;
    document.body.append(frame);
  }), `${base}/ui/`);
  assert.ok(!other.frames().some((f) => f.url().startsWith(base)), "it was framed");
  await other.close();
  site.close();
  site.closeAllConnections();
});

await step("ten thousand requests: few rows in the page, and it scrolls", async () => {
  const lines = ["retry: 600000\n"];
  for (let i = 0; i < 10_000; i++) {
    lines.push(`id: flood-${i}\nevent: request\ndata: ${JSON.stringify({ request_id: `r${i}`, door: "mcp", server: "demo", method: "tools/call", tool: `tool_${i}`, outcome: "ok", ms: i % 50, bytes_in: i, bytes_out: i, subject: "ci", at: new Date(1.8e12 + i * 10).toISOString() })}\n`);
  }
  const flooded = await context.newPage();
  watch(flooded);
  await flooded.route("**/api/v1/events*", (r) => r.fulfill({ headers: { "content-type": "text/event-stream" }, body: lines.join("\n") + "\n" }));
  await flooded.goto(`${base}/ui/live`);
  await flooded.getByText(/10,000 requests/).waitFor();
  await flooded.getByRole("row", { name: /demo::tool_9999/ }).waitFor();
  const rows = await flooded.getByRole("row").count();
  assert.ok(rows < 200, `${rows} rows`);
  await flooded.getByRole("row", { name: /demo::tool_9999/ }).hover();
  await flooded.mouse.wheel(0, 1e7);
  await flooded.getByRole("row", { name: /demo::tool_0 / }).waitFor();
  await flooded.close();
});

// Every page, its heading, and what is there once it has what it asked for.
const pages = [
  ["live", "Live", () => page.getByRole("row", { name: /::/ })],
  ["savings", "Savings", () => page.locator('a[href*="/ui/conversations/"]')],
  ["cuts", "Cuts", () => page.locator('a[href*="/ui/cuts/"]')],
  ["servers", "Servers", () => page.getByRole("row", { name: /broken/ })],
  ["servers/everything", "Servers", () => page.getByText("tokens of definitions")],
  ["access", "Access", () => page.getByText("no-source")],
  ["playground", "Playground", () => page.getByTestId("play-text")],
  ["playground/conversation", "Playground", () => page.getByTestId("play-request")],
];
await step("every page, light and dark, wide and narrow: nothing serious for axe, nothing past the edge", async () => {
  const cut = (await (await api("/cuts?limit=1000")).json()).items.find((c) => c.server === "demo" && c.tool === "read_log").id;
  const talk = (await (await api("/conversations?limit=1")).json()).items[0].id;
  const found = [];
  const all = [...pages, [`cuts/${cut}`, "Cuts", () => page.getByRole("region", { name: "Texts" }), "cuts-one"], [`conversations/${talk}`, /Conversation/, () => page.getByRole("region", { name: "Requests" }), "conversation"]];
  for (const [path, heading, content, name = path.replace("/", "-")] of all) {
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await go(path, heading);
      await content().filter({ visible: true }).first().waitFor();
      await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "hidden" });
      await page.evaluate(axe);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        await page.screenshot({ path: `${plan.shots}/${name}-${colorScheme}-${width}.png` });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (wide > 0) found.push(`${path} ${colorScheme} ${width}: ${wide} px past the edge`);
        if (width === 360 && colorScheme === "light") continue; // what differs with the width is the layout, and that is the same in both
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        for (const v of violations.filter((v) => ["serious", "critical"].includes(v.impact))) found.push(`${path} ${colorScheme} ${width}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
      }
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(found, []);
});

await step("a restart of secateur: the page finds it again", async () => {
  await go("live", "Live");
  await page.getByRole("status").filter({ hasText: "connected" }).waitFor();
  await stopProgram();
  await page.getByRole("status").filter({ hasText: "reconnecting" }).waitFor();
  await startProgram(); // which ends its sessions
  await page.getByLabel("Token of the role admin").fill(plan.token);
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "connected" }).waitFor();
  await call("demo", "no_such_tool"); // shown as "other", and not called before
  await page.getByRole("row", { name: /demo::other/ }).waitFor();
});

const reports = async () => (await (await api("/events?types=log&after=0&follow=false")).text()).split("\n").filter((l) => l.includes("content security policy"));
await step("no page broke its policy, and a page that does is reported", async () => {
  assert.deepEqual(complaints, []);
  assert.deepEqual(await reports(), []);
  await page.evaluate(() => { const i = document.createElement("img"); i.src = "https://evil.example/x.png"; document.body.append(i); });
  const log = await api("/events?types=log&after=0", { signal: AbortSignal.timeout(patience) });
  let told = "";
  for await (const chunk of log.body.pipeThrough(new TextDecoderStream())) {
    told += chunk;
    if (/content security policy.*img-src/.test(told)) break; // the wait for it has an end: the signal's
  }
});

await step("a token that is revoked ends the session of its browser", async () => {
  const secateur = (...args) => execFileSync(plan.binary, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const token = secateur("token", "new", "browser", "--role", "admin", "--config", plan.config).trim();
  const other = await browser.newContext({ locale: "en-US", reducedMotion: "reduce" });
  other.setDefaultTimeout(patience);
  const theirs = await other.newPage();
  await theirs.goto(`${base}/ui/live`);
  const field = theirs.getByLabel("Token of the role admin");
  await field.waitFor();
  // The program follows the file of tokens within two seconds.
  for (let status = 0; status !== 200; ) status = await theirs.evaluate((token) => new Promise((go) => setTimeout(go, 200)).then(() => fetch("/ui/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }) })).then(async (r) => (r.ok && localStorage.setItem("secateur-session", (await r.json()).key), r.status)), token);
  await theirs.reload();
  await theirs.getByRole("status").filter({ hasText: "connected" }).waitFor();
  secateur("token", "revoke", "browser", "--config", plan.config);
  await field.waitFor();
  assert.equal(await theirs.evaluate(() => fetch("/api/v1/status").then((r) => r.status)), 401);
  await other.close();
});

await step("signed out, nothing is to be had", async () => {
  await go("live", "Live");
  await page.getByRole("button", { name: /sign out/i }).click();
  await page.getByLabel("Token of the role admin").waitFor();
  assert.deepEqual(await context.cookies(`${base}/api/v1/status`), []);
  assert.equal(await page.evaluate(() => fetch("/api/v1/status").then((r) => r.status)), 401);
});

await browser.close();
await stopProgram();
provider.close();
provider.closeAllConnections();
process.exit(failures ? 1 : 0);
