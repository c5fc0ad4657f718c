// Keys that do something on a page, and the list of them that ? shows.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

/** Keys are keys of a page: by the value of KeyboardEvent.key, what each does and the function that does it. */
export type Keys = Record<string, { does: string; act: () => void }>;

const everywhere: Keys = {
  "/": { does: "Go to the search field", act: () => document.querySelector<HTMLElement>("[data-search]")?.focus() },
};

/** active are the keys of what is on the page now, the latest last. */
const active: Keys[] = [everywhere];

/** useKeys gives keys a meaning while the component is shown. They do nothing while a person types into a field. */
export function useKeys(keys: Keys): void {
  const entry = useRef<Keys>({});
  // Layout effects, here and below: a key counts as soon as the page shows what it is for.
  useLayoutEffect(() => {
    const own = entry.current;
    active.push(own);
    return () => void active.splice(active.indexOf(own), 1);
  }, []);
  // The entry stays the same object, so that what a key does is always of the latest rendering.
  for (const key of Object.keys(entry.current)) delete entry.current[key];
  Object.assign(entry.current, keys);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !(target instanceof HTMLInputElement && /^(checkbox|radio|button|submit)$/.test(target.type))
  );
}

/** KeyboardHelp listens for the keys of the page and shows them by ?. The shell has one. */
export function KeyboardHelp() {
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?") {
        event.preventDefault();
        setOpen(true);
        return;
      }
      if (document.querySelector("dialog[open]") && !active.at(-1)?.[event.key]) return;
      const known = active.findLast((keys) => keys[event.key]);
      if (!known) return;
      event.preventDefault();
      known[event.key]!.act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <Dialog title="Keys" open={open} onClose={() => setOpen(false)}>
      <dl class="keys">
        {active
          .flatMap((keys) => Object.entries(keys))
          .map(([key, { does }]) => (
            <div key={key + does}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>Show these keys</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close what is open</dd>
        </div>
      </dl>
    </Dialog>
  );
}
