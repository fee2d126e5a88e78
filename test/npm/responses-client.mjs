// Plays an agent's loop over Responses with OpenAI's own client: the answer is streamed or not in turns, every call is answered with the text of
// the file that it names, until the model calls no more. BASE_URL names the proxy, FILES the directory, MODEL the model. With STORE the provider
// keeps the conversation and only what is new is sent. Prints one JSON object a turn.
import OpenAI from "openai";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "sk-client", maxRetries: 0 });
const say = (value) => console.log(JSON.stringify(value));
const keep = process.env.STORE === "yes";
const tools = [{ type: "function", name: "read_file", strict: false, parameters: { type: "object", properties: { path: { type: "string" } } } }];
const pixel = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" };
const common = { model: process.env.MODEL, instructions: "You look into build logs. ".repeat(220), tools, store: keep, include: ["reasoning.encrypted_content"], prompt_cache_key: "one" };
let input = [{ role: "user", content: "Why does the build fail?" }];
let previous;

// The client's own helper for streams throws at an event that it does not know.
async function streamed(request) {
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    if (event.type === "response.completed") return event.response;
  }
  throw new Error("the stream ended without response.completed");
}

for (let turn = 1; ; turn++) {
  const request = { ...common, input, ...(keep && previous ? { previous_response_id: previous } : {}) };
  const answer = turn % 2 ? await streamed(request) : await client.responses.create(request);
  const u = answer.usage;
  say({ turn, status: answer.status, cached: u.input_tokens_details.cached_tokens > 0 });
  previous = answer.id;
  const calls = answer.output.filter((o) => o.type === "function_call");
  const results = calls.map((c) => {
    const text = readFileSync(join(process.env.FILES, JSON.parse(c.arguments).path), "utf8");
    return { type: "function_call_output", call_id: c.call_id, output: turn % 3 === 1 ? [{ type: "input_text", text }, pixel] : text };
  });
  input = keep ? results : [...input, ...answer.output, ...results];
  if (calls.length === 0) break;
}
