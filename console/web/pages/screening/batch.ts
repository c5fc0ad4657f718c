// Reading a screening batch, whole or, if it is too large for one answer, in parts.

import { ApiError, get, type Schemas } from "../../kit/api.ts";

export type Entity = Schemas["ScreenedEntity"];
export type Match = Schemas["Match"];
export type MatchStatus = Schemas["MatchStatus"];

/** Batch is a batch with its entities. What only the whole batch has is missing if it was read in parts. */
export interface Batch extends Partial<Omit<Schemas["ScreeningBatch"], "id" | "entities" | "status" | "providers">> {
  id: string;
  entities: Entity[];
  status: Schemas["ScreeningStatus"];
  providers: Schemas["ScreeningProviderRun"][];
}

const queries = "/screeningquery/api/v4/batch/{batchId}";

/** readBatch reads a batch with all its entities. */
export async function readBatch(batchId: string, signal: AbortSignal): Promise<Batch> {
  try {
    return (await patiently(() => get(queries, { path: { batchId }, signal }), signal)).data;
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 413) throw cause;
  }
  const entities = await readParts(
    (query) => get(`${queries}/entity`, { path: { batchId }, query, signal }),
    (entity) => entity.id,
    signal,
  );
  const legalEntityId = entities.find((entity) => entity.legalEntityId)?.legalEntityId;
  if (!legalEntityId)
    throw new ApiError(
      413,
      "The batch is too large to be read.",
      ["None of its entities has an ID by which its status could be asked for."],
      "",
      0,
      undefined,
    );
  const { data } = await get("/screeningquery/api/v4/batch/legalentity/{legalEntityId}", {
    path: { legalEntityId },
    signal,
  });
  const head = data.find((one) => one.batchId === batchId);
  if (!head) throw new ApiError(404, "The batch is not among those of its entities any more.", [], "", 0, undefined);
  return {
    id: batchId,
    entities,
    status: head.batchStatus,
    providers: head.providers,
    batchType: head.batchType as "Screening",
    closedDate: head.batchClosedDate,
  };
}

/** readMatches reads the matches of an entity. It calls progress with those that were read so far. */
export function readMatches(
  batchId: string,
  entityId: string,
  signal: AbortSignal,
  progress: (matches: Match[]) => void,
): Promise<Match[]> {
  return readParts(
    (query) => get(`${queries}/entity/{entityId}/match`, { path: { batchId, entityId }, query, signal }),
    (match) => match.id,
    signal,
    progress,
  );
}

/** readMatch reads one match. */
export async function readMatch(batchId: string, entityId: string, matchId: string): Promise<Match> {
  return (await get(`${queries}/entity/{entityId}/match/{matchId}`, { path: { batchId, entityId, matchId } })).data;
}

/** partSize is how many items are asked for at a time; an answer that is too large is asked for in smaller parts. */
const partSize = 100;

async function readParts<T>(
  read: (query: { limit: number; after: string }) => Promise<{ data: T[] }>,
  idOf: (item: T) => string,
  signal: AbortSignal,
  progress?: (items: T[]) => void,
): Promise<T[]> {
  const all: T[] = [];
  for (let limit = partSize; ;) {
    const last = all.at(-1);
    try {
      const { data } = await patiently(() => read({ limit, after: last === undefined ? "" : idOf(last) }), signal);
      if (data.length === 0) return all;
      all.push(...data);
      progress?.([...all]);
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 413 || limit === 1) throw cause;
      limit = Math.ceil(limit / 4);
    }
  }
}

/** attempts is how often something is asked for while the service is too busy. */
const attempts = 5;

/**
 * patiently asks again while the service says that it is too busy, after the pause that it asks for; not if that is longer
 * than longestPause seconds, in which a person would see nothing.
 */
export async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal, longestPause = 10): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (cause) {
      const isBusy = cause instanceof ApiError && [429, 502, 503, 504].includes(cause.status);
      if (!isBusy || attempt >= attempts || cause.retryAfter > longestPause) throw cause;
      await pause(Math.max(cause.retryAfter, 2 ** attempt / 4) * 1000, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
