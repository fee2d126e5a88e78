// Saved upwards, lost downwards.
import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { axis, Chart, colour } from "../parts/chart.tsx";
import { compact, count, money, moneyEvery, signedMoney } from "../format.ts";
import type { Point, Unit } from "./series.ts";

const dayNames = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const hourNames = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false, timeZone: "UTC" });

export function TimeChart({ points, unit, hours }: { points: Point[]; unit: Unit; hours: boolean }) {
  const [hovered, setHovered] = useState<number | null>(null);
  const stamp = JSON.stringify(points);
  const data = useMemo(() => [points.map((_, i) => i), points.map((p) => p.gain), points.map((p) => -p.loss)] as uPlot.AlignedData, [stamp, unit]);
  const name = (i: number): string => {
    const at = points[i]?.at;
    return at === undefined ? "" : (hours ? hourNames : dayNames).format(at * 1000);
  };
  const words = unit === "money" ? ["Saved", "Lost", "Net"] : ["Cut", "Recovered", "Net"];
  const options = (): Omit<uPlot.Options, "width" | "height"> => ({
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: false, range: (_u, min, max) => [min - 0.6, max + 0.6] }, y: { range: (_u, min, max) => padded(min, max) } },
    axes: [
      axis({ grid: { show: false }, values: (_u, splits) => splits.map((s) => (Number.isInteger(s) ? name(s) : "")), size: 30, space: 60, incrs: [1, 2, 3, 7, 14, 30] }),
      axis({ values: (_u, splits) => splits.map(unit === "money" ? moneyEvery((splits[1] ?? 0) - (splits[0] ?? 0)) : compact), size: 64 }),
    ],
    series: [
      {},
      { label: words[0]!, paths: bars(), fill: colour("good"), stroke: colour("good"), width: 0, points: { show: false } },
      { label: words[1]!, paths: bars(), fill: colour("bad"), stroke: colour("bad"), width: 0, points: { show: false } },
    ],
    hooks: { setCursor: [(u) => setHovered(u.cursor.idx ?? null)] },
  });
  const at = hovered ?? points.length - 1;
  const point = points[at];
  const total = points.reduce((sum, p) => sum + p.gain - p.loss, 0);
  const exact = unit === "money" ? money : count;
  return (
    <>
      <div class="legend">
        <span class="legend-when">{name(at)}</span>
        <span>
          <i class="swatch ok" /> {words[0]} <b>{exact(point?.gain ?? 0)}</b>
        </span>
        <span>
          <i class="swatch failed" /> {words[1]} <b>{exact(point?.loss ? -point.loss : 0)}</b>
        </span>
        <span>
          {words[2]} <b>{exact((point?.gain ?? 0) - (point?.loss ?? 0))}</b>
        </span>
        {hours && <span class="muted">hours in UTC</span>}
      </div>
      <Chart
        height={240}
        data={data}
        options={options}
        label={`${words[0]} and ${words[1]} over ${points.length} ${hours ? "hours" : "days"}, together ${unit === "money" ? signedMoney(total) : count(total) + " tokens"}`}
      />
    </>
  );
}

function bars(): uPlot.Series.PathBuilder {
  const make = uPlot.paths.bars;
  if (!make) throw new Error("uPlot has no bars");
  return make({ size: [0.7, 44], radius: 0.12 });
}

/** Room above and below, and the line of zero in sight. */
function padded(min: number, max: number): [number, number] {
  const low = Math.min(0, min);
  const high = Math.max(0, max);
  const room = (high - low || 1) * 0.08;
  return [low < 0 ? low - room : 0, high + room];
}
