import { Dialog } from "./parts/dialog.tsx";
import { helpOpen } from "./keyboard.ts";
import { pages } from "./pages.ts";

const keys: [string, string][] = [
  ["/", "Go to the filter of a page"],
  ...pages.map((p): [string, string] => [`g ${p.key}`, `${p.name}: ${p.about.toLowerCase()}`]),
  ["p", "Live: pause and resume"],
  ["↑ ↓ Enter", "Live: choose a request and open it"],
  ["Esc", "Close, or clear the filter"],
  ["?", "This page"],
];

export function Help() {
  return (
    <Dialog title="Keyboard" close={() => (helpOpen.value = false)}>
      <dl class="keys-list">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h3>The filter</h3>
      <p>
        Words must all match. <code>server:</code>, <code>tool:</code>, <code>model:</code>, <code>outcome:</code>, <code>who:</code>, <code>door:</code>, <code>method:</code> and <code>id:</code> ask for one field;{" "}
        <code>*</code> stands for anything, <code>!</code> for not, a comma for or: <code>tool:read_* outcome:!ok who:alice,bob</code>.
      </p>
    </Dialog>
  );
}
