// The matches of a batch's entities: read once, entity by entity, and kept; and the filters over them.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError } from "../../kit/api.ts";
import { type Entity, type Match, readMatches } from "./batch.ts";
import { infoOf } from "./sides.tsx";

/** Part is what was read of the matches of one entity. */
export interface Part {
  matches: readonly Match[];
  /** complete is true if these are all matches of the entity. */
  complete: boolean;
  error?: ApiError;
}

/** MatchStore has the matches that were read. */
export interface MatchStore {
  parts: ReadonlyMap<string, Part>;
  /** replace puts a match in the place of its older state. */
  replace: (entityId: string, match: Match) => void;
  /** readAgain reads the matches of some entities again, by default those of all that failed. */
  readAgain: (entityIds?: readonly string[]) => void;
}

/** readers is how many entities are read at a time. */
const readers = 3;

/**
 * useMatches reads the matches of the wanted entities in their order, and everything again when the generation changes.
 * What was read is shown until its new state has come.
 */
export function useMatches(batchId: string, wanted: readonly string[], generation: string): MatchStore {
  const [parts, setParts] = useState<ReadonlyMap<string, Part>>(new Map());
  const state = useRef({
    batchId: "",
    generation: "",
    parts: new Map<string, Part>(),
    fresh: new Set<string>(),
  }).current;
  const [attempt, setAttempt] = useState(0);
  const set = useCallback((entityId: string, part: Part) => {
    state.parts.set(entityId, part);
    setParts(new Map(state.parts));
  }, []);

  const order = wanted.join("\n");
  useEffect(() => {
    if (state.batchId !== batchId) setParts((state.parts = new Map()));
    if (state.batchId !== batchId || state.generation !== generation) state.fresh.clear();
    Object.assign(state, { batchId, generation });
    const ended = new AbortController();
    const queue = wanted.filter((id) => !state.fresh.has(id));
    const read = async () => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        const entityId = id;
        const isFirst = !state.parts.get(entityId)?.complete;
        try {
          const matches = await readMatches(
            batchId,
            entityId,
            ended.signal,
            (some) => isFirst && set(entityId, { matches: some, complete: false }),
          );
          set(entityId, { matches, complete: true });
        } catch (cause) {
          if (ended.signal.aborted) return;
          const error =
            cause instanceof ApiError
              ? cause
              : new ApiError(0, "The page cannot read the answer.", [String(cause)], "", 0, cause);
          set(entityId, { matches: state.parts.get(entityId)?.matches ?? [], complete: false, error });
        }
        state.fresh.add(entityId);
      }
    };
    for (let i = 0; i < readers; i++) void read();
    return () => ended.abort();
  }, [batchId, generation, order, attempt]);

  const replace = useCallback((entityId: string, match: Match) => {
    const part = state.parts.get(entityId);
    if (part) set(entityId, { ...part, matches: part.matches.map((old) => (old.id === match.id ? match : old)) });
  }, []);
  const readAgain = useCallback((entityIds?: readonly string[]) => {
    for (const id of entityIds ?? [...state.parts].filter(([, part]) => part.error).map(([id]) => id))
      state.fresh.delete(id);
    setAttempt((n) => n + 1);
  }, []);
  return useMemo(() => ({ parts, replace, readAgain }), [parts]);
}

/** Row is a match with the entity that it may be. */
export interface Row {
  entity: Entity;
  match: Match;
}

/** Filter says which matches are shown; "" leaves a condition out. */
export interface Filter {
  status: string;
  list: string;
  /** min is the lowest score. */
  min: string;
  /** find is a part of a name, in any case. */
  find: string;
}

/** rowsOf returns the matches of entities, best first. */
export function rowsOf(entities: readonly Entity[], parts: ReadonlyMap<string, Part>): Row[] {
  const rows = entities.flatMap((entity) => (parts.get(entity.id)?.matches ?? []).map((match) => ({ entity, match })));
  return rows.sort(
    (a, b) =>
      (b.match.matchData.matchScore ?? -1) - (a.match.matchData.matchScore ?? -1) || (a.match.id < b.match.id ? -1 : 1),
  );
}

/** filterRows returns the rows that a filter shows. */
export function filterRows(rows: readonly Row[], { status, list, min, find }: Filter): Row[] {
  const least = min === "" ? undefined : Number(min);
  const wanted = find.trim().toLocaleLowerCase();
  return rows.filter(({ entity, match }) => {
    const data = match.matchData;
    return (
      (status === "" || match.status === status) &&
      (list === "" || data.providerSourceName === list) &&
      (least === undefined || Number.isNaN(least) || (data.matchScore ?? 0) >= least) &&
      (wanted === "" ||
        [data.name, infoOf(data, "Matched name"), entity.entityName, match.entityUniqueId, ...data.aliasesList].some(
          (text) => text.toLocaleLowerCase().includes(wanted),
        ))
    );
  });
}

/** listsOf returns the names of the lists in which matches were found. */
export function listsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map(({ match }) => match.matchData.providerSourceName))].sort();
}
