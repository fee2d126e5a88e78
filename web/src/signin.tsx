// Asks for a token, once. The page keeps none of it: it has half of a session, and a cookie that no script can read the other.
import { useState } from "preact/hooks";
import { Failure, signIn } from "./api/client.ts";
import type { Identity } from "./api/types.ts";
import { Icon } from "./parts/icon.tsx";
import { Paste } from "./parts/copy.tsx";

function inWords(failure: Failure): string {
  if (failure.status === 401 && failure.code !== "no_cookie") return failure.reason === "expired" ? "This token has expired." : "This token is not valid here.";
  return failure.message + (failure.hint && `. ${failure.hint}`);
}

export function SignIn({ who }: { who: Identity | null }) {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(token.trim());
    } catch (err) {
      setFailure(err instanceof Failure ? err : new Failure(0, { detail: String(err) }));
    }
    setBusy(false);
  };
  return (
    <main class="signin">
      <form onSubmit={submit}>
        <h1>
          <Icon name="cuts" /> secateur
        </h1>
        {who && (
          <p role="alert">
            <b>{who.subject}</b> is signed in, but the dashboard needs the role <code>admin</code>.
          </p>
        )}
        <label for="token">Token of the role admin</label>
        <input id="token" data-testid="signin-token" type="password" autocomplete="current-password" required value={token} onInput={(e) => setToken(e.currentTarget.value)} aria-describedby="token-help" />
        {failure && (
          <p class="bad" role="alert">
            {inWords(failure)}
          </p>
        )}
        <button type="submit" data-testid="signin-submit" class="primary" disabled={busy || token.trim() === ""}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
        <div id="token-help" class="muted">
          <p>It is asked for once. The browser keeps a session instead of it, for a day at most. A token of your own:</p>
          <Paste line="secateur token new dashboard --role admin" />
        </div>
      </form>
    </main>
  );
}
