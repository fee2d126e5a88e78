import { identity, signOut } from "./api/client.ts";
import { helpOpen } from "./keyboard.ts";
import { connection } from "./live/store.ts";
import { pages } from "./pages.ts";
import { Icon } from "./parts/icon.tsx";
import { announceFailure } from "./parts/toast.tsx";
import { link, parts } from "./route.ts";
import { nextTheme, theme } from "./theme.ts";

export function Navigation() {
  const here = parts.value[0] === "conversations" ? "savings" : parts.value[0];
  const who = identity.value;
  const icon = { system: "system", light: "sun", dark: "moon" } as const;
  return (
    <nav class="nav" aria-label="Pages">
      <a class="brand" href={link(["live"])}>
        <Icon name="cuts" />
        <span>secateur</span>
      </a>
      <ul>
        {pages.map((p) => (
          <li key={p.id}>
            <a data-testid={`nav-${p.id}`} href={link([p.id])} title={`${p.about} (g ${p.key})`} {...(here === p.id ? { "aria-current": "page" as const } : {})}>
              <Icon name={p.id} />
              <span>{p.name}</span>
              {p.id === "live" && <span class={`dot ${connection.value}`} aria-hidden="true" />}
            </a>
          </li>
        ))}
      </ul>
      <div class="nav-foot">
        <button data-testid="theme" type="button" class="icon-button" onClick={nextTheme} title={`Colours: ${theme.value}`} aria-label={`Colours: ${theme.value}. Change`}>
          <Icon name={icon[theme.value]} />
        </button>
        <button type="button" class="icon-button" onClick={() => (helpOpen.value = true)} title="Keyboard (?)" aria-label="Keyboard and help">
          <Icon name="help" />
        </button>
        {who && who.issuer !== "none" && (
          <button data-testid="signout" type="button" class="icon-button" onClick={() => signOut().catch(announceFailure)} title={`Sign out ${who.subject}`} aria-label={`Sign out ${who.subject}`}>
            <Icon name="leave" />
          </button>
        )}
      </div>
    </nav>
  );
}
