// Talks to a chat completions proxy with the AI SDK: text, a stream, and a loop of tool calls.
// BASE_URL names the proxy. Prints one JSON object a step.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const provider = createOpenAICompatible({ name: "proxy", baseURL: process.env.BASE_URL, apiKey: "sk-client" });
const model = provider("test/model");
const say = (step, value) => console.log(JSON.stringify({ step, ...value }));

say("plain", { text: (await generateText({ model, prompt: "plain", maxRetries: 0 })).text });

let text = "";
for await (const part of streamText({ model, prompt: "stream", maxRetries: 0 }).textStream) text += part;
say("stream", { text });

const run = await generateText({
  model, prompt: "tools", maxRetries: 0, stopWhen: stepCountIs(3),
  tools: { read_file: tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => "content of " + path }) },
});
say("tools", { text: run.text, steps: run.steps.length });
