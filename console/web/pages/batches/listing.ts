// The list of batches as it is loaded: page by page to the end, and kept up with what happens meanwhile.

import { useCallback, useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { addressOf, ApiError, send } from "../../kit/api.ts";
import { stashHere } from "../../kit/stash.ts";
import { useAddress } from "../../kit/router.tsx";
import { type Filters, hasFilters, listQuery } from "./filters.ts";
import { type BatchRecord, isId, isOpen, isRunning, readStatus } from "./record.tsx";

const listPath = "/tm/realtime/api/transactions/batch";
/** pageSize is how many batches are loaded at a time, pollSize how many of the newest are looked at again. */
const pageSize = 200;
const pollSize = 50;
/** pollPause is the time in milliseconds between two looks; lists are limited to 60 requests a minute. */
const pollPause = 4000;
/** statusPause is the time between two questions for the status of one running batch, limited to 120 a minute. */
const statusPause = 1500;
/** fullTable is how many batches fill a table of any height. */
const fullTable = 50;
/** maxEmptyPages is how many pages in a row without a match are read by themselves. */
const maxEmptyPages = 10;

/** Listing is the list as far as it is loaded. */
export interface Listing {
  /**
   * rows are the batches, the newest first; undefined before the first answer. While loading, they are those of the
   * filters before.
   */
  rows: BatchRecord[] | undefined;
  loading: boolean;
  /** error is that of the last request, of any kind. */
  error: ApiError | undefined;
  at: Date | undefined;
  /** isComplete means that no batch follows the rows. */
  isComplete: boolean;
  loadingMore: boolean;
  /** paused means that many batches were inspected without a match: the person says whether to go on. */
  paused: boolean;
  /** fresh are newer batches that are not shown yet, so that nothing moves. */
  fresh: BatchRecord[];
  more: () => void;
  showFresh: () => void;
  reload: () => void;
}

interface State {
  rows?: BatchRecord[] | undefined;
  loading: boolean;
  next: string | null;
  error?: ApiError | undefined;
  at?: Date;
  loadingMore: boolean;
  paused: boolean;
  fresh: BatchRecord[];
  /** isGap means that there may be further batches between the fresh ones and the rows. */
  isGap: boolean;
}

type Change = Partial<State> | ((state: State) => Partial<State>);

const nothing: State = { loading: true, next: null, loadingMore: false, paused: false, fresh: [], isGap: false };

interface Page {
  batches: BatchRecord[];
  next: string | null;
}

/**
 * useListing loads the batches that filters select. mayMove says whether nobody reads the top of the list now, so that
 * new batches are put there at once.
 */
export function useListing(filters: Filters, mayMove: () => boolean): Listing {
  const query = useMemo(() => listQuery(filters), [JSON.stringify(filters)]);
  const only = isId(filters.search.trim()) ? filters.search.trim().toLowerCase() : "";
  const [state, change] = useReducer(
    (old: State, update: Change): State => ({ ...old, ...(typeof update === "function" ? update(old) : update) }),
    nothing,
    (empty) => stashHere<State>(nameOf(query)).get() ?? empty,
  );
  const { entry } = useAddress();
  const shown = useRef("");
  const latest = useRef({ state, mayMove });
  latest.current = { state, mayMove };
  const [attempt, reload] = useReducer((n: number) => n + 1, 0);
  const running = useRef<AbortController>(new AbortController());
  /** busy is the signal of the list for which more is being loaded. */
  const busy = useRef<AbortSignal | undefined>(undefined);

  const fetchPage = async (limit: number, next: string | null, signal: AbortSignal): Promise<Page> => {
    const url = "/api" + addressOf(listPath, undefined, { ...query, limit, next: next ?? undefined });
    const page = (await send("get", url, { signal, operation: `GET ${listPath}` })) as Page;
    return only ? { ...page, batches: page.batches.filter((batch) => batch.batch_id === only) } : page;
  };

  // The first page, and what happens meanwhile.
  useEffect(() => {
    const ended = new AbortController();
    running.current = ended;
    const { signal } = ended;
    const stash = stashHere<State>(nameOf(query));
    const isAgain = shown.current === entry + nameOf(query); // asked for anew: what was kept does not count
    shown.current = entry + nameOf(query);
    const was = isAgain ? undefined : stash.get();
    change({ ...(was ?? nothing), loadingMore: false, error: undefined });
    let timer = 0;
    let failures = 0;
    let isFirst = was === undefined;
    let looking = false;
    const look = async () => {
      if (looking) return;
      looking = true;
      let wait = pollPause;
      try {
        const page = await fetchPage(isFirst ? pageSize : pollSize, null, signal);
        failures = 0;
        if (isFirst) change({ rows: page.batches, next: page.next, loading: false, error: undefined, at: new Date() });
        else change((old) => ({ ...merge(old, page, latest.current.mayMove()), error: undefined, at: new Date() }));
        isFirst = false;
      } catch (cause) {
        if (signal.aborted) return;
        failures++;
        const error = asApiError(cause);
        change(isFirst && isHopeless(error) ? { error, rows: undefined, loading: false } : { error });
        if (isHopeless(error)) return;
        wait = Math.max(error.retryAfter * 1000, Math.min(pollPause * 2 ** failures, 30_000));
      } finally {
        looking = false;
      }
      if (!document.hidden && !signal.aborted) timer = setTimeout(() => void look(), wait);
    };
    const onVisible = () => {
      clearTimeout(timer);
      if (!document.hidden) void look();
    };
    document.addEventListener("visibilitychange", onVisible);
    void look();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
      const { state } = latest.current;
      if (state.rows && !state.loading) stash.put(state);
    };
  }, [query, entry, attempt]);

  useStatuses(latest, change, hasFilters(filters), attempt);

  const more = useCallback(async () => {
    const { state } = latest.current;
    const { signal } = running.current;
    if (state.next === null || state.loading || state.rows === undefined || busy.current === signal) return;
    busy.current = signal;
    change({ loadingMore: true, paused: false });
    let next: string | null = state.next;
    for (let empty = 0; next !== null && empty < maxEmptyPages;) {
      try {
        const page: Page = await fetchPage(pageSize, next, signal);
        next = page.next;
        change((old) => ({ rows: append(old.rows ?? [], page.batches), next: page.next, error: undefined }));
        if (page.batches.length > 0) break;
        empty++;
      } catch (cause) {
        if (signal.aborted) return;
        const error = asApiError(cause);
        change({ error });
        if (isHopeless(error)) break;
        await new Promise((resolve) => setTimeout(resolve, Math.max(error.retryAfter * 1000, 2000)));
        if (signal.aborted) return;
      }
    }
    busy.current = undefined;
    change((old) => ({ loadingMore: false, paused: old.next !== null && old.rows?.length === state.rows?.length }));
  }, [query]);

  // A table that is not full asks for more by itself, whatever it had shown before.
  useEffect(() => {
    if (!state.paused && (state.rows?.length ?? fullTable) < fullTable) void more();
  }, [state.loading, state.rows?.length, state.next, state.paused]);

  return {
    ...state,
    rows: state.rows,
    error: state.error,
    at: state.at,
    isComplete: state.rows !== undefined && state.next === null,
    more: () => void more(),
    showFresh: () =>
      state.isGap
        ? reload(undefined)
        : change((old) => ({ rows: inOrder(append(old.fresh, old.rows ?? [])), fresh: [] })),
    reload: () => reload(undefined),
  };
}

/** nameOf returns the name by which the list of a query is kept. */
function nameOf(query: Record<string, string | string[]>): string {
  return `batches ${JSON.stringify(query)}`;
}

/**
 * useStatuses asks for the status of one open batch of the list at a time: of those that run, because the list does not
 * know how far they are, and of those that the looks at the newest batches may not have.
 */
function useStatuses(
  latest: { current: { state: State } },
  change: (update: Change) => void,
  isFiltered: boolean,
  attempt: number,
): void {
  useEffect(() => {
    const ended = new AbortController();
    let turn = 0;
    const timer = setInterval(async () => {
      const open =
        latest.current.state.rows?.filter(
          (row, i) => isRunning(row) || ((isFiltered || i >= pollSize) && isOpen(row)),
        ) ?? [];
      const row = open[turn++ % Math.max(1, open.length)];
      if (document.hidden || !row) return;
      try {
        const reply = await readStatus(row.batch_id, ended.signal);
        change((old) => ({ rows: old.rows?.map((r) => (r.batch_id === row.batch_id ? { ...r, ...reply } : r)) }));
      } catch {
        // The list itself says what is wrong with the service, if it is more than this moment.
      }
    }, statusPause);
    return () => {
      ended.abort();
      clearInterval(timer);
    };
  }, [isFiltered, attempt]);
}

/**
 * merge brings the rows up to date with the newest page. If nobody reads there, batches that are not in the rows yet
 * become rows, and those that the filters do not select any more are removed; otherwise the new ones become fresh.
 */
function merge(old: State, page: Page, mayMove: boolean): Partial<State> {
  const now = new Map(page.batches.map((batch) => [batch.batch_id, batch]));
  const rows = (old.rows ?? []).map((row) => update(row, now.get(row.batch_id)));
  const known = new Set(rows.map((row) => row.batch_id));
  const added = page.batches.filter((batch) => !known.has(batch.batch_id));
  if (added.length === page.batches.length && page.next !== null) return { fresh: added, isGap: true };
  const fresh = append(
    added,
    old.fresh.map((row) => update(row, now.get(row.batch_id))),
  );
  if (!mayMove && rows.length > 0) return { rows, fresh };
  const last = page.next === null ? "" : page.batches.at(-1)?.batch_id;
  const isGone = (row: BatchRecord) => last !== undefined && row.batch_id > last && !now.has(row.batch_id);
  return { rows: inOrder(append(fresh, rows)).filter((row) => !isGone(row)), fresh: [] };
}

/** inOrder sorts batches as the service does, by their IDs, which begin with the time of their creation. */
function inOrder(rows: BatchRecord[]): BatchRecord[] {
  return rows.sort((a, b) => (a.batch_id < b.batch_id ? 1 : -1));
}

/**
 * update returns the newer of two records of a batch. What only the status has stays until the status of the batch
 * changes.
 */
function update(row: BatchRecord, now: BatchRecord | undefined): BatchRecord {
  if (!now || Date.parse(now.updated_at) < Date.parse(row.updated_at) || (row.status !== null && now.status === null))
    return row;
  if (now.status !== row.status) return now;
  return {
    ...now,
    bytes_done: now.bytes_done ?? row.bytes_done,
    counts: { ...now.counts, ingested: now.counts.ingested ?? row.counts.ingested },
  };
}

/** append joins two parts of the list without repeating a batch. */
function append(first: readonly BatchRecord[], second: readonly BatchRecord[]): BatchRecord[] {
  const known = new Set(first.map((row) => row.batch_id));
  return [...first, ...second.filter((row) => !known.has(row.batch_id))];
}

/** isHopeless reports whether the same request would be refused again. */
function isHopeless({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function asApiError(cause: unknown): ApiError {
  return cause instanceof ApiError
    ? cause
    : new ApiError(0, "The page cannot read the answer.", [String(cause)], "", 0, cause);
}
