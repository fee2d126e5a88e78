import { test } from "node:test";
import assert from "node:assert/strict";
import { csv, points, ticks, waterfall } from "./series.ts";
import type { ConversationRequest, SavingsItem } from "../api/types.ts";

const item = (key: string, saved: number, lost: number): SavingsItem => ({
  key, saved_usd: saved, lost_usd: lost, spent_usd: 1, passthrough_usd: 1 + saved - lost, cut_tokens: saved * 1000, recovered_tokens: lost * 1000, recovery_rate: 0, cache_hit_rate: 0,
});
const now = Date.parse("2026-11-15T17:30:00Z") / 1000;

test("days on which nothing happened are there too", () => {
  const got = points([item("2026-11-13", 2, 1)], "money", now, 4 * 86_400);
  assert.deepEqual(got.map((p) => new Date(p.at * 1000).toISOString().slice(0, 10)), ["2026-11-12", "2026-11-13", "2026-11-14", "2026-11-15"]);
  assert.deepEqual(got.map((p) => [p.gain, p.loss]), [[0, 0], [2, 1], [0, 0], [0, 0]]);
});

test("a day before the period that was told of is drawn as well", () => {
  assert.equal(points([item("2026-11-10", 2, 1)], "tokens", now, 86_400)[0]?.gain, 2000);
});

test("hours", () => {
  const got = points([item("2026-11-15T16:00:00Z", 3, 0)], "money", now, 3 * 3600, 3600);
  assert.deepEqual(got.map((p) => p.gain), [0, 3, 0]);
});

const request = (spent: number, passthrough: number): ConversationRequest => ({
  request_id: "", at: "", prompt_tokens: 0, cached_tokens: 0, masked: 0, pruned: 0, spent_usd: spent, passthrough_usd: passthrough, why: "",
});

test("a waterfall's steps meet, and end with passing through less paid", () => {
  const steps = waterfall([request(1, 1), request(3, 2), request(1, 4)]);
  assert.deepEqual(steps.map((s) => [s.from, s.difference, s.to]), [[0, 0, 0], [0, -1, -1], [-1, 3, 2]]);
  assert.deepEqual(waterfall([]), []);
});

test("ticks are round and lie between the ends", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(-1, 3, 4), [-1, 0, 1, 2, 3]);
  assert.deepEqual(ticks(5, 5, 4), [5]);
  for (const t of ticks(-0.013, 0.07, 5)) assert.ok(t >= -0.013 && t <= 0.07001);
});

test("a CSV cell is quoted where it must be, and never run", () => {
  assert.equal(csv([["a", 1.5], ['say "x", y', -2]]), 'a,1.5\r\n"say ""x"", y",-2\r\n');
  assert.equal(csv([["=1+1"]]), "'=1+1\r\n");
});
