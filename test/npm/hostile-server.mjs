// An MCP server whose names, results and errors are what a page must show as text: markup, scripts, addresses, control characters. Its first tool
// is described by the file DESCRIPTION, which may change.
import { readFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { corpus } from "./hostile-corpus.mjs";

const server = new Server({ name: corpus[0], version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: corpus.map((text, i) => ({ name: text, title: text, description: i ? text : readFileSync(process.env.DESCRIPTION, "utf8"), inputSchema: { type: "object", properties: { [text]: { type: "string", description: text } } } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  console.error(params.name);
  if (corpus.indexOf(params.name) % 2) throw new Error(params.name);
  return { content: [{ type: "text", text: `${corpus.join("\n")}\n`.repeat(200) }] };
});
await server.connect(new StdioServerTransport());
