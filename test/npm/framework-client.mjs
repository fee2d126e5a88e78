// Lists and calls tools as an agent framework does, and prints what it saw as one JSON line.
// Usage: framework-client.mjs ai-sdk|langchain|openai-agents URL, or … sdk COMMAND ARGUMENTS…, or … sdk URL (http, sse or ws)
const [framework, target, ...args] = process.argv.slice(2);

// Each gives the names that its model would be shown, a way to call, and a way to end.
const frameworks = {
  async "ai-sdk"() {
    const { createMCPClient } = await import("@ai-sdk/mcp");
    const client = await createMCPClient({ transport: { type: "http", url: target } });
    const tools = await client.tools();
    return {
      names: Object.keys(tools),
      call: async (name, input) => text(await tools[name].execute(input, { toolCallId: "1", messages: [] })),
      end: () => client.close(),
    };
  },
  async langchain() {
    const { MultiServerMCPClient } = await import("@langchain/mcp-adapters");
    const client = new MultiServerMCPClient({ mcpServers: { secateur: { transport: "http", url: target } } });
    const tools = await client.getTools();
    return {
      names: tools.map((t) => t.name),
      call: (name, input) => tools.find((t) => t.name === name).invoke(input),
      end: () => client.close(),
    };
  },
  async "openai-agents"() {
    const { MCPServerStreamableHttp } = await import("@openai/agents");
    // By itself it gives up after five seconds, which any of the processes may take on a busy machine.
    const client = new MCPServerStreamableHttp({ url: target, clientSessionTimeoutSeconds: 60 });
    await client.connect();
    return {
      names: (await client.listTools()).map((t) => t.name),
      call: async (name, input) => text({ content: await client.callTool(name, input) }),
      end: () => client.close(),
    };
  },
  // The protocol's own SDK, for what stands between it and secateur.
  async sdk() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const client = new Client({ name: "framework-test", version: "1" });
    await client.connect(await transport());
    return {
      names: (await client.listTools()).tools.map((t) => t.name),
      call: async (name, input) => text(await client.callTool({ name, arguments: input })),
      end: () => client.close(),
    };
  },
};

async function transport() {
  const sdk = "@modelcontextprotocol/sdk/client/";
  if (target.startsWith("ws:")) return new (await import(sdk + "websocket.js")).WebSocketClientTransport(new URL(target));
  if (target.endsWith("/sse")) return new (await import(sdk + "sse.js")).SSEClientTransport(new URL(target));
  if (target.startsWith("http:")) return new (await import(sdk + "streamableHttp.js")).StreamableHTTPClientTransport(new URL(target));
  return new (await import(sdk + "stdio.js")).StdioClientTransport({ command: target, args, stderr: "inherit" });
}

const text = (result) => result.content.map((c) => c.text ?? c.type).join("|");

const client = await frameworks[framework]();
const tool = (ending) => client.names.find((n) => n.endsWith(ending));
const echo = tool("echo");
console.log(JSON.stringify({
  // What every model's API takes.
  usable: client.names.every((n) => /^[a-zA-Z0-9_-]{1,64}$/.test(n)),
  echo, said: await client.call(echo, { message: "Grüße" }),
  sum: await client.call(tool("add"), { a: 2, b: 3 }),
}));
await client.end();
process.exit(0);
