// Resolving matches: one, or many by requests of at most 50, of which each succeeds or fails as a whole.

import { ApiError, put, type Schemas } from "../../kit/api.ts";
import { type MatchStatus, patiently } from "./batch.ts";
import type { Row } from "./matches.ts";

/** Resolution is what is decided about matches. */
export interface Resolution {
  status: MatchStatus;
  reason: string;
  /** comments are left as they are if this is "". */
  comments: string;
}

/** chunkSize is how many matches the service resolves together. */
export const chunkSize = 50;

/** commandPath is where matches are resolved. */
export const commandPath = "/screeningcommand/api/v3/batch/{id}/matches";

/** bodyOf returns the request that resolves matches. */
export function bodyOf(
  rows: readonly Row[],
  { status, reason, comments }: Resolution,
): { data: Schemas["ResolveMatches"] } {
  const byEntity = new Map<string, Schemas["ResolveMatch"][]>();
  for (const { entity, match } of rows) {
    const one = { matchId: match.id, status, reason, ...(comments !== "" && { comments }) };
    byEntity.set(entity.id, [...(byEntity.get(entity.id) ?? []), one]);
  }
  return { data: [...byEntity].map(([entityId, matches]) => ({ entityId, matches })) };
}

/** longestPause is for how many seconds the resolution of many matches waits if the service asks for it. */
const longestPause = 60;

/** resolve resolves up to chunkSize matches, all or none. longestPause is as of patiently. */
export async function resolve(
  batchId: string,
  rows: readonly Row[],
  resolution: Resolution,
  { signal = new AbortController().signal, longestPause }: { signal?: AbortSignal; longestPause?: number } = {},
): Promise<void> {
  const body = bodyOf(rows, resolution);
  await patiently(() => put(commandPath, { path: { id: batchId }, body, signal }), signal, longestPause);
}

/** Outcome is how far the resolution of many matches is. */
export interface Outcome {
  resolved: readonly Row[];
  failed: readonly { row: Row; error: ApiError }[];
  /** left are the matches that were not tried, because somebody stopped it or it was of no use. */
  left: readonly Row[];
  /** running is true until it has ended. */
  running: boolean;
}

/**
 * resolveAll resolves any number of matches and reports how far it is. Of a request that fails, halves are tried, so
 * that one match does not keep the others. It ends early where nothing else can succeed: if the signal ends, the
 * service is away, or the batch is not open any more.
 */
export async function resolveAll(
  batchId: string,
  rows: readonly Row[],
  resolution: Resolution,
  signal: AbortSignal,
  report: (outcome: Outcome) => void,
): Promise<Outcome> {
  const queue: Row[][] = [];
  for (let at = 0; at < rows.length; at += chunkSize) queue.push(rows.slice(at, at + chunkSize));
  const resolved: Row[] = [];
  const failed: { row: Row; error: ApiError }[] = [];
  const outcome = (running: boolean): Outcome => ({
    resolved: [...resolved],
    failed: [...failed],
    left: queue.flat(),
    running,
  });
  for (let chunk = queue.shift(); chunk; chunk = queue.shift()) {
    try {
      await resolve(batchId, chunk, resolution, { signal, longestPause });
      resolved.push(...chunk);
    } catch (cause) {
      if (signal.aborted) {
        queue.unshift(chunk);
        break;
      }
      const error =
        cause instanceof ApiError
          ? cause
          : new ApiError(0, "The page cannot read the answer.", [String(cause)], "", 0, cause);
      if (chunk.length > 1 && !isHopeless(error)) {
        const half = Math.ceil(chunk.length / 2);
        queue.unshift(chunk.slice(0, half), chunk.slice(half));
      } else {
        failed.push(...chunk.map((row) => ({ row, error })));
        if (isHopeless(error)) break;
      }
    }
    report(outcome(true));
  }
  const last = outcome(false);
  report(last);
  return last;
}

/** isHopeless reports whether another request would fail for the same reason. */
function isHopeless({ status, body }: ApiError): boolean {
  return (
    ![400, 404, 409].includes(status) ||
    JSON.stringify(body ?? "").includes("screening_batch_not_open") ||
    JSON.stringify(body ?? "").includes("screening_batch_not_found")
  );
}
