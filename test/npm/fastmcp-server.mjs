// A server made with FastMCP, on a pipe: two tools, and a question about roots as soon as a client has come.
import { FastMCP } from "fastmcp";
import { z } from "zod";

const server = new FastMCP({ name: "fast", version: "1.0.0" });
server.addTool({
  name: "add",
  description: "Adds two numbers",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
server.addTool({
  name: "echo",
  description: "Says what it is told",
  parameters: z.object({ message: z.string() }),
  execute: async ({ message }) => "Echo: " + message,
});
await server.start({ transportType: "stdio" });
