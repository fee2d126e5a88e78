import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface Props {
  title: string;
  close: () => void;
  children: ComponentChildren;
  side?: boolean; // at the right edge, beside what it is about
}

/** A dialog of the browser: it holds the focus, closes with Escape and gives the focus back. */
export function Dialog({ title, close, children, side = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  const onClick = (event: MouseEvent): void => {
    if (event.target === ref.current) close();
  };
  return (
    <dialog ref={ref} data-testid={side ? "drawer" : "dialog"} class={side ? "drawer" : "sheet"} aria-label={title} onClose={close} onClick={onClick}>
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="icon-button" onClick={close} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Terms and what they are. What is undefined or empty is left out. */
export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== "" && value !== null && value !== false)
        .map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
