// Tables of few rows, all of which are in the document. Long lists are tables of table.tsx.

import type { ComponentChildren } from "preact";

/** SmallColumn is one column of a small table. */
export interface SmallColumn<T> {
  title: string;
  /** cell makes the content of a row's cell. */
  cell: (row: T) => ComponentChildren;
  /** isName is true for the column that names the rows. */
  isName?: boolean;
  /** align is end for numbers. */
  align?: "start" | "end";
  /** mono is true for identifiers. */
  mono?: boolean;
  /** anywhere is true for texts that may be longer than a line without a space. */
  anywhere?: boolean;
}

interface SmallTableProps<T> {
  label: string;
  columns: readonly SmallColumn<T>[];
  rows: readonly T[];
  /** rowKey returns what identifies a row. */
  rowKey: (row: T) => string;
  /** isChosen says which rows are marked as those that are shown in full elsewhere on the page. */
  isChosen?: (row: T) => boolean;
}

/** SmallTable is a table with a head, which scrolls sideways where it is too wide. */
export function SmallTable<T>({ label, columns, rows, rowKey, isChosen }: SmallTableProps<T>) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, align }) => (
              <th key={title} scope="col" class={align}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} class={isChosen?.(row) ? "is-chosen" : undefined}>
              {columns.map((column) =>
                column.isName ? (
                  <th key={column.title} scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.title} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<T>({ align, mono, anywhere }: SmallColumn<T>): string | undefined {
  return [align, mono && "mono", anywhere && "anywhere"].filter(Boolean).join(" ") || undefined;
}
