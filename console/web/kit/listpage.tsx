// What pages with a list that comes in pages are made of: the table with all that may stand in its place, how many rows
// there are, and the field that opens one of them by its ID.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ErrorNotice, Live, Skeleton } from "./feedback.tsx";
import { TextField } from "./fields.tsx";
import { counted } from "./format.tsx";
import type { Pages } from "./pages.ts";
import { navigate } from "./router.tsx";
import { type Column, Table } from "./table.tsx";

interface PagedTableProps<T> {
  label: string;
  pages: Pages<T>;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  /** open is what Enter and a click do with a row. */
  open: (row: T) => string;
  /** children stand where the list is empty. */
  children: ComponentChildren;
}

/** PagedTable shows a list as far as it is loaded, and loads more as it is scrolled. */
export function PagedTable<T>({ label, pages, columns, rowKey, open, children }: PagedTableProps<T>) {
  const { items, error, more, reload } = pages;
  return (
    <>
      {error && <ErrorNotice error={error} retry={items ? more : reload} />}
      {!items ? (
        !error && <Skeleton lines={12} />
      ) : items.length === 0 ? (
        children
      ) : (
        <Table
          label={label}
          columns={columns}
          rows={items}
          rowKey={rowKey}
          open={open}
          onEnd={error ? undefined : more}
        />
      )}
    </>
  );
}

/** PagedCount says how many rows are loaded, also to screen readers. It stands beside the heading. */
export function PagedCount<T>({
  pages: { items, isComplete },
  noun,
  plural,
}: {
  pages: Pages<T>;
  noun: string;
  plural?: string;
}) {
  if (!items) return null;
  const text = `${counted(items.length, noun, plural)}${isComplete ? "" : " so far"}`;
  return (
    <>
      <span class="aside tabular">{text}</span>
      <Live text={text} />
    </>
  );
}

/** OpenById opens what has an ID; to makes its address. */
export function OpenById({ label, to, maxLength }: { label: string; to: (id: string) => string; maxLength: number }) {
  const [id, setId] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim()) navigate(to(id.trim()));
      }}
    >
      <TextField label={label} placeholder="Enter opens it" value={id} onValue={setId} maxLength={maxLength} />
    </form>
  );
}
