// Plays an agent's loop with Anthropic's own client: the answer is streamed or not in turns, each turn's tokens are counted, every call is
// answered with the text of the file that it names, until the model calls no more. BASE_URL names the proxy, FILES the directory, MODEL
// the model. Prints one JSON object a turn.
import Anthropic from "@anthropic-ai/sdk";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const client = new Anthropic({ baseURL: process.env.BASE_URL, apiKey: "sk-ant-client", maxRetries: 0 });
const say = (value) => console.log(JSON.stringify(value));
const ttl = process.env.TTL ? { ttl: process.env.TTL } : {};
const tools = [{ name: "read_file", description: "Reads a file.", input_schema: { type: "object", properties: { path: { type: "string" } } } }];
const system = [{ type: "text", text: "You look into build logs. ".repeat(120), cache_control: { type: "ephemeral", ...ttl } }];
const pixel = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const messages = [{ role: "user", content: [{ type: "text", text: "Why does the build fail?" }] }];

for (let turn = 1; ; turn++) {
  const last = messages.at(-1).content.at(-1);
  last.cache_control = { type: "ephemeral", ...ttl };
  const request = { model: process.env.MODEL, max_tokens: 1024, thinking: { type: "enabled", budget_tokens: 1024 }, tools, system, messages };
  const answer = turn % 2 ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
  const { max_tokens, ...counted } = request;
  const { input_tokens } = await client.messages.countTokens(counted);
  delete last.cache_control;
  const u = answer.usage;
  say({ turn, stop: answer.stop_reason, counted: input_tokens === u.input_tokens + u.cache_read_input_tokens + u.cache_creation_input_tokens });
  messages.push({ role: "assistant", content: answer.content });
  const calls = answer.content.filter((b) => b.type === "tool_use");
  if (calls.length === 0) break;
  messages.push({
    role: "user",
    content: calls.map((c, i) => {
      const text = readFileSync(join(process.env.FILES, c.input.path), "utf8");
      // A string, a text with a picture behind it, and an error, in turns.
      if (turn % 3 === 0 && i === 0) return { type: "tool_result", tool_use_id: c.id, is_error: true, content: text.slice(0, 900) };
      if (turn % 3 === 1) return { type: "tool_result", tool_use_id: c.id, content: [{ type: "text", text }, pixel] };
      return { type: "tool_result", tool_use_id: c.id, content: text };
    }),
  });
}
process.exit(0); // without waiting for connections that are kept alive
