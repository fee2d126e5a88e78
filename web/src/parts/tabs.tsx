/** A choice of one among few. */
export function Tabs<T extends string>({ label, tabs, chosen, choose }: { label: string; tabs: { id: T; name: string }[]; chosen: T; choose: (id: T) => void }) {
  return (
    <div class="tabs" role="group" aria-label={label}>
      {tabs.map((t) => (
        <button key={t.id} data-testid={`tab-${t.id}`} type="button" aria-pressed={t.id === chosen} onClick={() => choose(t.id)}>
          {t.name}
        </button>
      ))}
    </div>
  );
}
