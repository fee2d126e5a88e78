import { test } from "node:test";
import assert from "node:assert/strict";
import { EventParser, readEvents, type StreamEvent } from "./stream.ts";

const stream = "id: a-1\nevent: cut\ndata: {\"x\": 1}\n\n: still here\n\nevent: gap\r\ndata:{}\r\n\r\ndata: one\ndata: two\n\nid: a-2\nevent: request\ndata: unfinished";
const want: StreamEvent[] = [
  { id: "a-1", type: "cut", data: '{"x": 1}' },
  { id: "", type: "gap", data: "{}" },
  { id: "", type: "message", data: "one\ntwo" },
];

test("events are the same in whatever pieces they come", () => {
  for (let size = 1; size <= stream.length; size++) {
    const parser = new EventParser();
    const got: StreamEvent[] = [];
    for (let at = 0; at < stream.length; at += size) got.push(...parser.push(stream.slice(at, at + size)));
    assert.deepEqual(got, want);
  }
});

test("a character may come in two pieces", async () => {
  const bytes = new TextEncoder().encode("data: é\n\n");
  const got: StreamEvent[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(c) {
      c.enqueue(bytes.slice(0, 7));
      c.enqueue(bytes.slice(7));
      c.close();
    },
  });
  await readEvents(body, (e) => got.push(e));
  assert.deepEqual(got, [{ id: "", type: "message", data: "é" }]);
});
