import { test } from "node:test";
import assert from "node:assert/strict";
import { conditions, fills, tone } from "./words.ts";

test("a rule is told by what it names", () => {
  assert.deepEqual(conditions({ name: "n", action: "deny", subject: ["ci-*"], tool: ["a", "b"], role: [], model: null }), [
    { key: "subject", values: "ci-*" },
    { key: "tool", values: "a or b" },
  ]);
});

test("a bucket is as full as its bounds say, and only those", () => {
  const usage = { limit: "l", key: "k", remaining: 5, reset_s: 0, in_flight: 2, queued: 0, burst: 20, concurrent: 0, queue: 0, usd_today: 4.5, usd_per_day: 5 };
  assert.deepEqual(fills(usage).map((f) => [f.what, f.used, f.of]), [["requests", 15, 20], ["today", 4.5, 5]]);
  assert.deepEqual(fills({ limit: "l", key: "k", remaining: 5, reset_s: 0, in_flight: 2, queued: 0 }), []);
  assert.deepEqual(fills(usage).map(tone), ["", "warn"]);
  assert.equal(tone({ what: "", used: 5, of: 5, unit: "count" }), "bad");
});
