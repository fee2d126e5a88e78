// A grid of many rows of one height, of which only those in view are in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  label: string;
  rows: number;
  rowHeight: number;
  header: ComponentChildren; // cells, each with role columnheader
  row: (index: number) => ComponentChildren; // cells, each with role gridcell
  open: (index: number) => void;
  testid: string; // of every row
  grown: number; // rows that came at the top, ever: whoever has scrolled down keeps what is in view
}

const around = 6; // rows rendered above and below the view

export function VirtualGrid({ label, rows, rowHeight, header, row, open, testid, grown }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(-1);
  const before = useRef(grown);

  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const measure = (): void => setView({ top: box.scrollTop, height: box.clientHeight });
    const sizes = new ResizeObserver(measure);
    sizes.observe(box);
    return () => sizes.disconnect();
  }, []);

  useLayoutEffect(() => {
    const more = grown - before.current;
    before.current = grown;
    if (more <= 0) return;
    const box = ref.current;
    if (box && box.scrollTop > rowHeight / 2) box.scrollTop += more * rowHeight;
    setActive((a) => (a >= 0 ? Math.min(a + more, rows - 1) : a));
  }, [grown]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - around);
  const last = Math.min(rows, Math.ceil((view.top + view.height) / rowHeight) + around);

  const move = (to: number): void => {
    const box = ref.current;
    const next = Math.max(0, Math.min(rows - 1, to));
    setActive(next);
    if (!box) return;
    const top = next * rowHeight;
    const room = box.clientHeight - headerHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + room) box.scrollTop = top + rowHeight - room;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const steps: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows - 1 };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(to);
    } else if ((event.key === "Enter" || event.key === " ") && active >= 0 && active < rows) {
      event.preventDefault();
      open(active);
    }
  };

  // A row keeps its elements as long as it is in view, and those that leave it are used again for those that come.
  const pool = Math.ceil(view.height / rowHeight) + 2 * around + 2;
  const slot = (i: number): number => (((grown - i) % pool) + pool) % pool;
  const shown = [];
  for (let i = first; i < last; i++) {
    shown.push(
      <div
        key={slot(i)}
        id={`row-${i}`}
        role="row"
        data-testid={testid}
        aria-rowindex={i + 2}
        aria-selected={i === active}
        class="grid-row"
        style={{ transform: `translateY(${i * rowHeight}px)`, height: `${rowHeight}px` }}
        onClick={() => {
          setActive(i);
          open(i);
        }}
      >
        {row(i)}
      </div>,
    );
  }
  return (
    <div
      ref={ref}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows + 1}
      {...(active >= first && active < last ? { "aria-activedescendant": `row-${active}` } : {})}
      onScroll={(e) => setView({ top: e.currentTarget.scrollTop, height: e.currentTarget.clientHeight })}
      onKeyDown={onKeyDown}
    >
      <div class="grid-head" role="rowgroup">
        <div class="grid-row" role="row" aria-rowindex={1}>
          {header}
        </div>
      </div>
      <div class="grid-body" role="rowgroup" style={{ height: `${rows * rowHeight}px` }}>
        {shown}
      </div>
    </div>
  );
}

const headerHeight = 32;
