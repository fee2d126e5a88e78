import type { ComponentChildren } from "preact";

/** A number with what it is. */
export function Figure({ label, value, note, tone }: { label: string; value: ComponentChildren; note?: ComponentChildren; tone?: "bad" | "cut" | "good" | undefined }) {
  return (
    <div class={`figure ${tone ?? ""}`}>
      <span class="label">{label}</span>
      <span class="value">{value}</span>
      {note !== undefined && <span class="note">{note}</span>}
    </div>
  );
}
