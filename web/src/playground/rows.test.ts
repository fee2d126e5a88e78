import { test } from "node:test";
import assert from "node:assert/strict";
import { linesOf, rowsOf } from "./rows.ts";

const cut = (start: number, end: number) => ({ kind: "block", original_start_line: start, original_end_line: end, pruned_line_count: end - start + 1, reason: "", marker: `${start}-${end}` });
const brief = (rows: ReturnType<typeof rowsOf>): string => rows.map((r) => (r.kind === "marker" ? `[${r.text}]` : (r.kept ? "" : "-") + r.line)).join(" ");

test("markers stand before what was removed", () => {
  assert.equal(brief(rowsOf(6, [cut(5, 6), cut(2, 3)])), "1 [2-3] -2 -3 4 [5-6] -5 -6");
});

test("nothing removed, or all", () => {
  assert.equal(brief(rowsOf(3, [])), "1 2 3");
  assert.equal(brief(rowsOf(3, [cut(1, 3)])), "[1-3] -1 -2 -3");
  assert.equal(brief(rowsOf(0, [])), "");
  assert.equal(brief(rowsOf(2, [cut(2, 9)])), "1 [2-9] -2");
});

test("lines of a text", () => {
  assert.deepEqual(linesOf(""), []);
  assert.deepEqual(linesOf("a\n"), ["a"]);
  assert.deepEqual(linesOf("a\n\nb"), ["a", "", "b"]);
});
