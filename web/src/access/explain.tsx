// Which rule decides about a call, and why the others do not.
import { useState } from "preact/hooks";
import { all, Failure, get, query } from "../api/client.ts";
import type { Explanation, TokenName, Tool } from "../api/types.ts";
import { useLoad } from "../load.ts";
import { Badge } from "../parts/badge.tsx";
import { Trouble } from "../parts/empty.tsx";

const doors = ["mcp", "gateway", "chat", "pruner", "admin"];

export function Explain({ tokens }: { tokens: TokenName[] }) {
  const tools = useLoad("explain tools", () => all<Tool>("/tools"));
  const [principal, setPrincipal] = useState("anonymous");
  const [target, setTarget] = useState("");
  const [door, setDoor] = useState("mcp");
  const [answer, setAnswer] = useState<Explanation | Failure | null>(null);
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      setAnswer(await get<Explanation>("/access/explain" + query({ principal, target, door })));
    } catch (err) {
      setAnswer(err instanceof Failure ? err : new Failure(0, { detail: String(err) }));
    }
  };
  return (
    <section class="card" aria-labelledby="explain">
      <header>
        <h2 id="explain">Explain a call</h2>
        <span class="muted">who may have what, and why</span>
      </header>
      <form class="explain" onSubmit={ask}>
        <label>
          Principal
          <input data-testid="explain-principal" list="principals" required value={principal} onInput={(e) => setPrincipal(e.currentTarget.value)} placeholder="ci, or subject=a,role=dev" spellcheck={false} />
        </label>
        <label>
          Target
          <input data-testid="explain-target" list="targets" required value={target} onInput={(e) => setTarget(e.currentTarget.value)} placeholder="files::read_file, model:gpt-5" spellcheck={false} />
        </label>
        <label>
          Door
          <select value={door} onChange={(e) => setDoor(e.currentTarget.value)}>
            {doors.map((d) => (
              <option key={d} value={d}>
                {d}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" data-testid="explain-submit" class="primary">
          Explain
        </button>
        <datalist id="principals">
          <option value="anonymous" />
          {tokens.map((t) => (
            <option key={t.name} value={t.name} />
          ))}
        </datalist>
        <datalist id="targets">
          {tools.value?.map((t) => (
            <option key={t.name} value={t.name} />
          ))}
        </datalist>
      </form>
      <div aria-live="polite" data-testid="explain-result">{answer instanceof Failure ? <Trouble failure={answer} /> : answer && <Answer value={answer} />}</div>
    </section>
  );
}

function Answer({ value }: { value: Explanation }) {
  return (
    <div class="verdict">
      <p>
        <Badge tone={value.decision === "allow" ? "good" : "bad"}>{value.decision}</Badge> <b>{value.principal}</b> and <code>{value.target}</code>:{" "}
        {value.rule ? (
          <>
            the rule <code>{value.rule}</code> decides.
          </>
        ) : (
          "no rule matches, so the default decides."
        )}
        {value.redact.length > 0 && ` Redacted by ${value.redact.join(", ")}.`}
      </p>
      <ol class="because">
        {value.rules.map((r, i) => (
          <li key={i} class={r.matched ? "matched" : ""}>
            <code>{r.rule}</code> <span>{r.because}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
