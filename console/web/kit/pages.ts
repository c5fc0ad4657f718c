// A list that the service gives in pages: the first one at once, further ones when they come into view.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api.ts";

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
export interface PageOf<T> {
  items: readonly T[];
  /** next asks for the following page; null or "" if there is none. */
  next: string | null | undefined;
}

/**
 * usePages loads a list by load, which gets the token of the page, undefined for the first, and a signal that ends with the key. The
 * key holds everything that load depends on; "" loads nothing. Empty pages are passed over.
 */
export function usePages<T>(
  key: string,
  load: (next: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>,
): Pages<T> {
  const [state, setState] = useState<{
    key: string;
    items?: readonly T[];
    next?: string | undefined;
    loading: boolean;
    error?: ApiError;
  }>({ key, loading: key !== "" });
  const latest = useRef(load);
  latest.current = load;
  const current = useRef<
    | { ended: AbortController; next: string | undefined; items: readonly T[]; isComplete: boolean; isLoading: boolean }
    | undefined
  >(undefined);
  const [attempt, setAttempt] = useState(0);

  const more = useCallback(async () => {
    const list = current.current;
    if (!list || list.isLoading || list.isComplete || list.ended.signal.aborted) return;
    list.isLoading = true;
    setState((old) => ({ ...old, loading: true }));
    try {
      for (let isEmpty = true; isEmpty && !list.isComplete;) {
        const page = await latest.current(list.next, list.ended.signal);
        if (list.ended.signal.aborted) return;
        isEmpty = page.items.length === 0;
        list.items = isEmpty ? list.items : [...list.items, ...page.items];
        list.isComplete = !page.next || page.next === list.next;
        list.next = page.next || undefined;
      }
      setState({ key, items: list.items, next: list.isComplete ? undefined : list.next, loading: false });
    } catch (cause) {
      if (list.ended.signal.aborted) return;
      const error =
        cause instanceof ApiError
          ? cause
          : new ApiError(0, "The page cannot read the answer.", [String(cause)], "", 0, cause);
      setState((old) => (old.key === key ? { ...old, loading: false, error } : { key, loading: false, error }));
    } finally {
      list.isLoading = false;
    }
  }, [key]);

  useEffect(() => {
    if (key === "") return;
    const list = { ended: new AbortController(), next: undefined, items: [], isComplete: false, isLoading: false };
    current.current = list;
    void more();
    return () => list.ended.abort();
  }, [key, attempt]);

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
