// Light, dark, or as the system says. The choice is remembered by the browser.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const key = "secateur-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export const theme = signal<Theme>(remembered());
const systemDark = signal(system.matches);
system.addEventListener("change", (e) => (systemDark.value = e.matches));

/** Whether the page is dark right now; charts are drawn anew when it changes. */
export const dark = signal(false);

effect(() => {
  dark.value = theme.value === "dark" || (theme.value === "system" && systemDark.value);
  document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
});

export function nextTheme(): void {
  const order: Theme[] = ["system", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
  try {
    localStorage.setItem(key, theme.value);
  } catch {
    // A browser that keeps nothing still shows the theme until the page is closed.
  }
}

function remembered(): Theme {
  try {
    const said = localStorage.getItem(key);
    if (said === "light" || said === "dark") return said;
  } catch {
    // As above.
  }
  return "system";
}
