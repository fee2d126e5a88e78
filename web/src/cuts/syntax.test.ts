import { test } from "node:test";
import assert from "node:assert/strict";
import { kindOf, marked, tokenize, type Kind } from "./syntax.ts";

const lines = [
  "", "   ", 'const a = "x // y" + 12; // why', "func (s *T) Do(x int) error {", "# a comment", "'it''s", '{"a": [1, -2.5e3, true], "b\\"c": null}', '"unclosed', "2026-03-14T09:00:01.077Z ERROR svc failed in 12ms", "<img src=x onerror=alert(1)>",
  "`tick", "/* open", "héllo 😀 wörld 42", "a".repeat(5000), "\\\"\\", "0x1F 1_000 3.14",
];

test("the parts of a line are the line, whatever it is", () => {
  for (const kind of ["json", "log", "code", "text"] as Kind[]) {
    for (const line of lines) {
      assert.equal(tokenize(line, kind).map((t) => t.text).join(""), line);
      for (const word of ["", "a", "12", "x /", "😀"]) assert.equal(marked(tokenize(line, kind), word).map((t) => t.text).join(""), line);
    }
  }
});

test("what is what", () => {
  const kinds = (line: string, kind: Kind): [string, string][] => tokenize(line, kind).filter((t) => t.kind).map((t) => [t.text, t.kind]);
  assert.deepEqual(kinds('{"a": "b", "n": 1}', "json"), [['"a"', "key"], ['"b"', "string"], ['"n"', "key"], ["1", "number"]]);
  assert.deepEqual(kinds('return "x" // y', "code"), [["return", "word"], ['"x"', "string"], ["// y", "comment"]]);
  assert.deepEqual(kinds("09:00:01 ERROR no", "log"), [["09:00:01", "comment"], ["ERROR", "bad"]]);
});

test("marks cross the borders of tokens", () => {
  const got = marked(tokenize("return 42", "code"), "n 4");
  assert.deepEqual(got.filter((t) => t.mark).map((t) => t.text), ["n", " ", "4"]);
});

test("the kind of a text", () => {
  assert.equal(kindOf('{"a": 1}'), "json");
  assert.equal(kindOf("2026-03-14T09:00:01Z DEBUG a\n2026-03-14T09:00:02Z INFO b"), "log");
  assert.equal(kindOf("package main\n\nimport (\n)\nfunc main() {\n\treturn\n}"), "code");
  assert.equal(kindOf("Once upon a time there was a text.\nIt went on."), "text");
  assert.equal(kindOf(""), "text");
});
