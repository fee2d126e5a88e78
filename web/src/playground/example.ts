// A conversation to try the policy on: an agent that reads the examples one after the other.
import type { Demo } from "../api/types.ts";

export function exampleRequest(demos: Demo[]): string {
  const messages: unknown[] = [
    { role: "system", content: "You are a careful engineer. Use the tools." },
    { role: "user", content: "The build fails since this morning. Find out why and propose a fix." },
  ];
  for (let turn = 0; turn < 6; turn++) {
    const demo = demos[turn % Math.max(1, demos.length)];
    const id = `call_${turn + 1}`;
    const text = demo ? demo.text.slice(turn * 2000, turn * 2000 + 24_000) || demo.text.slice(0, 24_000) : "no example is there\n".repeat(400);
    messages.push(
      { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: demo?.name ?? "read_text", arguments: JSON.stringify({ part: turn + 1 }) } }] },
      { role: "tool", tool_call_id: id, content: text },
    );
  }
  messages.push({ role: "user", content: "So what is it?" });
  return JSON.stringify({ model: "gpt-5", messages }, null, 2);
}
