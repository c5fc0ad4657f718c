// Loading what a page shows: once, again when its key changes, and again every few seconds, keeping the last answer.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api.ts";

/** Resource is something that a page loads. */
export interface Resource<T> {
  /** value is the last good answer for the key; undefined before the first. */
  value: T | undefined;
  /** error is that of the last attempt; undefined if it succeeded. */
  error: ApiError | undefined;
  /** loading is true while the first answer for the key is awaited. */
  loading: boolean;
  /** at is when value came. */
  at: Date | undefined;
  /** reload asks again now. */
  reload: () => void;
}

interface Options<T> {
  /**
   * every is the number of milliseconds between an answer and the next question; 0, the default, asks once. It may
   * depend on the answer, undefined before the first good one, so that polling ends with what is polled.
   */
  every?: number | ((value: T | undefined) => number);
}

/** longestPause is the longest time in milliseconds between two attempts while they fail. */
const longestPause = 30_000;

/**
 * useResource loads a value by load, which gets a signal that ends with the key. The key holds everything that load
 * depends on; "" loads nothing. Polling stops while the page is hidden, and slows down while the service fails or asks
 * to wait.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { every = 0 }: Options<T> = {},
): Resource<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: ApiError; at?: Date }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const pause = useRef(every);
  pause.current = every;
  const polls = every !== 0;
  const [attempt, setAttempt] = useState(0);
  const reload = useCallback(() => setAttempt((n) => n + 1), []);

  useEffect(() => {
    if (key === "") return;
    const ended = new AbortController();
    let timer = 0;
    let failures = 0;
    let last: T | undefined;
    let wait = 0;
    let asking = false;
    const ask = async () => {
      if (asking) return; // the answer on its way is new enough
      asking = true;
      try {
        const value = await latest.current(ended.signal);
        if (ended.signal.aborted) return;
        failures = 0;
        wait = 0;
        last = value;
        setState({ key, value, at: new Date() });
      } catch (cause) {
        if (ended.signal.aborted) return;
        failures++;
        const error = cause instanceof ApiError ? cause : unexpected(cause);
        wait = error.retryAfter * 1000;
        setState((old) => (old.key === key ? { ...old, error } : { key, error }));
        if (last === undefined && isRefusal(error)) return; // asking again changes nothing
      } finally {
        asking = false;
      }
      plan();
    };
    const interval = () => (typeof pause.current === "function" ? pause.current(last) : pause.current);
    const plan = () => {
      const every = interval();
      if (every === 0 || document.hidden) return;
      timer = setTimeout(
        () => void ask(),
        Math.max(wait, Math.min(every * 2 ** failures, Math.max(longestPause, every))),
      );
    };
    const onVisible = () => {
      clearTimeout(timer);
      if (!document.hidden && interval() > 0) void ask();
    };
    if (polls) document.addEventListener("visibilitychange", onVisible);
    void ask();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [key, typeof every === "number" ? every : polls, attempt]);

  const isCurrent = state.key === key;
  const value = isCurrent ? state.value : undefined;
  const error = isCurrent ? state.error : undefined;
  return {
    value,
    error,
    loading: key !== "" && value === undefined && error === undefined,
    at: isCurrent ? state.at : undefined,
    reload,
  };
}

/** isRefusal reports whether the same request would be refused again. */
function isRefusal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function unexpected(cause: unknown): ApiError {
  return new ApiError(0, "The page cannot read the answer.", [String(cause)], "", 0, cause);
}

/** Action is something that a person starts by a button: one at a time, with its error. */
export interface Action<A extends unknown[]> {
  run: (...args: A) => Promise<boolean>;
  running: boolean;
  error: ApiError | undefined;
  clear: () => void;
}

/** useAction wraps a write: run resolves to true if it succeeded, and does nothing while an earlier run is not over. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<unknown>): Action<A> {
  const [state, setState] = useState<{ running: boolean; error?: ApiError }>({ running: false });
  const isRunning = useRef(false);
  const latest = useRef(act);
  latest.current = act;
  const run = useCallback(async (...args: A) => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setState({ running: true });
    try {
      await latest.current(...args);
      setState({ running: false });
      return true;
    } catch (cause) {
      setState({ running: false, error: cause instanceof ApiError ? cause : unexpected(cause) });
      return false;
    } finally {
      isRunning.current = false;
    }
  }, []);
  const clear = useCallback(() => setState({ running: false }), []);
  return { run, running: state.running, error: state.error, clear };
}
