// Pinned definitions of a server: those that are new or have changed since somebody approved them.
import { post } from "../api/client.ts";
import type { Pin } from "../api/types.ts";
import { plural } from "../format.ts";
import { Badge } from "../parts/badge.tsx";
import { announce, announceFailure } from "../parts/toast.tsx";

export function Pins({ server, pins, again }: { server: string; pins: Pin[]; again: () => void }) {
  const odd = pins.filter((p) => p.diff || (p.findings?.length ?? 0) > 0 || (p.state !== "pinned" && p.state !== ""));
  odd.sort((a, b) => Number(held(b)) - Number(held(a)));
  if (pins.length === 0) return null;
  const approve = async (tool: string): Promise<void> => {
    try {
      const { approved } = await post<{ approved: string[] | null }>("/pins/approve", { server, tool });
      announce(`Approved ${plural(approved?.length ?? 0, "definition")}`);
    } catch (err) {
      announceFailure(err);
    }
    again();
  };
  return (
    <>
      <h3>
        Pins <span class="muted">{odd.length === 0 ? `${plural(pins.length, "definition")}, all as they were approved` : `${odd.length} of ${pins.length} to look at`}</span>
      </h3>
      {odd.map((p) => (
        <div class="pin" key={`${p.kind} ${p.tool}`}>
          <div class="actions">
            <b>{p.tool}</b> <Badge tone={held(p) ? "bad" : "warn"}>{p.state}</Badge>
            <span class="grow" />
            {p.diff && (
              <button type="button" onClick={() => approve(p.tool)}>
                Approve
              </button>
            )}
          </div>
          {p.findings && p.findings.length > 0 && <p class="bad">Its definition has {p.findings.map((f) => findings[f] ?? f).join(", ")}.</p>}
          {p.diff && <Diff text={p.diff} />}
        </div>
      ))}
    </>
  );
}

/** Strict pins hold back what was not approved. */
const held = (p: Pin): boolean => p.state === "changed" || p.state === "new";

/** What is odd about a definition, in words. */
const findings: Record<string, string> = {
  invisible_characters: "invisible characters",
  ansi: "escape codes of terminals",
  instructions: "instructions to the model",
  markup: "markup",
  look_alike: "letters that look like others",
};

export function Diff({ text }: { text: string }) {
  return (
    <pre class="text diff" tabIndex={0} aria-label="What has changed">
      {text.split("\n").map((line, i) => (
        <span key={i} class={line.startsWith("+") ? "added" : line.startsWith("-") ? "gone" : ""}>
          {line + "\n"}
        </span>
      ))}
    </pre>
  );
}
