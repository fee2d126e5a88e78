// One request: timing, sizes, ids, what was done and why.
import { get, query } from "../api/client.ts";
import type { Account, Conversation, List } from "../api/types.ts";
import { bytes, compact, count, millis, moment, money, percent, plural, signedMoney } from "../format.ts";
import { useLoad } from "../load.ts";
import { Badge, outcomeTone } from "../parts/badge.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Dialog, Facts } from "../parts/dialog.tsx";
import { link } from "../route.ts";
import { choose, type Field } from "./filter.ts";
import { Payload } from "./payload.tsx";
import { savedOf, targetOf } from "./row.tsx";
import { logs, type Row } from "./store.ts";

interface Props {
  row: Row;
  close: () => void;
  text: string; // the filter
  narrow: (text: string) => void;
}

export function Drawer({ row, close, text, narrow }: Props) {
  const only = (field: Field, value: string) =>
    value ? (
      <button
        type="button"
        class="link"
        title="Show only these"
        onClick={() => {
          narrow(choose(text, field, value));
          close();
        }}
      >
        {value}
      </button>
    ) : (
      ""
    );
  const lines = logs.list().filter((l) => l.request_id === row.request_id);
  return (
    <Dialog side title={targetOf(row) || row.method || "Request"} close={close}>
      <p class="lead">
        <Badge tone={outcomeTone(row.outcome)}>{row.outcome.replaceAll("_", " ")}</Badge> in {millis(row.ms)} at the door <b>{row.door}</b>
      </p>
      {row.error && <pre class="text bad">{row.error}</pre>}
      <Done row={row} />
      <h3>Request</h3>
      <Facts
        facts={[
          ["When", moment(row.time)],
          ["Took", millis(row.ms)],
          ["In", `${bytes(row.bytes_in)} (${count(row.bytes_in)})`],
          ["Out", `${bytes(row.bytes_out)} (${count(row.bytes_out)})`],
          ["Server", only("server", row.server)],
          ["Tool", only("tool", row.tool)],
          ["Model", only("model", row.model ?? "")],
          ["Method", row.method],
          ["Principal", only("who", row.subject)],
          ["Outcome", only("outcome", row.outcome)],
          [
            "Request id",
            <span class="with-copy">
              <code>{row.request_id}</code>
              <CopyButton text={row.request_id} label="Copy the request id" />
            </span>,
          ],
        ]}
      />
      {row.door !== "admin" && <Payload id={row.request_id} />}
      {lines.length > 0 && (
        <>
          <h3>Log</h3>
          <pre class="text">{lines.map((l) => `${l.level} ${l.text}`).join("\n")}</pre>
        </>
      )}
    </Dialog>
  );
}

/** What was done to it, and why. */
function Done({ row }: { row: Row }) {
  const refusal = row.refusal;
  return (
    <>
      <h3>What was done</h3>
      {refusal && (
        <p>
          Refused: <b>{refusal.reason}</b>
          {refusal.rule && (
            <>
              {" "}
              by <code>{refusal.rule}</code>
            </>
          )}
          . <a href={link(["access"])}>Access</a> explains it.
        </p>
      )}
      {row.why && <p>{row.why}</p>}
      {row.door === "chat" && <Bill id={row.request_id} />}
      {row.cuts ? (
        <>
          <p>
            {plural(new Set(row.cuts.map((c) => c.id)).size, "text")} cut, about {compact(savedOf(row))} tokens less.
          </p>
          <ul class="plain">
            {[...new Map(row.cuts.map((c) => [c.id, c])).values()].map((c) => (
              <li key={c.id}>
                <a href={link(["cuts", c.id])}>{c.id}</a>
                <span class="muted">
                  {" "}
                  {c.feature}, {percent(c.kept_chars / Math.max(1, c.original_chars))} of {compact(c.original_chars)} characters kept{row.cuts && row.cuts.filter((o) => o.id === c.id).length > 1 ? ", in each of its places" : ""}
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : (
        !refusal && row.door !== "chat" && !row.why && <p class="muted">Nothing was cut: it passed as it came.</p>
      )}
    </>
  );
}

function Bill({ id }: { id: string }) {
  const { value } = useLoad(`bill ${id}`, async () => {
    const found = await get<List<Conversation>>("/conversations" + query({ request: id }));
    const first = found.items[0];
    return first ? get<Account>(`/conversations/${encodeURIComponent(first.id)}`) : null;
  });
  const request = value?.requests.find((r) => r.request_id === id);
  if (!value || !request) return <p class="muted">This request has no account: it failed, or its model has no price.</p>;
  return (
    <>
      <p>{request.why}</p>
      <Facts
        facts={[
          ["Paid", money(request.spent_usd)],
          ["Passing through", money(request.passthrough_usd)],
          ["Difference", signedMoney(request.passthrough_usd - request.spent_usd)],
          ["Prompt", `${count(request.prompt_tokens)} tokens, ${count(request.cached_tokens)} from the provider’s cache`],
          ["Conversation", <a href={link(["conversations", value.id])}>{value.id}</a>],
        ]}
      />
    </>
  );
}
