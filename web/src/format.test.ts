import { test } from "node:test";
import assert from "node:assert/strict";
import { ago, bytes, duration, millis, money, moneyDigits, moneyEvery, moneyLike, plural, signedMoney } from "./format.ts";

const digits = (s: string): string => s.replace(/[^\d−-]/g, "");

test("money is never shown as nothing when it is something", () => {
  assert.deepEqual([0, 5, 1.5, 0.25, 0.012, 0.00034, 0.0000001].map(moneyDigits), [2, 2, 2, 2, 3, 5, 6]);
  assert.equal(digits(money(0.00034)), "000034");
  assert.match(money(-0.5), /^[-−]/);
  assert.match(signedMoney(0.5), /^\+/);
  assert.equal(digits(money(-0)), "000");
});

test("durations have the two largest units", () => {
  assert.equal(duration(0), "0 s");
  assert.equal(duration(59), "59 s");
  assert.equal(duration(61), "1 min 1 s");
  assert.equal(duration(3600), "1 h");
  assert.equal(duration(93_784), "1 d 2 h");
  assert.equal(duration(-5), "0 s");
});

test("sizes and times change their unit", () => {
  assert.equal(bytes(999), "999 B");
  assert.equal(digits(bytes(4215)), "42");
  assert.match(bytes(61_000_000), /^61 MB$/);
  assert.match(millis(1500), /^1.5 s$/);
  assert.equal(millis(120_000), "2 min");
});

test("words", () => {
  assert.equal(plural(1, "cut"), "1 cut");
  assert.equal(plural(2, "cut"), "2 cuts");
  assert.equal(ago("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:02:00Z")), "2 min ago");
  assert.equal(ago("never"), "");
});

test("a column of money has one number of digits, an axis as many as its step needs", () => {
  assert.deepEqual([0.4, 0.011].map(moneyLike([0.4, 0.011])).map(digits), ["0400", "0011"]);
  assert.deepEqual([0, 0.2].map(moneyEvery(0.2)).map(digits), ["000", "020"]);
  assert.deepEqual([0.005].map(moneyEvery(0.005)).map(digits), ["0005"]);
});
