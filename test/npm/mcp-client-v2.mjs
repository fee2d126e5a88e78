// A client made with version 2 of the TypeScript SDK, which speaks both eras; it prints one JSON line a step.
// Usage: mcp-client-v2.mjs legacy|auto|2026-07-28 http URL, or … stdio COMMAND ARGUMENTS…
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, kind, target, ...args] = process.argv.slice(2);
const transport = {
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  stdio: () => new StdioClientTransport({ command: target, args, stderr: "inherit" }),
}[kind]();
const say = (step, facts) => console.log(JSON.stringify({ step, ...facts }));

const client = new Client(
  { name: "typescript", version: "2" },
  {
    capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } },
    versionNegotiation: { mode: mode.startsWith("2") ? { pin: mode } : mode },
  },
);
client.setRequestHandler("sampling/createMessage", async () => ({
  role: "assistant", content: { type: "text", text: "sampled" }, model: "m", stopReason: "endTurn",
}));
client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "Ada", color: "green", ok: true } }));
client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: `file://${process.env.ROOT}`, name: "the test's" }] }));
const heard = {};
const hears = (method) => new Promise((resolve) => client.setNotificationHandler(method, (n) => resolve(n.params ?? {})));
heard.tools = hears("notifications/tools/list_changed");
heard.updated = hears("notifications/resources/updated");

await client.connect(transport);
say("connected", { era: client.getProtocolEra(), server: client.getServerVersion()?.name });
const text = (result) => result.content.map((c) => c.text ?? c.type).join("|");
const call = async (name, args = {}, options) => client.callTool({ name, arguments: args }, options);

const { tools } = await client.listTools();
say("tools", { servers: [...new Set(tools.map((t) => t.name.split("::")[0]))].sort() });
say("echo", { text: text(await call("everything::echo", { message: "Grüße 🌿" })) });
say("file", { text: text(await call("files::read_text_file", { path: `${process.env.ROOT}/note.txt` })) });
say("asked by a legacy server", {
  elicitation: text(await call("everything::trigger-elicitation-request")).includes("Name: Ada"),
  sampling: text(await call("everything::trigger-sampling-request", { prompt: "hi" })).includes("sampled"),
});
say("asked by a modern server", {
  elicitation: text(await call("modern::test_input_required_result_elicitation")),
  sampling: text(await call("modern::test_input_required_result_sampling")).includes("sampled"),
  roots: text(await call("modern::test_input_required_result_list_roots")).includes("file://"),
  all: text(await call("modern::test_input_required_result_multiple_inputs")).length > 0,
  rounds: text(await call("modern::test_input_required_result_multi_round")).includes("green"),
});
let progress = 0;
await call("everything::trigger-long-running-operation", { duration: 1.5, steps: 5 }, { onprogress: () => progress++ });
say("progress", { came: progress >= 2 }); // the SDK may drop those that come in the same chunk as the result

const { resources } = await client.listResources();
const watched = resources.find((r) => r.name === "watched-resource").uri;
const read = await client.readResource({ uri: watched });
say("resource", { same: read.contents[0].uri === watched });
const prompt = await client.getPrompt({ name: "everything::args-prompt", arguments: { city: "Paris" } });
say("prompt", { text: prompt.messages[0].content.text });

if (client.getProtocolEra() === "modern") {
  const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [watched] });
  say("listening", { honoured: subscription.honoredFilter.toolsListChanged, watched: subscription.honoredFilter.resourceSubscriptions?.[0] === watched });
  await call("modern::test_trigger_tool_change");
  await heard.tools;
  say("updated", { same: (await heard.updated).uri === watched });
  await subscription.close();
} else {
  await client.subscribeResource({ uri: watched });
  await call("modern::test_trigger_tool_change");
  await heard.tools;
  say("updated", { same: (await heard.updated).uri === watched });
}
try {
  say("unknown", { failed: (await call("everything::no-such-tool")).isError === true });
} catch {
  say("unknown", { failed: true });
}
await client.close();
