// Which page is shown: the path below /ui/, and the query.
import { computed, signal } from "@preact/signals";

const root = "/ui/";

const here = signal(location.pathname + location.search);

addEventListener("popstate", () => (here.value = location.pathname + location.search));

const address = computed(() => new URL(here.value, location.origin));

/** The parts of the path: ["cuts", "prn_…"]. The first is never missing. */
export const parts = computed(() => {
  const path = address.value.pathname;
  const rest = path.startsWith(root) ? path.slice(root.length) : "";
  const found = rest.split("/").filter(Boolean).map(decoded);
  return found.length ? found : ["live"];
});

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const search = computed(() => address.value.searchParams);

/** The address of a page. */
export function link(page: string[], values: Record<string, string> = {}): string {
  const q = new URLSearchParams(Object.entries(values).filter(([, v]) => v !== "")).toString();
  return root + page.map(encodeURIComponent).join("/") + (q && "?" + q);
}

export function go(page: string[], values: Record<string, string> = {}): void {
  history.pushState(null, "", link(page, values));
  here.value = location.pathname + location.search;
  scrollTo(0, 0);
}

/** Changes one value of the query without a new entry in the history. */
export function setSearch(name: string, value: string): void {
  const to = new URL(location.href);
  if (value) to.searchParams.set(name, value);
  else to.searchParams.delete(name);
  history.replaceState(null, "", to.pathname + to.search);
  here.value = to.pathname + to.search;
}

/** Follows links to our own pages without loading them anew. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const a = (event.target as Element | null)?.closest("a");
  if (!a || a.target || a.hasAttribute("download") || a.origin !== location.origin || !a.pathname.startsWith(root)) return;
  event.preventDefault();
  if (a.getAttribute("href")?.startsWith("#")) return;
  history.pushState(null, "", a.pathname + a.search);
  here.value = a.pathname + a.search;
  scrollTo(0, 0);
}
