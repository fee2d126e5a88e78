import { test } from "node:test";
import assert from "node:assert/strict";
import { choose, chosen, matches, parse, type Subject } from "./filter.ts";

const one: Subject = { server: "files", tool: "read_file", model: "", outcome: "ok", who: "alice", door: "mcp", method: "tools/call", id: "d5071848" };

const cases: [string, boolean][] = [
  ["", true],
  ["read", true],
  ["READ", true],
  ["write", false],
  ["server:files", true],
  ["server:file", false],
  ["server:FILES tool:read_*", true],
  ["tool:*_file", true],
  ["tool:r*d_f*e", true],
  ["tool:*file*file", false],
  ["tool:read_file_*", false],
  ["outcome:!ok", false],
  ["outcome:!error", true],
  ["outcome:-ok", false],
  ["!alice", false],
  ["who:bob,alice", true],
  ["principal:alice", true],
  ["subject:bob", false],
  ["server:files who:bob", false],
  ['tool:"read_file"', true],
  ["server:", true],
  ["method:tools/call", true],
  ["nothing:here", false],
];
for (const [text, want] of cases) {
  test(`the filter ${JSON.stringify(text)} ${want ? "passes" : "refuses"}`, () => assert.equal(matches(parse(text), one), want));
}

test("choosing a value keeps the other words and replaces the field's own", () => {
  assert.equal(choose("read server:a", "server", "b"), "read server:b");
  assert.equal(choose("", "model", "claude opus"), 'model:"claude opus"');
  assert.equal(choose("read server:a", "server", ""), "read");
});

test("what is chosen is found again", () => {
  for (const value of ["a", "claude opus", "a,b", "x:y"]) assert.equal(chosen(choose("word", "model", value), "model"), value.includes(",") ? "" : value);
  assert.equal(chosen("server:a,b", "server"), "");
  assert.equal(chosen("server:!a", "server"), "");
});
