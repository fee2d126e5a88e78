// Many lines of one height, of which only those in view are in the document. It scrolls both ways.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Minimap, type Mark } from "./minimap.tsx";

interface Props {
  label: string;
  rows: number;
  chars: number; // of the longest line
  row: (i: number) => ComponentChildren;
  map?: (i: number) => Mark; // draws all of them beside
}

const height = 20;

export function Lines({ label, rows, chars, row, map }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const sizes = new ResizeObserver(() => setView({ top: box.scrollTop, height: box.clientHeight }));
    sizes.observe(box);
    return () => sizes.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / height) - 20);
  const last = Math.min(rows, Math.ceil((view.top + view.height) / height) + 20);
  const shown = [];
  for (let i = first; i < last; i++) {
    shown.push(
      <div key={i} class="text-line" style={{ transform: `translateY(${i * height}px)` }}>
        {row(i)}
      </div>,
    );
  }
  const list = (
    <div ref={ref} class="lines" tabIndex={0} role="region" aria-label={label} onScroll={(e) => setView({ top: e.currentTarget.scrollTop, height: e.currentTarget.clientHeight })}>
      <div class="lines-inner" style={{ height: `${rows * height}px`, minWidth: `calc(${Math.min(chars, 4000)}ch + 130px)` }}>
        {shown}
      </div>
    </div>
  );
  if (!map) return list;
  return (
    <div class="with-map">
      {list}
      <Minimap rows={rows} mark={map} top={view.top / height} view={view.height / height} go={(line) => ref.current?.scrollTo({ top: line * height - view.height / 2 })} />
    </div>
  );
}
