import type { AccessRules } from "../api/types.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Paste } from "../parts/copy.tsx";
import { conditions } from "./words.ts";

const tones: Record<string, Tone> = { allow: "good", deny: "bad", redact: "cut" };

/** The rules in their order. */
export function Rules({ access }: { access: AccessRules }) {
  const rules = access.rules ?? [];
  return (
    <section class="card" aria-labelledby="rules">
      <header>
        <h2 id="rules">Rules</h2>
        <span class="muted">read in order; the first that allows or denies decides</span>
      </header>
      <ol class="rules">
        {rules.map((r, i) => (
          <li key={i}>
            <Badge tone={tones[r.action] ?? "calm"}>{r.action}</Badge>
            <b>{r.name}</b>
            <span class="conditions">
              {conditions(r).map((c) => (
                <span key={c.key}>
                  <span class="muted">{c.key}</span> <code>{c.values}</code>
                </span>
              ))}
              {conditions(r).length === 0 && <span class="muted">everything</span>}
            </span>
          </li>
        ))}
        <li>
          <Badge tone={tones[access.default] ?? "calm"}>{access.default}</Badge>
          <b>default</b>
          <span class="muted">whatever no rule decides</span>
        </li>
      </ol>
      {rules.length === 0 && (
        <>
          <p class="muted">There is no rule yet. One for the configuration file:</p>
          <Paste line={'[[acl]]\nname = "no-writes"\ntool = ["write_*", "delete_*"]\naction = "deny"'} />
        </>
      )}
    </section>
  );
}
