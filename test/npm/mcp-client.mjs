// A client made with the TypeScript SDK (legacy era) does what a host would do, and prints one JSON line a step.
// Usage: mcp-client.mjs http|sse URL, or mcp-client.mjs stdio COMMAND ARGUMENTS…; ROOT is the folder it offers as a root.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [kind, target, ...args] = process.argv.slice(2);
const transport = {
  http: () => new StreamableHTTPClientTransport(new URL(target)),
  sse: () => new SSEClientTransport(new URL(target)),
  stdio: () => new StdioClientTransport({ command: target, args, stderr: "inherit" }),
}[kind]();
const say = (step, facts) => console.log(JSON.stringify({ step, ...facts }));

const client = new Client(
  { name: "typescript", version: "1" },
  { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
);
let asker;
client.setRequestHandler(CreateMessageRequestSchema, async (request) => {
  asker = request.params._meta?.["secateur/server"];
  return { role: "assistant", content: { type: "text", text: "sampled" }, model: "m", stopReason: "endTurn" };
});
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "Ada" } }));
client.setRequestHandler(ListRootsRequestSchema, async () => ({
  roots: [{ uri: `file://${process.env.ROOT}`, name: "the test's" }],
}));
const updated = new Promise((resolve) =>
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri)),
);

await client.connect(transport);
say("connected", { server: client.getServerVersion()?.name, tools: !!client.getServerCapabilities()?.tools?.listChanged });

const names = [];
let cursor, pages = 0;
do {
  const page = await client.listTools({ cursor, limit: 10 });
  names.push(...page.tools.map((t) => t.name));
  cursor = page.nextCursor;
  pages++;
} while (cursor);
say("tools", {
  paged: pages === Math.ceil(names.length / 10),
  servers: [...new Set(names.map((n) => n.split("::")[0]))].sort(),
  twice: names.length - new Set(names).size,
});

const text = (result) => result.content.map((c) => c.text ?? c.type).join("|");
const call = async (name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options);
say("echo", { text: text(await call("everything::echo", { message: "Grüße 🌿" })) });
say("file", { text: text(await call("files::read_text_file", { path: `${process.env.ROOT}/note.txt` })) });
await call("memory::create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] });
say("memory", { found: text(await call("memory::search_nodes", { query: "Ada" })).includes("counts") });
say("structured", { content: (await call("everything::get-structured-content", { location: "New York" })).structuredContent });
say("image", { text: text(await call("everything::get-tiny-image")) });
say("links", {
  readable: (await client.readResource({
    uri: (await call("everything::get-resource-links", { count: 1 })).content.find((c) => c.type === "resource_link").uri,
  })).contents.length,
});

let progress = 0;
await call("everything::trigger-long-running-operation", { duration: 1.5, steps: 5 }, { onprogress: () => progress++ });
say("progress", { came: progress >= 2 }); // this SDK drops those that come in the same chunk as the result
say("sampling", { sampled: text(await call("everything::trigger-sampling-request", { prompt: "hi" })).includes("sampled"), asker });
say("elicitation", { name: text(await call("everything::trigger-elicitation-request")).includes("Name: Ada") });
say("roots", { found: text(await call("everything::get-roots-list")).includes("the test's") });

const { resources } = await client.listResources();
const document = resources.find((r) => r.name === "features.md");
const read = await client.readResource({ uri: document.uri });
say("resource", { same: read.contents[0].uri === document.uri, text: read.contents[0].text.slice(0, 30) });
const { resourceTemplates } = await client.listResourceTemplates();
const dynamic = resourceTemplates.find((t) => t.name === "Dynamic Text Resource").uriTemplate.replace("{resourceId}", "5");
await client.subscribeResource({ uri: dynamic });
await call("everything::toggle-subscriber-updates");
say("updated", { same: (await updated) === dynamic });
await client.unsubscribeResource({ uri: dynamic });
await call("everything::toggle-subscriber-updates");

const { prompts } = await client.listPrompts();
say("prompts", { names: prompts.map((p) => p.name).filter((n) => n.startsWith("everything::")).length });
const prompt = await client.getPrompt({ name: "everything::args-prompt", arguments: { city: "Paris" } });
say("prompt", { text: prompt.messages[0].content.text });
const completion = await client.complete({
  ref: { type: "ref/prompt", name: "everything::completable-prompt" },
  argument: { name: "name", value: "A" },
  context: { arguments: { department: "Engineering" } },
});
say("completion", { values: completion.completion.values });
await client.setLoggingLevel("error");
await client.ping();
try {
  await client.callTool({ name: "everything::no-such-tool", arguments: {} }).then((r) => say("unknown", { failed: r.isError === true }));
} catch {
  say("unknown", { failed: true });
}
await client.close();
