// Facts about what a page shows, each with its title.

import type { ComponentChildren } from "preact";

/** Facts is a list of facts side by side, as many as the width allows. With row, each is only as wide as it needs. */
export function Facts({ row = false, children }: { row?: boolean; children: ComponentChildren }) {
  return <dl class={row ? "facts facts-row" : "facts"}>{children}</dl>;
}

/** Fact is one of them; nothing is shown if it has no content. */
export function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  if (children === undefined || children === null || children === false || children === "") return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
