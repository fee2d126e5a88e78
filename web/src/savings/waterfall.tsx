// A waterfall: bars that begin where the one before ended.
import { useEffect, useRef, useState } from "preact/hooks";
import { moneyEvery, signedMoney } from "../format.ts";
import { ticks, type Step } from "./series.ts";

const height = 240;
const edge = { left: 68, right: 8, top: 10, bottom: 24 };

export function Waterfall({ steps }: { steps: Step[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  const [hovered, setHovered] = useState<number | null>(null);
  useEffect(() => {
    const at = box.current;
    if (!at) return;
    const sizes = new ResizeObserver(() => setWidth(Math.max(200, at.clientWidth)));
    sizes.observe(at);
    return () => sizes.disconnect();
  }, []);
  const low = Math.min(0, ...steps.map((s) => s.to));
  const high = Math.max(0, ...steps.map((s) => s.to));
  const span = high - low || 1;
  const inner = { w: width - edge.left - edge.right, h: height - edge.top - edge.bottom };
  const y = (v: number): number => edge.top + ((high - v) / span) * inner.h;
  const slot = inner.w / Math.max(1, steps.length);
  const bar = Math.max(1, Math.min(36, slot * 0.72));
  const x = (i: number): number => edge.left + slot * i + (slot - bar) / 2;
  const every = Math.ceil(steps.length / Math.max(1, Math.floor(inner.w / 44)));
  const marks = ticks(low, high, 5);
  const dollars = moneyEvery((marks[1] ?? 0) - (marks[0] ?? 0));
  const step = steps[hovered ?? steps.length - 1];
  const end = steps[steps.length - 1]?.to ?? 0;
  return (
    <>
      <div class="legend">
        <span class="legend-when">Request {(hovered ?? steps.length - 1) + 1}</span>
        <span>
          <i class={step && step.difference < 0 ? "swatch failed" : "swatch ok"} /> {step && step.difference < 0 ? "lost" : "saved"} <b>{signedMoney(step?.difference ?? 0)}</b>
        </span>
        <span>
          sum <b>{signedMoney(step?.to ?? 0)}</b>
        </span>
        <span class="legend-why muted">{step?.request.why}</span>
      </div>
      <div ref={box} class="waterfall">
        <svg width={width} height={height} role="img" aria-label={`${steps.length} requests, together ${signedMoney(end)} against passing through; the table below has each`} onMouseLeave={() => setHovered(null)}>
          {marks.map((t) => (
            <g key={t}>
              <line class={Math.abs(t) < span * 1e-9 ? "zero-line" : "grid-line"} x1={edge.left} x2={width - edge.right} y1={y(t)} y2={y(t)} />
              <text class="tick" x={edge.left - 8} y={y(t) + 4} text-anchor="end">
                {dollars(Math.abs(t) < span * 1e-9 ? 0 : t)}
              </text>
            </g>
          ))}
          {steps.map((s, i) => (
            <g key={i} onMouseEnter={() => setHovered(i)}>
              <rect class="hit" x={edge.left + slot * i} y={edge.top} width={slot} height={inner.h} />
              {i > 0 && <line class="join" x1={x(i - 1) + bar} x2={x(i)} y1={y(s.from)} y2={y(s.from)} />}
              <rect
                class={`bar ${s.difference < 0 ? "failed" : "ok"} ${hovered === i ? "hover" : ""}`}
                x={x(i)}
                width={bar}
                y={Math.min(y(s.from), y(s.to))}
                height={Math.max(1.5, Math.abs(y(s.from) - y(s.to)))}
              />
              {i % every === 0 && (
                <text class="tick" x={x(i) + bar / 2} y={height - 6} text-anchor="middle">
                  {i + 1}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
    </>
  );
}
