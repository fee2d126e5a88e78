// One cut: why, what for, whether it was recovered, and the texts.
import { useMemo, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { CutDetail as Detail, Original } from "../api/types.ts";
import { ago, compact, count, moment, percent } from "../format.ts";
import { useLoad } from "../load.ts";
import { Badge } from "../parts/badge.tsx";
import { CopyButton, Paste } from "../parts/copy.tsx";
import { Facts } from "../parts/dialog.tsx";
import { Trouble, Waiting } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { save } from "../parts/save.ts";
import { announce, announceFailure } from "../parts/toast.tsx";
import { link } from "../route.ts";
import { Compare } from "./compare.tsx";
import { segments } from "./segments.ts";
import { kindOf } from "./syntax.ts";

export function CutDetail({ id }: { id: string }) {
  const path = encodeURIComponent(id);
  const cut = useLoad(`cut ${id}`, () => get<Detail>(`/cuts/${path}`), 5000);
  const original = useLoad(`original ${id}`, () => get<Original>(`/originals/${path}?peek=true`));
  const value = cut.value;
  return (
    <article class="cut-detail" aria-labelledby="cut-title">
      <header class="detail-head">
        <a class="icon-button back" href={link(["cuts"])} aria-label="Back to the list" title="Back">
          <Icon name="close" />
        </a>
        <h2 id="cut-title">{value ? [value.server, value.tool].filter(Boolean).join("::") || value.model || "Cut" : "Cut"}</h2>
        <code class="muted">{id}</code>
        <CopyButton text={id} label="Copy the id" />
        <span class="grow" />
        <RecoverButton path={path} id={id} done={cut.again} />
      </header>
      {cut.failure && !value && <Trouble failure={cut.failure} again={cut.again} />}
      {value && <About cut={value} />}
      {original.failure && (
        <>
          <Trouble failure={original.failure} />
          {original.failure.status === 404 && <p class="muted">Originals are kept for a time, see [store] in the configuration; after that only the counts remain.</p>}
        </>
      )}
      {!original.value && !original.failure && <Waiting />}
      {original.value && value && <Texts cut={value} original={original.value.text} />}
      <Paste line={`secateur recover ${id}`} />
    </article>
  );
}

function RecoverButton({ path, id, done }: { path: string; id: string; done: () => void }) {
  const [busy, setBusy] = useState(false);
  const recover = async (): Promise<void> => {
    setBusy(true);
    try {
      const { text } = await get<Original>(`/originals/${path}`);
      save(`${id}.txt`, "text/plain;charset=utf-8", text);
      announce("Recovered, as it was");
      done();
    } catch (err) {
      announceFailure(err);
    }
    setBusy(false);
  };
  return (
    <button type="button" data-testid="recover" onClick={recover} disabled={busy} title="Saves the original as a file">
      <Icon name="save" /> Recover
    </button>
  );
}

function About({ cut }: { cut: Detail }) {
  return (
    <>
      <div class="cut-sum">
        <Badge tone="cut">{cut.feature}</Badge>
        <span>
          <b>{compact(cut.tokens_saved)}</b> tokens less
        </span>
        <span class="muted">
          {count(cut.kept_chars)} of {count(cut.original_chars)} characters kept ({percent(cut.kept_chars / Math.max(1, cut.original_chars))})
        </span>
        {cut.recovered ? <Badge tone="warn">recovered{cut.recovered_at ? ` ${ago(cut.recovered_at)}` : ""}</Badge> : <Badge tone="calm">not recovered</Badge>}
      </div>
      <Facts
        facts={[
          ["When", moment(cut.at)],
          ["Reason", cut.reason],
          ["Goal", cut.goal ? <span class="pre">{cut.goal}</span> : cut.feature === "pruned" ? "not known" : "none: what is cut is cut for its length or its age"],
          ["Model", cut.model],
          ["Recovered", cut.recovered && cut.recovered_at ? moment(cut.recovered_at) : ""],
        ]}
      />
    </>
  );
}

function Texts({ cut, original }: { cut: Detail; original: string }) {
  // Where only what went out is known, it stands beside the whole.
  const removed = cut.removed?.length ? cut.removed : cut.kept_text ? [{ start_line: 1, end_line: Infinity, start_char: 0, end_char: 0, reason: cut.reason }] : [];
  const found = useMemo(() => segments(original, removed, cut.kept_text), [original, JSON.stringify(removed), cut.kept_text]);
  const kind = useMemo(() => kindOf(original), [original]);
  return <Compare segments={found} kind={kind} before={original} after={cut.kept_text} unknown={removed.length === 0} />;
}
