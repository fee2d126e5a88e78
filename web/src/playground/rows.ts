// The rows of a pruned text: every line of the original with what became of it, and the markers where lines went.
import type { PruneResult } from "../api/types.ts";

export type Row = { kind: "line"; line: number; kept: boolean } | { kind: "marker"; text: string; lines: number; reason: string };

/** Lines from 1; a marker stands before the lines that it is for. */
export function rowsOf(lines: number, annotations: PruneResult["annotations"]): Row[] {
  const rows: Row[] = [];
  const sorted = annotations.filter((a) => a.original_start_line > 0).toSorted((a, b) => a.original_start_line - b.original_start_line);
  let line = 1;
  for (const a of sorted) {
    for (; line < a.original_start_line && line <= lines; line++) rows.push({ kind: "line", line, kept: true });
    rows.push({ kind: "marker", text: a.marker, lines: a.pruned_line_count, reason: a.reason });
    for (; line <= a.original_end_line && line <= lines; line++) rows.push({ kind: "line", line, kept: false });
  }
  for (; line <= lines; line++) rows.push({ kind: "line", line, kept: true });
  return rows;
}

/** The lines of a text; a newline at its end begins no line. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}
