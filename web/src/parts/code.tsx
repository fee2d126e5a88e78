import type { Kind } from "../cuts/syntax.ts";
import { tokenize } from "../cuts/syntax.ts";

/** One line of a text, coloured. */
export function Code({ text, kind }: { text: string; kind: Kind }) {
  return (
    <code>
      {tokenize(text, kind).map((t, i) =>
        t.kind ? (
          <span key={i} class={`s-${t.kind}`}>
            {t.text}
          </span>
        ) : (
          t.text
        ),
      )}
    </code>
  );
}
