// Lists the models and asks one question with the makers' own clients. BASE_URL names the proxy, CLIENT which of them. Prints how many models there are.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const ask = {
  async anthropic() {
    const client = new Anthropic({ baseURL: process.env.BASE_URL, apiKey: process.env.KEY, maxRetries: 0 });
    let models = 0;
    for await (const _ of client.models.list()) models++;
    await client.models.retrieve("deepseek/m").catch(() => {});
    await client.messages.create({ model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: "hello" }] });
    return models;
  },
  async openai() {
    const client = new OpenAI({ baseURL: process.env.BASE_URL + "/v1", apiKey: process.env.KEY, maxRetries: 0 });
    let models = 0;
    for await (const _ of client.models.list()) models++;
    await client.models.retrieve("deepseek/m").catch(() => {});
    await client.embeddings.create({ model: "m", input: "x" }).catch(() => {});
    await client.responses.create({ model: "gpt-5", input: [{ role: "user", content: "hello" }] });
    return models;
  },
};
console.log(await ask[process.env.CLIENT]());
