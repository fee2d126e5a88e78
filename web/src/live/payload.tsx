// What a request and its answer said, where the configuration has it kept.
import { get } from "../api/client.ts";
import type { Captured, Payload as Kept } from "../api/types.ts";
import { bytes, moment } from "../format.ts";
import { useLoad } from "../load.ts";
import { CopyButton } from "../parts/copy.tsx";

export function Payload({ id }: { id: string }) {
  const { value } = useLoad(`payload ${id}`, () => get<Captured>(`/requests/${encodeURIComponent(id)}/payload`), 5000);
  if (!value?.enabled) return null;
  const { request, answer, expires_at } = value;
  return (
    <>
      <h3>
        Content <span class="muted">{expires_at ? `without secrets, until ${moment(expires_at)}` : "is not kept any more"}</span>
      </h3>
      {request && <One title="Request" body={request} />}
      {answer && <One title="Answer" body={answer} />}
    </>
  );
}

function One({ title, body }: { title: string; body: Kept }) {
  return (
    <div data-testid={`payload-${title.toLowerCase()}`}>
      <p class="with-copy">
        <b>{title}</b>
        <span class="muted">{body.note || (body.cut ? `the beginning of ${bytes(body.bytes)}` : bytes(body.bytes))}</span>
        {body.text && <CopyButton text={body.text} label={`Copy the ${title.toLowerCase()}`} />}
      </p>
      {body.text && (
        <pre class="text payload" tabIndex={0} aria-label={title}>
          {body.text}
        </pre>
      )}
    </div>
  );
}
