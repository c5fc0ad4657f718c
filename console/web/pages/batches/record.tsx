// What is known of batches, in lists and of one: the same record, made from either reply.

import { get, type Schemas } from "../../kit/api.ts";
import { formatCount, formatShare } from "../../kit/format.tsx";
import { Badge, BatchBadge, type BatchState, isFinal } from "../../kit/status.tsx";

/** BatchRecord is the record of a batch; its status is null until the file is uploaded and scanned. */
export type BatchRecord = Schemas["ListedBatch"];

/** BatchReply is what the status endpoint answers: the record or, of a batch without a status, that there is none. */
export type BatchReply = Schemas["BatchStatus"] | Schemas["BatchPending"];

/** hasStatus reports whether a reply is the record of a batch. */
export function hasStatus(reply: BatchReply): reply is Schemas["BatchStatus"] {
  return "status" in reply;
}

/** readStatus asks for the status of a batch. */
export async function readStatus(id: string, signal?: AbortSignal): Promise<BatchReply> {
  return get("/tm/realtime/api/transactions/batch/status/{batch_id}", {
    path: { batch_id: id },
    ...(signal && { signal }),
  });
}

/**
 * findListed looks for a batch in the list, by the moment in which it was created: the list also has what is known of a
 * batch without a status. It returns undefined if the list does not have it, or not yet.
 */
export async function findListed(id: string, signal: AbortSignal): Promise<BatchRecord | undefined> {
  const at = Date.parse(createdAt(id));
  if (Number.isNaN(at)) return undefined;
  const around = {
    created_after: new Date(at - 2000).toISOString(),
    created_before: new Date(at + 2000).toISOString(),
    limit: 200,
  };
  const page = await get("/tm/realtime/api/transactions/batch", { query: around, signal });
  return page.batches.find((batch) => batch.batch_id === id);
}

/** isOpen reports whether a batch has not ended. */
export function isOpen(batch: { status: BatchState | null }): boolean {
  return batch.status === null || !isFinal(batch.status);
}

/** isRunning reports whether lines of a batch are being validated or stored: only its status says how many of them. */
export function isRunning({ status }: { status: BatchState | null }): boolean {
  return status === "VALIDATION_STARTED" || status === "INITIALIZED" || status === "IN_PROGRESS";
}

/** isCancellable reports whether the service would cancel a batch with this status. */
export function isCancellable(status: BatchState | null): boolean {
  return status === null || status === "VALIDATION_STARTED" || status === "PENDING_INGESTION";
}

/** wasCancelled reports whether a batch was ended by its client. */
export function wasCancelled(batch: { status: BatchState | null; error_message: string }): boolean {
  return batch.status === "ERROR" && batch.error_message === "Cancelled by the client.";
}

/** createdAt reads from the ID of a batch (a UUID of version 7) when it was created; "" if it is another one. */
export function createdAt(id: string): string {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(id)) return "";
  return new Date(parseInt(id.replace("-", "").slice(0, 12), 16)).toISOString();
}

/** isId reports whether a text is an ID. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** StateBadge shows the status of a batch, also of one that has none yet or was cancelled. */
export function StateBadge({
  batch,
}: {
  batch: { status: BatchState | null; message?: string | undefined; error_message: string };
}) {
  if (batch.status === null) {
    return batch.message?.includes("uploaded") ? (
      <Badge kind="quiet">Awaiting upload</Badge>
    ) : (
      <Badge kind="info">Scanning</Badge>
    );
  }
  if (wasCancelled(batch)) return <Badge kind="quiet">Cancelled</Badge>;
  return <BatchBadge status={batch.status} />;
}

/**
 * progressOf says how far the running pass of a batch is: a share from 0 to 1, undefined if it is not known, and the
 * words for it.
 */
export function progressOf(batch: BatchRecord): { share: number | undefined; text: string } {
  if (batch.queue_position !== null)
    return { share: undefined, text: `${formatCount(batch.queue_position)}. in the queue` };
  if (!isRunning(batch) || batch.bytes_done === null || !batch.bytes_total) return { share: undefined, text: "" };
  return { share: batch.bytes_done / batch.bytes_total, text: formatShare(batch.bytes_done, batch.bytes_total) };
}
