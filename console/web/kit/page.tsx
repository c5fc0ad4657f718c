// The frame of a page: its heading, which is also the title of the window.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
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
