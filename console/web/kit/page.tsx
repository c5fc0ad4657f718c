// The frame of a page: its heading, which is also the title of the window, and tabs below it.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Link, useAddress } from "./router.tsx";
import { visible } from "./safe.ts";

interface PageProps {
  title: string;
  /** windowTitle names the window where the title must not stand in the browser's history, such as the name of a person. */
  windowTitle?: string;
  /** beside stands after the heading: a badge, for example. */
  beside?: ComponentChildren;
  /** actions stand at the end of the heading's line. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Page shows the heading and the content of a page, and names the window after it. */
export function Page({ title, windowTitle, beside, actions, children }: PageProps) {
  const shown = visible(title);
  const named = windowTitle ?? shown;
  useEffect(() => {
    document.title = `${named} · Sluice`;
  }, [named]);
  return (
    <>
      <header class="page-header">
        <h1>{shown}</h1>
        {beside}
        {actions && <div class="buttons">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** Tabs lead to the parts of a page, each with an address of its own. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly { to: string; text: string }[] }) {
  const { path } = useAddress();
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ to, text }) => (
        <Link key={to} to={to} aria-current={path === to ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
