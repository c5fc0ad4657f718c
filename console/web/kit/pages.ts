// A list that the service gives in pages: the first one at once, further ones when they come into view.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api.ts";
import { stashHere } from "./stash.ts";
import { useAddress } from "./router.tsx";

/** Pages is a list as far as it is loaded. */
export interface Pages<T> {
  /** items are those of all pages so far; undefined before the first page. */
  items: readonly T[] | undefined;
  /** isComplete is true if there are no further pages. */
  isComplete: boolean;
  /** loading is true while a page is awaited. */
  loading: boolean;
  /** error is why the last page did not come; more tries again. */
  error: ApiError | undefined;
  /** more loads the next page, unless one is awaited or there is none. */
  more: () => void;
  /** reload begins again; the items stay until the first page comes. */
  reload: () => void;
}

/** Page is one page of a list. */
interface PageOf<T> {
  items: readonly T[];
  /** next asks for the following page; null or "" if there is none. */
  next: string | null | undefined;
}

/**
 * usePages loads a list by load, which gets the token of the page, undefined for the first, and a signal that ends with
 * the key. The key holds everything that load depends on; "" loads nothing. Empty pages are passed over.
 */
export function usePages<T>(
  key: string,
  load: (next: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>,
): Pages<T> {
  const { entry } = useAddress();
  const [state, setState] = useState<State<T>>(() => {
    const was = stashHere<Part<T>>(`list ${key}`).get();
    return was ? { key, items: was.items, next: was.next, loading: false } : { key, loading: key !== "" };
  });
  const latest = useRef(load);
  latest.current = load;
  const current = useRef<List<T> | undefined>(undefined);
  const [attempt, setAttempt] = useState(0);

  const more = useCallback(async () => {
    const list = current.current;
    if (list) list.isWanted = list.isLoading;
    if (!list || list.isLoading || list.isComplete || list.ended.signal.aborted) return;
    list.isLoading = true;
    setState((old) => ({ ...old, loading: true }));
    try {
      Object.assign(list, await readOn(list, list.items.length + 1, latest.current, list.ended.signal));
      setState({ key, items: list.items, next: list.next, loading: false });
    } catch (cause) {
      if (list.ended.signal.aborted) return;
      const error = asApiError(cause);
      setState((old) => (old.key === key ? { ...old, loading: false, error } : { key, loading: false, error }));
    } finally {
      list.isLoading = false;
    }
  }, [key]);

  const shown = useRef("");
  useEffect(() => {
    if (key === "") return;
    const name = `list ${key}`;
    const stash = stashHere<Part<T>>(name);
    const isAgain = shown.current === entry + name; // asked for anew: what was kept does not count
    shown.current = entry + name;
    const was = isAgain ? undefined : stash.get();
    const list: List<T> = { ...(was ?? nothing), ended: new AbortController(), isLoading: false, isWanted: false };
    current.current = list;
    if (was) {
      setState({ key, items: was.items, next: was.next, loading: false });
      void renew(list, latest.current, () => {
        setState({ key, items: list.items, next: list.next, loading: false });
        if (list.isWanted) void more();
      });
    } else void more();
    return () => {
      list.ended.abort();
      if (list.items.length > 0) stash.put({ items: list.items, next: list.next, isComplete: list.isComplete });
    };
  }, [key, entry, attempt]);

  const isCurrent = state.key === key;
  return {
    items: isCurrent ? state.items : undefined,
    isComplete: isCurrent && state.items !== undefined && state.next === undefined,
    loading: key !== "" && (!isCurrent || state.loading),
    error: isCurrent ? state.error : undefined,
    more: useCallback(() => void more(), [more]),
    reload: useCallback(() => setAttempt((n) => n + 1), []),
  };
}

/** Part is a list as far as it is loaded. */
interface Part<T> {
  items: readonly T[];
  /** next asks for the following page; undefined for the first, and after the last. */
  next: string | undefined;
  isComplete: boolean;
}

/** List is the list that is shown. */
interface List<T> extends Part<T> {
  ended: AbortController;
  isLoading: boolean;
  /** isWanted is true if more was asked for while something was loading. */
  isWanted: boolean;
}

interface State<T> {
  key: string;
  items?: readonly T[];
  next?: string | undefined;
  loading: boolean;
  error?: ApiError;
}

const nothing: Part<never> = { items: [], next: undefined, isComplete: false };

type Load<T> = (next: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>;

/** readOn reads pages after a part of a list until there is a number of items, or no further page. */
async function readOn<T>(from: Part<T>, count: number, load: Load<T>, signal: AbortSignal): Promise<Part<T>> {
  let { items, next, isComplete } = from;
  while (items.length < count && !isComplete) {
    const page = await load(next, signal);
    signal.throwIfAborted();
    items = page.items.length === 0 ? items : [...items, ...page.items];
    isComplete = !page.next || page.next === next;
    next = isComplete ? undefined : page.next!;
  }
  return { items, next, isComplete };
}

/**
 * renew reads a list that was kept again, as far as it was loaded, and then shows it. If that fails, it stays as it
 * was.
 */
async function renew<T>(list: List<T>, load: Load<T>, show: () => void): Promise<void> {
  list.isLoading = true;
  try {
    Object.assign(list, await readOn(nothing, list.items.length, load, list.ended.signal));
  } catch {
    // What was kept is shown; loading more says what is wrong.
  }
  list.isLoading = false;
  if (!list.ended.signal.aborted) show();
}

function asApiError(cause: unknown): ApiError {
  return cause instanceof ApiError
    ? cause
    : new ApiError(0, "The page cannot read the answer.", [String(cause)], "", 0, cause);
}
