// A client made with the TypeScript SDK finds a tool that is not listed, and calls it. Usage: search-client.mjs URL
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const say = (step, facts) => console.log(JSON.stringify({ step, ...facts }));
const client = new Client({ name: "typescript", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
say("told", { hint: client.getInstructions().includes("Tools beyond those listed: find_tools") });
const before = await client.listTools();
say("listed", { names: before.tools.map((t) => t.name).filter((n) => !n.startsWith("pruner")) });
const found = await client.callTool({ name: "find_tools", arguments: { query: "echo a message back" } });
say("found", { first: found.structuredContent.tools[0].name });
const name = found.structuredContent.tools[0].name;
const called = await client.callTool({ name: "call_tool", arguments: { name, arguments: { message: "hi" } } });
say("called", { text: called.content[0].text });
const wrong = await client.callTool({ name: "call_tool", arguments: { name, arguments: {} } });
say("wrong", { isError: wrong.isError, schema: wrong.content[0].text.includes("schema: {") });
say("same", { list: JSON.stringify(await client.listTools()) === JSON.stringify(before) });
await client.close();
