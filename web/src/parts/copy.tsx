import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { announce } from "./toast.tsx";

/** Copies a text; the label says what. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setDone(true);
      announce("Copied");
      setTimeout(() => setDone(false), 1500);
    } catch {
      announce("The browser does not let this page copy; select the text instead", "bad");
    }
  };
  return (
    <button type="button" class="icon-button" onClick={copy} title={label} aria-label={label}>
      <Icon name={done ? "check" : "copy"} />
    </button>
  );
}

/** A line to paste into a terminal. */
export function Paste({ line }: { line: string }) {
  return (
    <div class="paste">
      <code>{line}</code>
      <CopyButton text={line} label="Copy this line" />
    </div>
  );
}
