// Statuses in words and colours. The colour never stands alone: the word is always beside it.

import type { Schemas } from "./api.ts";

/** Kind is the meaning of a colour. */
export type Kind = "ok" | "warn" | "bad" | "info" | "quiet";

/** Badge is a word with the colour of its kind; its title says more of what it means. */
export function Badge({ kind, title, children }: { kind: Kind; title?: string | undefined; children: string }) {
  return (
    <span class={`badge badge-${kind}`} title={title}>
      {children}
    </span>
  );
}

/** BatchState is the status of a batch. */
export type BatchState = Schemas["BatchStatus"]["status"];

const batchStates: Record<BatchState, { kind: Kind; text: string; means: string }> = {
  VALIDATION_STARTED: { kind: "info", text: "Validating", means: "The file is clean; its lines are being checked." },
  VALIDATION_FAILED: { kind: "bad", text: "Rejected", means: "The batch was rejected; nothing of it is stored." },
  PENDING_INGESTION: {
    kind: "info",
    text: "Validated",
    means: "Validation is complete; the batch waits for ingestion.",
  },
  INITIALIZED: { kind: "info", text: "Queued", means: "The batch is queued for processing." },
  IN_PROGRESS: { kind: "info", text: "Ingesting", means: "Lines are being stored." },
  PROCESSED: { kind: "ok", text: "Processed", means: "Everything that was valid is stored." },
  ERROR: { kind: "bad", text: "Error", means: "The batch ended early; nothing of it is stored." },
};

/** allBatchStates are the statuses of batches in the order of a batch's life. */
export const allBatchStates = Object.keys(batchStates) as BatchState[];

/** describeBatchState returns the word for a status and what it means. */
export function describeBatchState(status: BatchState): { kind: Kind; text: string; means: string } {
  return batchStates[status] ?? { kind: "quiet", text: status, means: "" };
}

/** isFinal reports whether a batch with this status will not change any more. */
export function isFinal(status: BatchState): boolean {
  return status === "PROCESSED" || status === "VALIDATION_FAILED" || status === "ERROR";
}

/** BatchBadge shows the status of a batch; its title has the name on the wire and what it means. */
export function BatchBadge({ status }: { status: BatchState }) {
  const { kind, text, means } = describeBatchState(status);
  return (
    <Badge kind={kind} title={`${status}: ${means}`}>
      {text}
    </Badge>
  );
}
