// Reads a big file through server-filesystem, which says it twice: as text and as structured content. The SDK's client
// checks the latter against the tool's outputSchema; LangChain hands a model both. Prints lengths as one JSON line.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";

const [url, path] = process.argv.slice(2);
const client = new Client({ name: "structured", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools(); // from here on results are checked
const name = "files::read_text_file";
const result = await client.callTool({ name, arguments: { path } });
const id = (text) => text.match(/ id=(prn_\w+)/)?.[1];
const structured = result.structuredContent.content;

const langchain = new MultiServerMCPClient({ mcpServers: { secateur: { transport: "http", url } } });
const read = (await langchain.getTools()).find((t) => t.name.endsWith("read_text_file"));
const message = await read.invoke({ type: "tool_call", id: "1", name: read.name, args: { path } });

console.log(JSON.stringify({
  declared: Boolean(tools.find((t) => t.name === name).outputSchema),
  text: result.content[0].text.length, structured: structured.length,
  sameOriginal: id(result.content[0].text) === id(structured),
  shown: JSON.stringify(message.content).length,
}));
await client.close();
await langchain.close();
process.exit(0);
