// The results of a batch's validation, which are there once it is validated.

import { useEffect, useRef } from "preact/hooks";
import { get, type Schemas } from "../../kit/api.ts";
import { type Resource, useResource } from "../../kit/resource.ts";
import { type BatchReply, hasStatus } from "../batches/record.tsx";

/** Results are what the service says of the validation of a batch. */
export type Results = Schemas["ValidationResult"];

/**
 * useResults loads the results of a batch when its validation is over, and again when its status changes. They are
 * undefined before.
 */
export function useResults(id: string, reply: BatchReply): Resource<Results | undefined> {
  const status = hasStatus(reply) ? reply.status : "";
  const isValidated = status !== "" && status !== "VALIDATION_STARTED";
  const results = useResource(
    isValidated ? `results ${id}` : "",
    async (signal) => {
      const answer = await get("/tm/realtime/api/transactions/batch/validation-result/{batch_id}", {
        path: { batch_id: id },
        signal,
      });
      return "summary" in answer ? answer : undefined;
    },
    { every: (value) => (value ? 0 : 2000) },
  );
  const loadedFor = useRef("");
  useEffect(() => {
    if (!isValidated) return;
    if (loadedFor.current !== "" && loadedFor.current !== status) results.reload();
    loadedFor.current = status;
  }, [status, isValidated]);
  return results;
}
