import type { Tool } from "../api/types.ts";
import { count } from "../format.ts";
import { Badge } from "../parts/badge.tsx";
import { Waiting } from "../parts/empty.tsx";

/** The tools of a server, the dearest definition first, and how much of the tokens of all its definitions they take. */
export function Tools({ tools, of }: { tools: Tool[] | undefined; of: number }) {
  if (!tools) return <Waiting lines={3} />;
  const sorted = tools.toSorted((a, b) => b.tokens - a.tokens);
  const most = Math.max(1, ...tools.map((t) => t.tokens));
  const total = tools.reduce((sum, t) => sum + t.tokens, 0);
  return (
    <>
      <h3>
        Tools <span class="muted">
          {total === of ? count(total) : `${count(total)} of ${count(of)}`} tokens of definitions, estimated
        </span>
      </h3>
      {tools.length === 0 ? (
        <p class="muted">It lists none.</p>
      ) : (
        <ul class="bars">
          {sorted.map((t) => (
            <li key={t.name}>
              <span class="name" title={t.tool}>
                {t.tool}
              </span>
              {(t.pin === "changed" || t.pin === "new") && <Badge tone="bad">{t.pin}</Badge>}
              <span class="track" aria-hidden="true">
                <span style={{ width: `${(t.tokens / most) * 100}%` }} />
              </span>
              <span class="num">{count(t.tokens)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
