// Files that are on their way while other pages of the console are shown. Leaving the console ends them, of which the
// browser warns.

import { useEffect, useState } from "preact/hooks";

/** Transfers are the files on their way to one place, in their order. */
export interface Transfers<T> {
  list: () => readonly T[];
  /** change replaces the list. */
  change: (next: readonly T[]) => void;
  /** update changes one file; it does nothing if the file is not in the list any more. */
  update: (key: string, some: Partial<T>) => void;
  /** use returns the list and renders the component again when it changes. */
  use: () => readonly T[];
}

/** makeTransfers makes an empty list. isLost reports whether leaving the console would end the transfer of a file. */
export function makeTransfers<T extends { key: string }>(isLost: (entry: T) => boolean): Transfers<T> {
  let entries: readonly T[] = [];
  const listeners = new Set<() => void>();
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  const change = (next: readonly T[]) => {
    entries = next;
    if (entries.some(isLost)) addEventListener("beforeunload", warn);
    else removeEventListener("beforeunload", warn);
    for (const tell of listeners) tell();
  };
  return {
    list: () => entries,
    change,
    update: (key, some) => change(entries.map((e) => (e.key === key ? { ...e, ...some } : e))),
    use: () => {
      const [shown, setShown] = useState(entries);
      useEffect(() => {
        const tell = () => setShown(entries);
        tell();
        listeners.add(tell);
        return () => void listeners.delete(tell);
      }, []);
      return shown;
    },
  };
}
