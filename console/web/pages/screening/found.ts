// Finding screening batches by what the interface lists them by: a journey, a legal entity, or their ID.

import { get, type Schemas } from "../../kit/api.ts";
import { counted } from "../../kit/format.tsx";
import type { Query } from "../../kit/router.tsx";
import { type Batch, readBatch } from "./batch.ts";
import { isBatchId } from "./recent.ts";

/** defaults are what is searched for unless the address says more. */
export const defaults = { by: "journey", id: "", process: "", matched: "" };
/** Fields are what is searched for. */
export type Fields = Query<keyof typeof defaults>;

/** Found is what is shown of a batch. */
export interface Found {
  id: string;
  status: Schemas["ScreeningStatus"];
  batchType: string | undefined;
  providers: readonly Schemas["ScreeningProviderRun"][];
  /** about says whom or what the batch is about; "" if it was found by that. */
  about: string;
  /** trueMatches is undefined if the batch is too large to be read whole. */
  trueMatches: number | undefined;
  createdDate?: string | undefined;
  closedDate: string | null | undefined;
}

/** questionOf returns the path by which the interface is asked, and the function that asks. */
export function questionOf({ by, id, process, matched }: Fields): {
  path: string;
  read: (signal: AbortSignal) => Promise<Found[]>;
} {
  const place = "/screeningquery/api/v4/batch";
  const one = encodeURIComponent(id);
  if (by === "batch")
    return {
      path: `${place}/${one}`,
      read: async (signal) => (isBatchId(id) ? [foundOf(await readBatch(id, signal))] : []),
    };
  if (by === "entity") {
    const onlyWithTrueMatches = matched === "yes" ? true : undefined;
    return {
      path: `${place}/legalentity/${one}${onlyWithTrueMatches ? "?onlyWithTrueMatches=true" : ""}`,
      read: async (signal) =>
        (
          await get("/screeningquery/api/v4/batch/legalentity/{legalEntityId}", {
            path: { legalEntityId: id },
            query: { onlyWithTrueMatches },
            signal,
          })
        ).data.map((batch) => ({
          id: batch.batchId,
          status: batch.batchStatus,
          providers: batch.providers,
          about: "",
          batchType: batch.batchType,
          trueMatches: batch.materialMatchesCount,
          closedDate: batch.batchClosedDate,
        })),
    };
  }
  if (process !== "") {
    return {
      path: `${place}/journey/${one}/process/${encodeURIComponent(process)}`,
      read: async (signal) => [
        foundOf(
          (
            await get("/screeningquery/api/v4/batch/journey/{journeyId}/process/{processId}", {
              path: { journeyId: id, processId: process },
              signal,
            })
          ).data,
        ),
      ],
    };
  }
  return {
    path: `${place}/journey/${one}`,
    read: async (signal) => [
      foundOf(
        (await get("/screeningquery/api/v4/batch/journey/{journeyId}", { path: { journeyId: id }, signal })).data,
      ),
    ],
  };
}

/** readFound reads what is shown of a batch, unless it is too large for one answer. */
export async function readFound(batchId: string, signal: AbortSignal): Promise<Found> {
  return foundOf((await get("/screeningquery/api/v4/batch/{batchId}", { path: { batchId }, signal })).data);
}

function foundOf(batch: Batch): Found {
  const [first, ...others] = batch.entities;
  const about = [first?.entityName, others.length > 0 && `and ${counted(others.length, "other")}`]
    .filter(Boolean)
    .join(" ");
  const { id, status, providers, batchType, createdDate, closedDate, trueMatchesCount: trueMatches } = batch;
  return { id, status, providers, batchType, about, trueMatches, createdDate, closedDate };
}
