import { Icon } from "../parts/icon.tsx";
import { choose, chosen, type Field } from "./filter.ts";
import { changes, rows, type Row } from "./store.ts";
import { useRef } from "preact/hooks";

const facets: { field: Field; label: string; of: (r: Row) => string }[] = [
  { field: "server", label: "Server", of: (r) => r.server },
  { field: "tool", label: "Tool", of: (r) => r.tool },
  { field: "model", label: "Model", of: (r) => r.model ?? "" },
  { field: "outcome", label: "Outcome", of: (r) => r.outcome },
  { field: "who", label: "Principal", of: (r) => r.subject },
];

export function FilterBar({ text, set }: { text: string; set: (text: string) => void }) {
  const options = useOptions();
  return (
    <div class="filterbar" role="search" aria-label="Filter requests">
      <label class="filter">
        <Icon name="search" />
        <span class="hidden">Filter</span>
        <input
          data-filter
          data-testid="filter"
          type="search"
          value={text}
          placeholder="server:files tool:read_* outcome:!ok"
          spellcheck={false}
          autocomplete="off"
          onInput={(e) => set(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Escape") {
              if (e.currentTarget.value) set("");
              else e.currentTarget.blur();
            }
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      {facets.map(({ field, label }) => {
        const value = chosen(text, field);
        const known = options[field] ?? [];
        const selected = known.find((k) => k.toLowerCase() === value) ?? value;
        return (
          <label class="facet" key={field}>
            <span class="hidden">{label}</span>
            <select value={selected} class={value ? "set" : ""} onChange={(e) => set(choose(text, field, e.currentTarget.value))}>
              <option value="">{label}</option>
              {known.map((k) => (
                <option key={k} value={k}>
                  {k}
                </option>
              ))}
              {selected !== "" && !known.includes(selected) && <option value={selected}>{selected}</option>}
            </select>
          </label>
        );
      })}
    </div>
  );
}

/** The values that were seen, looked at again every few hundred rows. */
function useOptions(): Partial<Record<Field, string[]>> {
  const cache = useRef<{ total: number; values: Partial<Record<Field, string[]>> }>({ total: -1, values: {} });
  const now = changes.value >= 0 ? rows.total : 0;
  const c = cache.current;
  if (c.total < 0 || now - c.total > 200 || (now !== c.total && now < 200)) {
    const values: Partial<Record<Field, string[]>> = {};
    for (const { field, of } of facets) {
      const seen = new Set<string>();
      for (let i = 0; i < rows.length && seen.size < 200; i++) {
        const row = rows.newest(i);
        if (row && of(row)) seen.add(of(row));
      }
      values[field] = [...seen].sort();
    }
    cache.current = { total: now, values };
  }
  return cache.current.values;
}
