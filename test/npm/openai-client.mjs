// Talks to a chat completions proxy with OpenAI's own client: plain, streaming, tools, parallel calls, vision parts.
// BASE_URL names the proxy. Prints one JSON object a step.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "sk-client", maxRetries: 0 });
const say = (step, value) => console.log(JSON.stringify({ step, ...value }));
const tools = [{ type: "function", function: { name: "read_file", parameters: { type: "object", properties: { path: { type: "string" } } } } }];

const plain = await client.chat.completions.create({ model: "test/model", messages: [{ role: "user", content: "plain" }] });
say("plain", { text: plain.choices[0].message.content, cached: plain.usage.prompt_tokens_details.cached_tokens });

let text = "", chunks = 0, usage = null;
const stream = await client.chat.completions.create({
  model: "test/model", stream: true, stream_options: { include_usage: true },
  messages: [{ role: "user", content: "stream" }],
});
for await (const chunk of stream) {
  chunks++;
  text += chunk.choices[0]?.delta?.content ?? "";
  usage = chunk.usage ?? usage;
}
say("stream", { text, chunks, total: usage.total_tokens });

const asked = await client.chat.completions.create({ model: "test/model", tools, messages: [{ role: "user", content: "tools" }] });
const calls = asked.choices[0].message.tool_calls;
say("tools", { calls: calls.map((c) => c.function.name + " " + c.function.arguments) });

const messages = [{ role: "user", content: "tools" }, asked.choices[0].message];
for (const c of calls) messages.push({ role: "tool", tool_call_id: c.id, content: "result of " + c.id });
const done = await client.chat.completions.create({ model: "test/model", tools, messages });
say("results", { text: done.choices[0].message.content });

const seen = await client.chat.completions.create({
  model: "test/model",
  messages: [{ role: "user", content: [{ type: "text", text: "vision" }, { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] }],
});
say("vision", { text: seen.choices[0].message.content });

try {
  await client.chat.completions.create({ model: "test/model", messages: [{ role: "user", content: "refuse" }] });
} catch (e) {
  say("refused", { status: e.status, code: e.code, message: e.message });
}

const models = [];
for await (const m of client.models.list()) models.push(m.id);
say("models", { models });
