// The pruner and the bill's policy, tried on a text or a conversation of one's own. Nothing is stored.
import { all, get } from "../api/client.ts";
import type { Demo } from "../api/types.ts";
import { useLoad } from "../load.ts";
import { Trouble } from "../parts/empty.tsx";
import { link, parts } from "../route.ts";
import { ConversationTry } from "./conversation.tsx";
import { TextTry } from "./text.tsx";

export function PlaygroundPage() {
  const known = useLoad("openapi", () => get<{ paths: Record<string, unknown> }>("/openapi.json"));
  const replays = known.value?.paths["/playground/conversation"] !== undefined;
  const conversation = replays && parts.value[1] === "conversation";
  const demos = useLoad("demos", () => all<Demo>("/playground/demos"));
  const here = { "aria-current": "page" as const };
  return (
    <section class="page playground" aria-labelledby="playground-title">
      <header class="page-head">
        <h1 id="playground-title">Playground</h1>
        {replays && (
          <nav class="tabs" aria-label="What to try">
            <a href={link(["playground"])} {...(conversation ? {} : here)}>
              Text
            </a>
            <a href={link(["playground", "conversation"])} {...(conversation ? here : {})}>
              Conversation
            </a>
          </nav>
        )}
        <span class="muted">nothing of it is stored or sent anywhere</span>
      </header>
      {demos.failure && <Trouble failure={demos.failure} again={demos.again} />}
      {conversation ? <ConversationTry demos={demos.value ?? []} /> : <TextTry demos={demos.value ?? []} />}
    </section>
  );
}
