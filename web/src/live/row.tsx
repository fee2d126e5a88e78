import { Badge, outcomeTone } from "../parts/badge.tsx";
import { bytes, clock, compact, millis } from "../format.ts";
import type { Row } from "./store.ts";

const heads = [
  ["time", "Time"], ["door", "Door"], ["target", "Target"], ["who", "Who"], ["outcome", "Outcome"], ["ms", "Took"], ["in", "In"], ["out", "Out"], ["cut", "Tokens cut"],
] as const;

export function Heads() {
  return (
    <>
      {heads.map(([name, label]) => (
        <span key={name} role="columnheader" class={`c-${name}`}>
          {label}
        </span>
      ))}
    </>
  );
}

/** What a request was about: its tool, its model, or else its method. */
export function targetOf(r: Row): string {
  if (r.tool) return r.server ? `${r.server}::${r.tool}` : r.tool;
  if (r.model) return r.model;
  return [r.server, r.method].filter(Boolean).join(" ");
}

export const savedOf = (r: Row): number => r.cuts?.reduce((sum, c) => sum + c.tokens_saved, 0) ?? 0;

export function Cells({ row }: { row: Row }) {
  const saved = savedOf(row);
  const target = targetOf(row);
  return (
    <>
      <span role="gridcell" class="c-time">
        {clock(row.time)}
      </span>
      <span role="gridcell" class="c-door">
        <span class={`door d-${row.door}`}>{row.door}</span>
      </span>
      <span role="gridcell" class="c-target" title={target}>
        {target || "–"}
      </span>
      <span role="gridcell" class="c-who" title={row.subject}>
        {row.subject}
      </span>
      <span role="gridcell" class="c-outcome">
        <Badge tone={outcomeTone(row.outcome)}>{row.outcome.replaceAll("_", " ")}</Badge>
      </span>
      <span role="gridcell" class="c-ms num">
        {millis(row.ms)}
      </span>
      <span role="gridcell" class="c-in num">
        {bytes(row.bytes_in)}
      </span>
      <span role="gridcell" class="c-out num">
        {bytes(row.bytes_out)}
      </span>
      <span role="gridcell" class={saved ? "c-cut num has-cut" : "c-cut num"}>
        {saved ? `−${compact(saved)}` : ""}
      </span>
    </>
  );
}
