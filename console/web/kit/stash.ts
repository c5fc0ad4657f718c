// What lists keep for the time when a person comes back by Back or Forward: what was loaded, scrolled to and selected.
// It is kept by the entry of the browser's history, as long as the window is not loaded anew.

import { readAddress } from "./router.tsx";

/** most is how many things are kept: a person goes back a few pages, and each may hold thousands of rows. */
const most = 16;

const stashed = new Map<string, unknown>();

/** Stash is the place of one thing of one entry of the history. */
export interface Stash<T> {
  /** get returns what was kept; undefined if nothing was, or too long ago. */
  get: () => T | undefined;
  put: (value: T) => void;
}

/** stashHere returns the place of what has a name, in the entry that the browser shows now. */
export function stashHere<T>(name: string): Stash<T> {
  const key = `${readAddress().entry} ${name}`;
  return {
    get: () => stashed.get(key) as T | undefined,
    put: (value) => {
      stashed.delete(key);
      stashed.set(key, value);
      for (const old of stashed.keys()) {
        if (stashed.size <= most) break;
        stashed.delete(old);
      }
    },
  };
}
