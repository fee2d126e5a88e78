import { test } from "node:test";
import assert from "node:assert/strict";
import { Ring } from "./ring.ts";
import { Selection } from "./selection.ts";
import { parse } from "./filter.ts";
import { pulseOf, quantile } from "./pulse.ts";
import type { Row } from "./store.ts";

const row = (n: number): Row => ({
  n, time: n * 1000, request_id: String(n), door: "mcp", server: n % 2 ? "odd" : "even", method: "tools/call", tool: "t", outcome: n % 5 ? "ok" : "failed", ms: n, bytes_in: 0, bytes_out: 0, subject: "a",
  cuts: undefined, refusal: undefined,
});

test("a ring gives the newest first and forgets the oldest", () => {
  const ring = new Ring<number>(3);
  assert.deepEqual(ring.list(), []);
  for (let i = 1; i <= 5; i++) ring.push(i);
  assert.deepEqual(ring.list(), [5, 4, 3]);
  assert.equal(ring.total, 5);
  assert.equal(ring.newest(3), undefined);
  assert.equal(ring.newest(-1), undefined);
});

test("a selection holds what passes, however it is brought up to date", () => {
  const ring = new Ring<Row>(10);
  const all = new Selection(ring, []);
  const odd = new Selection(ring, parse("server:odd"));
  for (let i = 1; i <= 57; i++) {
    ring.push(row(i));
    if (i % 7 === 0) odd.update();
    all.update();
    assert.equal(all.length, Math.min(i, 10));
    assert.equal(all.newest(0)?.n, i);
  }
  odd.update();
  assert.deepEqual(odd.freeze().map((r) => r.n), [49, 51, 53, 55, 57]);
  assert.equal(odd.newest(0)?.n, 57);
  assert.equal(odd.newest(5), undefined);
});

test("more rows than the ring holds at once are those it still has", () => {
  const ring = new Ring<Row>(4);
  const s = new Selection(ring, []);
  for (let i = 1; i <= 11; i++) ring.push(row(i));
  s.update();
  assert.deepEqual(s.freeze().map((r) => r.n), [8, 9, 10, 11]);
});

test("the pulse counts what is young enough, in its bar", () => {
  const ring = new Ring<Row>(100);
  for (let i = 1; i <= 20; i++) ring.push(row(i));
  const p = pulseOf(ring, (r) => ({ ...r, saved: 2 }), (o) => (o === "ok" ? "ok" : "failed"), 20_500, 10_000, 5);
  assert.equal(p.requests, 10);
  assert.equal(p.failed, 2);
  assert.equal(p.saved, 20);
  assert.deepEqual(p.bars.map((b) => b.ok + b.failed), [2, 2, 2, 2, 2]);
  assert.equal(p.p50, 16);
});

test("a quantile of nothing is 0", () => {
  assert.equal(quantile([], 0.5), 0);
  assert.equal(quantile([1, 2, 3], 0.95), 3);
});
