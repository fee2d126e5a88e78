// A page whose code is fetched when it is first shown.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Waiting } from "./empty.tsx";

const fetched = new Map<unknown, ComponentType>();

export function Lazy({ load }: { load: () => Promise<ComponentType> }) {
  const [, redraw] = useState(0);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let over = false;
    if (!fetched.has(load)) {
      load().then(
        (page) => {
          fetched.set(load, page);
          if (!over) redraw((n) => n + 1);
        },
        () => !over && setFailed(true),
      );
    }
    return () => {
      over = true;
    };
  }, [load]);
  const Page = fetched.get(load);
  if (Page) return <Page />;
  if (!failed) return <Waiting />;
  return (
    <div class="empty">
      <h2>This page could not be fetched</h2>
      <p>secateur may have been updated since the dashboard was opened.</p>
      <button type="button" onClick={() => location.reload()}>
        Load it anew
      </button>
    </div>
  );
}
