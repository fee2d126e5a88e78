import { test } from "node:test";
import assert from "node:assert/strict";
import { folds, search, segments, type Segment } from "./segments.ts";
import type { Removed } from "../api/types.ts";

const lines = (start: number, end: number): Removed => ({ start_line: start, end_line: end, start_char: 0, end_char: 0, reason: "r" });
const chars = (start: number, end: number): Removed => ({ start_line: 0, end_line: 0, start_char: start, end_char: end, reason: "r" });
const brief = (s: Segment): unknown => [s.kind, s.line, s.lines, s.marker];

test("ranges of lines", () => {
  const got = segments("a\nb\nc\nd\n", [lines(2, 3)], "a\n⟦2 lines⟧\nd\n");
  assert.deepEqual(got.map(brief), [["kept", 1, ["a"], ""], ["removed", 2, ["b", "c"], "⟦2 lines⟧"], ["kept", 4, ["d"], ""]]);
});

test("ranges of characters may begin and end inside of a line", () => {
  const got = segments("abcd\nefgh", [chars(2, 7)], "ab ... gh");
  assert.deepEqual(got.map(brief), [["kept", 1, ["ab"], ""], ["removed", 1, ["cd", "ef"], " ... "], ["kept", 2, ["gh"], ""]]);
  assert.deepEqual(got.map((s) => s.starts), [true, false, false]);
});

test("characters are code points, not UTF-16 units", () => {
  assert.deepEqual(segments("😀😀😀b", [chars(1, 3)], "😀…b").map(brief), [["kept", 1, ["😀"], ""], ["removed", 1, ["😀😀"], "…"], ["kept", 1, ["b"], ""]]);
});

test("a text that was replaced as a whole", () => {
  assert.deepEqual(segments("a\nb", [lines(1, 2)], "[masked]").map(brief), [["removed", 1, ["a", "b"], "[masked]"]]);
});

test("ranges that overlap, are out of order or beyond the end", () => {
  const got = segments("1\n2\n3\n4\n5", [lines(4, 9), lines(1, 2), lines(2, 3)], "");
  assert.deepEqual(got.map((s) => [s.kind, s.line, s.lines.join("")]), [["removed", 1, "12"], ["removed", 3, "3"], ["removed", 4, "45"]]);
  assert.deepEqual(segments("", [], ""), []);
});

test("no line is lost or told twice, whatever is removed", () => {
  const text = Array.from({ length: 30 }, (_, i) => "line " + i).join("\n") + "\n";
  for (let a = 1; a <= 30; a += 3) {
    for (let b = a; b <= 30; b += 4) {
      const got = segments(text, [lines(a, b)], "").flatMap((s) => s.lines);
      assert.equal(got.join("\n") + "\n", text);
    }
  }
  for (let a = 0; a < text.length; a += 11) {
    const got = segments(text, [chars(a, a + 25)], "");
    assert.equal(got.map((s, i) => (s.starts && i > 0 ? "\n" : "") + s.lines.join("\n")).join("") + "\n", text);
  }
});

test("folds show the windows and hide the rest", () => {
  assert.deepEqual(folds(10, []), [{ hidden: true, from: 0, to: 10 }]);
  assert.deepEqual(folds(10, [[4, 6], [2, 4], [9, 99]]), [
    { hidden: true, from: 0, to: 2 },
    { hidden: false, from: 2, to: 6 },
    { hidden: true, from: 6, to: 9 },
    { hidden: false, from: 9, to: 10 },
  ]);
  assert.deepEqual(folds(3, [[0, 3]]), [{ hidden: false, from: 0, to: 3 }]);
});

test("a search finds lines in what is folded too", () => {
  const all = segments("Error\nb\nerror", [lines(2, 3)], "");
  assert.deepEqual(search(all, "ERROR"), [{ segment: 0, line: 0 }, { segment: 1, line: 1 }]);
  assert.deepEqual(search(all, ""), []);
});
