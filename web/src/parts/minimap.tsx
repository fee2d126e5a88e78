// All lines of a text in a narrow column: what stays, what goes, and where the scores are high.
import { useEffect, useRef } from "preact/hooks";
import { dark } from "../theme.ts";

export interface Mark {
  kept: boolean;
  score: number; // 0 to 1
}

interface Props {
  rows: number;
  mark: (i: number) => Mark;
  top: number; // first line in view
  view: number; // lines in view
  go: (line: number) => void;
}

const width = 56;

export function Minimap({ rows, mark, top, view, go }: Props) {
  const ref = useRef<HTMLCanvasElement>(null);
  const isDark = dark.value;
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return;
    const draw = (): void => {
      const height = canvas.clientHeight;
      canvas.width = width;
      canvas.height = height;
      const paint = canvas.getContext("2d");
      if (!paint || rows === 0 || height === 0) return;
      const style = getComputedStyle(canvas);
      const colours = { kept: style.getPropertyValue("--line-strong"), gone: style.getPropertyValue("--bad-soft"), score: style.getPropertyValue("--good"), view: style.getPropertyValue("--text") };
      const each = Math.max(1, Math.min(4, height / rows));
      const used = Math.min(height, rows * each);
      for (let y = 0; y < used; y += Math.ceil(each)) {
        let kept = false;
        let score = 0;
        for (let i = Math.floor((y / used) * rows); i < Math.max(Math.floor(((y + 1) / used) * rows), Math.floor((y / used) * rows) + 1) && i < rows; i++) {
          const m = mark(i);
          kept ||= m.kept;
          score = Math.max(score, m.score);
        }
        paint.fillStyle = kept ? colours.kept : colours.gone;
        paint.fillRect(0, y, 16, Math.ceil(each));
        paint.fillStyle = colours.score;
        paint.fillRect(20, y, Math.round(score * (width - 20)), Math.ceil(each));
      }
      paint.strokeStyle = colours.view;
      paint.strokeRect(0.5, Math.floor((top / rows) * used) + 0.5, width - 1, Math.max(6, Math.floor((Math.min(view, rows) / rows) * used) - 1));
    };
    draw();
    const sizes = new ResizeObserver(draw);
    sizes.observe(canvas);
    return () => sizes.disconnect();
  }, [rows, mark, top, view, isDark]);
  const jump = (event: MouseEvent): void => {
    const canvas = ref.current;
    if (!canvas) return;
    const used = Math.min(canvas.clientHeight, rows * Math.max(1, Math.min(4, canvas.clientHeight / Math.max(1, rows))));
    go(Math.floor(((event.clientY - canvas.getBoundingClientRect().top) / used) * rows));
  };
  return <canvas ref={ref} class="minimap" width={width} onClick={jump} aria-hidden="true" />;
}
