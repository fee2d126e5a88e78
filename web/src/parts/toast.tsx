// Short words about what was done. They are read out politely and go by themselves.
import { signal } from "@preact/signals";

interface Toast {
  n: number;
  text: string;
  tone: "calm" | "bad";
}

const toasts = signal<Toast[]>([]);
let last = 0;

export function announce(text: string, tone: Toast["tone"] = "calm"): void {
  const toast = { n: ++last, text, tone };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => (toasts.value = toasts.value.filter((t) => t !== toast)), tone === "bad" ? 9000 : 3000);
}

export function announceFailure(err: unknown): void {
  const hint = err instanceof Error && "hint" in err && err.hint ? `. ${String(err.hint)}` : "";
  announce((err instanceof Error ? err.message : String(err)) + hint, "bad");
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((t) => (
        <div key={t.n} class={`toast ${t.tone}`}>
          {t.text}
        </div>
      ))}
    </div>
  );
}
