// A text and what was taken out of it, as segments in turn; and which lines of a removed one are shown.
import type { Removed } from "../api/types.ts";

export interface Segment {
  kind: "kept" | "removed";
  line: number; // of its first character, from 1
  lines: string[];
  starts: boolean; // its first line begins in it; false: the segment before has the line's beginning
  reason: string;
  marker: string; // removed: what stands in its place
}

/** Cuts a text up. Ranges are lines from 1, both ends included, or characters (code points) from 0, the end not. */
export function segments(text: string, removed: Removed[], keptText: string): Segment[] {
  const cuts = offsets(text, removed);
  const found: Segment[] = [];
  const pieces: { text: string; segment: Segment }[] = [];
  let at = 0;
  let line = 1;
  const add = (end: number, kind: Segment["kind"], reason: string): void => {
    if (end <= at) return;
    const piece = text.slice(at, end);
    const starts = at === 0 || text[at - 1] === "\n";
    const lines = piece.split("\n");
    const whole = lines[lines.length - 1] === "" && end < text.length + 1;
    if (whole && lines.length > 1) lines.pop();
    const segment: Segment = { kind, line, lines, starts, reason, marker: "" };
    found.push(segment);
    pieces.push({ text: piece, segment });
    line += piece.split("\n").length - 1;
    at = end;
  };
  for (const cut of cuts) {
    add(cut.start, "kept", "");
    add(cut.end, "removed", cut.reason);
  }
  add(text.length, "kept", "");
  findMarkers(pieces, keptText);
  return found;
}

/** Ranges as offsets of UTF-16 units, in order, without overlaps. */
function offsets(text: string, removed: Removed[]): { start: number; end: number; reason: string }[] {
  const lineStarts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) lineStarts.push(i + 1);
  const unit = units(text);
  const all = removed.map((r) =>
    r.start_line > 0
      ? { start: lineStarts[r.start_line - 1] ?? text.length, end: lineStarts[r.end_line] ?? text.length, reason: r.reason }
      : { start: unit(r.start_char), end: unit(r.end_char), reason: r.reason },
  );
  all.sort((a, b) => a.start - b.start);
  let last = 0;
  return all
    .map((r) => {
      const start = Math.max(r.start, last);
      last = Math.max(last, r.end);
      return { ...r, start };
    })
    .filter((r) => r.end > r.start);
}

/** Code points to UTF-16 units; the positions asked for need not be in order. */
function units(text: string): (chars: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (n) => Math.min(n, text.length);
  return (n) => {
    let at = 0;
    for (let i = 0; i < n && at < text.length; i++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    return at;
  };
}

/** What stands between the kept pieces of the text that went out. */
function findMarkers(pieces: { text: string; segment: Segment }[], keptText: string): void {
  let at = 0;
  let open: Segment | undefined;
  for (const { text, segment } of pieces) {
    if (segment.kind === "removed") {
      open = segment;
      continue;
    }
    const trimmed = text.replace(/^\n+|\n+$/g, "");
    const found = keptText.indexOf(trimmed, at);
    if (found < 0) return; // it was changed in another way: the marker is not known
    if (open) open.marker = trimNewlines(keptText.slice(at, found));
    open = undefined;
    at = found + trimmed.length;
  }
  if (open) open.marker = trimNewlines(keptText.slice(at));
}

const trimNewlines = (s: string): string => s.replace(/^\n+|\n+$/g, "");

/** Lines [from, to) of a segment that are shown although it was removed. */
export type Window = [from: number, to: number];

export type Fold = { hidden: boolean; from: number; to: number };

/** What of so many lines is shown and what is folded, in order. */
export function folds(lines: number, windows: Window[]): Fold[] {
  const found: Fold[] = [];
  let at = 0;
  for (const [from, to] of merged(windows, lines)) {
    if (from > at) found.push({ hidden: true, from: at, to: from });
    found.push({ hidden: false, from, to });
    at = to;
  }
  if (at < lines) found.push({ hidden: true, from: at, to: lines });
  return found;
}

/** Windows in order, joined where they touch, inside of the lines. */
export function merged(windows: Window[], lines: number): Window[] {
  const found: Window[] = [];
  for (const [from, to] of windows.map(([a, b]): Window => [Math.max(0, a), Math.min(lines, b)]).sort((a, b) => a[0] - b[0])) {
    const last = found[found.length - 1];
    if (from >= to) continue;
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

/** The lines of a text that hold a word, whatever its case: segment and line in it. */
export function search(all: Segment[], word: string, most = 5000): { segment: number; line: number }[] {
  const needle = word.toLowerCase();
  const found: { segment: number; line: number }[] = [];
  if (!needle) return found;
  for (const [segment, s] of all.entries()) {
    for (const [line, text] of s.lines.entries()) {
      if (text.toLowerCase().includes(needle)) found.push({ segment, line });
      if (found.length >= most) return found;
    }
  }
  return found;
}
