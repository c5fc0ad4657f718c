// Tables of thousands of rows: only the rows in view are in the document, and the keyboard goes through all of them.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Stash, stashHere } from "./stash.ts";
import { navigate, useAddress } from "./router.tsx";

/** Column is one column of a table. */
export interface Column<T> {
  /** key names the column among those of its table. */
  key: string;
  title: string;
  /** cell makes the content of a row's cell. */
  cell: (row: T) => ComponentChildren;
  /** width is a track of CSS grid: "8rem", "minmax(10rem, 2fr)". */
  width: string;
  /** align is end for numbers. */
  align?: "start" | "end";
  /** narrow is false for columns that are left out on narrow screens. */
  narrow?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** rowKey returns what identifies a row. */
  rowKey: (row: T) => string;
  /** open is what Enter and a click do with a row: an address to go to, or an action. */
  open?: ((row: T) => string | void) | undefined;
  /** onEnd is called when the last rows come into view: the place to load more. */
  onEnd?: (() => void) | undefined;
  /** total is the number of all rows if it is known, also of those that are not loaded. */
  total?: number | undefined;
  /** selected is the key of the selected row; undefined leaves the selection to the table. */
  selected?: string | undefined;
  onSelect?: ((row: T) => void) | undefined;
  /** marked says whether a row is marked, for example for an action on several. */
  marked?: ((row: T) => boolean) | undefined;
}

/** rowHeight is the height of a row in pixels; --row-height in tokens.css is the same. */
const rowHeight = 36;
/** headHeight is the height of the head in pixels; --head-height in tokens.css is the same. */
const headHeight = 32;
/** spare is the number of rows that are drawn above and below those in view. */
const spare = 8;

/**
 * Table is a grid with one selected row: the arrow keys, Page Up and Down, Home and End move the selection, Enter opens
 * it. It is as high as its place allows and scrolls inside.
 */
export function Table<T>(props: TableProps<T>) {
  const { columns, rows, rowKey, open, onEnd, marked } = props;
  const grid = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [own, setOwn] = useState("");
  const noteTop = usePlace(grid, props.label, own, setOwn);
  const selected = props.selected ?? own;
  const at = Math.max(
    0,
    rows.findIndex((row) => rowKey(row) === selected),
  );

  useLayoutEffect(() => {
    const element = grid.current;
    if (!element) return;
    const measure = () =>
      setView((old) => (old.height === element.clientHeight ? old : { ...old, height: element.clientHeight }));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  useEffect(() => {
    if (last >= rows.length) onEnd?.();
  }, [last, rows.length]);

  // A row that the page selects, by a key of its own, comes into view, too.
  useEffect(() => {
    if (props.selected && rows[at] !== undefined && rowKey(rows[at]) === selected) reveal(grid.current, at);
  }, [props.selected]);

  const select = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row === undefined) return;
    setOwn(rowKey(row));
    props.onSelect?.(row);
    reveal(grid.current, rows.indexOf(row));
    noteTop();
  };
  const follow = (row: T) => {
    const to = open?.(row);
    if (typeof to === "string") navigate(to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (
      event.target !== event.currentTarget &&
      event.key !== "Escape" &&
      (event.target as HTMLElement).closest("a,button,input")
    )
      return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    };
    const row = rows[at];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isStep = Math.abs(moves[event.key]! - at) === 1;
    if (event.key in moves) select(selected === "" && isStep ? 0 : moves[event.key]!);
    else if (event.key === "Enter" && row !== undefined) follow(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const template = columns.map((column) => column.width).join(" ");
  const narrowTemplate = columns
    .filter((column) => column.narrow !== false)
    .map((column) => column.width)
    .join(" ");
  const id = `table-${props.label.replaceAll(/\W+/g, "-")}`;
  return (
    <div
      class="table"
      role="grid"
      aria-label={props.label}
      aria-rowcount={(props.total ?? rows.length) + 1}
      aria-colcount={columns.length}
      aria-activedescendant={selected !== "" && at >= first && at < last ? `${id}-${at}` : undefined}
      ref={grid}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={(event) => {
        const top = event.currentTarget.scrollTop;
        setView((old) => ({ ...old, top }));
      }}
      style={{ "--columns": template, "--columns-narrow": narrowTemplate, "--rows": rows.length }}
    >
      <div class="table-head" role="row" aria-rowindex={1}>
        {columns.map((column, c) => (
          <div key={column.key} role="columnheader" aria-colindex={c + 1} class={cellClass(column)}>
            {column.title}
          </div>
        ))}
      </div>
      <div class="table-space" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => {
          const index = first + i;
          const key = rowKey(row);
          return (
            <div
              key={key}
              id={`${id}-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={key === selected}
              class={
                `table-row${key === selected ? " is-selected" : ""}` +
                `${marked?.(row) ? " is-marked" : ""}${open ? " is-open" : ""}`
              }
              style={{ top: `${index * rowHeight}px` }}
              onClick={(event) => {
                setOwn(key);
                props.onSelect?.(row);
                if (!(event.target as HTMLElement).closest("a,button,input,label") && !String(getSelection()))
                  follow(row);
              }}
            >
              {columns.map((column, c) => (
                <div key={column.key} role="gridcell" aria-colindex={c + 1} class={cellClass(column)}>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Place is where a person was in a table. */
interface Place {
  top: number;
  selected: string;
  hasFocus: boolean;
}

/**
 * usePlace puts a table back where the person left it, when Back or Forward lead to it again. It returns what notes
 * how far the table is scrolled, for those who scroll it: the browser tells of that only later.
 */
function usePlace(
  grid: { current: HTMLDivElement | null },
  label: string,
  selected: string,
  select: (key: string) => void,
): () => void {
  const { entry } = useAddress();
  const latest = useRef(selected);
  latest.current = selected;
  const top = useRef(0);
  const note = () => void (top.current = grid.current?.scrollTop ?? 0);
  useLayoutEffect(() => {
    const element = grid.current!;
    const stash: Stash<Place> = stashHere(`place in ${label}`);
    const was = stash.get();
    if (was) {
      select(was.selected);
      element.scrollTop = was.top;
      const focused = document.activeElement;
      if (was.hasFocus && (focused === null || focused === document.body || focused.id === "main"))
        element.focus({ preventScroll: true });
    }
    note();
    element.addEventListener("scroll", note);
    return () => {
      element.removeEventListener("scroll", note);
      // Not how far it is scrolled now: it may have other rows already.
      const hasFocus = element.contains(document.activeElement);
      stash.put({ top: top.current, selected: latest.current, hasFocus });
    };
  }, [entry]);
  return note;
}

function cellClass<T>(column: Column<T>): string {
  return `cell${column.align === "end" ? " cell-end" : ""}${column.narrow === false ? " cell-wide-only" : ""}`;
}

/** reveal scrolls a table so that a row is in view, below the head, which stays. */
function reveal(grid: HTMLElement | null, index: number): void {
  if (!grid) return;
  const top = index * rowHeight;
  const height = grid.clientHeight - headHeight;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + rowHeight > grid.scrollTop + height) grid.scrollTop = top + rowHeight - height;
}
