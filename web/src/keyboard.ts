// Keys: / filters, g and a letter goes, ? helps, Escape closes.
import { signal } from "@preact/signals";
import { go } from "./route.ts";
import { pages } from "./pages.ts";

export const helpOpen = signal(false);

let prefix = -Infinity; // when g was pressed

export function listenToKeys(): () => void {
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && helpOpen.value) {
    helpOpen.value = false;
    return;
  }
  if (typing(event.target)) return;
  const afterG = performance.now() - prefix < 1500;
  prefix = -Infinity;
  if (afterG) {
    const page = pages.find((p) => p.key === event.key);
    if (page) {
      event.preventDefault();
      go([page.id]);
    }
    return;
  }
  switch (event.key) {
    case "g":
      prefix = performance.now();
      return;
    case "?":
      event.preventDefault();
      helpOpen.value = !helpOpen.value;
      return;
    case "/": {
      const field = document.querySelector<HTMLInputElement>("[data-filter]");
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    }
  }
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
