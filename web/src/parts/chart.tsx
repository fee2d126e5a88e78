// A uPlot chart that follows the width of its box and the colours of the theme.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { dark } from "../theme.ts";

/** A colour of the style sheet. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

interface Props {
  label: string; // what a screen reader hears in place of the picture
  options: () => Omit<uPlot.Options, "width" | "height">;
  data: uPlot.AlignedData;
  height: number;
}

export function Chart({ label, options, data, height }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isDark = dark.value;
  useEffect(() => {
    const at = box.current;
    if (!at) return;
    const plot = new uPlot({ ...options(), width: at.clientWidth, height }, data, at);
    const sizes = new ResizeObserver(() => plot.setSize({ width: at.clientWidth, height }));
    sizes.observe(at);
    return () => {
      sizes.disconnect();
      plot.destroy();
    };
  }, [data, isDark, height]);
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}

/** An axis in the colours of the page. */
export function axis(more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: colour("muted"),
    font: `11px ${colour("sans")}`,
    grid: { stroke: colour("line"), width: 1 },
    ticks: { stroke: colour("line"), width: 1, size: 4 },
    ...more,
  };
}
