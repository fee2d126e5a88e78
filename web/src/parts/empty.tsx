import type { ComponentChildren } from "preact";
import type { Failure } from "../api/client.ts";
import { Paste } from "./copy.tsx";

/** Where there is nothing yet: why, and the line that changes it. */
export function Empty({ title, children, line }: { title: string; children?: ComponentChildren; line?: string | undefined }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {line && <Paste line={line} />}
    </div>
  );
}

/** What went wrong, and what to do. */
export function Trouble({ failure, again }: { failure: Failure; again?: () => void }) {
  return (
    <div class="trouble" role="alert">
      <strong>{failure.message}</strong>
      {failure.hint && <p>{failure.hint}</p>}
      {failure.errors.map((e) => (
        <p key={e.file + e.line + e.key}>
          <code>
            {e.file}:{e.line}
          </code>{" "}
          {e.key} {e.message}
        </p>
      ))}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Grey bars in place of what is on its way. */
export function Waiting({ lines = 5 }: { lines?: number }) {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}
