// The stages of a batch's life, made from its history.

import type { Schemas } from "../../kit/api.ts";
import { type BatchRecord, type BatchReply, createdAt, hasStatus } from "../batches/record.tsx";

/** Stage is a part of the life of a batch, which follows the one before it. */
export interface Stage {
  key: string;
  title: string;
  /** means says what happens in the stage. */
  means: string;
  /** from and to are times; from is undefined if the stage has not begun, to if it has not ended. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** lines and bytes are what was worked on, undefined if that says nothing. */
  lines?: number | undefined;
  bytes?: number | undefined;
}

/**
 * stagesOf returns the stages of a batch, without those that it will not reach any more. listed is what the list knows
 * of a batch without a status.
 */
export function stagesOf(id: string, reply: BatchReply, listed?: BatchRecord): Stage[] {
  if (!hasStatus(reply)) return pendingStages(id, reply, listed);
  const at = (status: Schemas["StatusOfBatch"]) => timeOf(reply.history.find((entry) => entry.status === status)?.at);
  const received = timeOf(reply.received_at);
  const ended = at("PROCESSED") ?? at("VALIDATION_FAILED") ?? at("ERROR");
  const { total, ingested } = reply.counts;
  const [validation, verdict, initialized] = [
    at("VALIDATION_STARTED"),
    at("PENDING_INGESTION"),
    at("INITIALIZED") ?? at("IN_PROGRESS"),
  ];
  const stages: Stage[] = [
    {
      key: "upload",
      title: "Upload",
      means: "From the request for an upload URL until the file was complete",
      from: timeOf(reply.created_at),
      to: received ?? ended,
    },
    {
      key: "scan",
      title: "Scan",
      means: "Checked for malware, unpacked, and waited for its turn to be validated",
      from: received,
      to: validation ?? ended,
    },
    {
      key: "validation",
      title: "Validation",
      means: "Every line is judged, and lines are compared with each other",
      from: validation,
      to: verdict ?? ended,
      lines: total ?? undefined,
      bytes: reply.bytes_total,
    },
  ];
  if (!reply.validate_only) {
    stages.push(
      {
        key: "queue",
        title: "Queue",
        means: "Waited for its turn to be ingested",
        from: verdict,
        to: initialized ?? (verdict && ended),
      },
      {
        key: "ingestion",
        title: "Ingestion",
        means: "The accepted lines are stored",
        from: initialized,
        to: initialized && ended,
        lines: ingested ?? undefined,
      },
    );
  }
  return ended ? stages.filter((stage) => stage.from) : stages;
}

function pendingStages(id: string, { message }: Schemas["BatchPending"], listed: BatchRecord | undefined): Stage[] {
  const created = timeOf(listed?.created_at ?? createdAt(id));
  const received = message.includes("uploaded") ? undefined : timeOf(listed?.received_at);
  const stages: Stage[] = [
    { key: "upload", title: "Upload", means: "Until the file is complete", from: created, to: received },
    {
      key: "scan",
      title: "Scan",
      means: "Checked for malware, unpacked, and waits for its turn to be validated",
      from: received,
    },
    { key: "validation", title: "Validation", means: "Every line is judged, and lines are compared with each other" },
  ];
  if (listed?.validate_only) return stages;
  return [
    ...stages,
    { key: "queue", title: "Queue", means: "Waits for its turn to be ingested" },
    { key: "ingestion", title: "Ingestion", means: "The accepted lines are stored" },
  ];
}

/** endOf returns when a batch ended; undefined while it has not. */
export function endOf(reply: BatchReply): Date | undefined {
  if (!hasStatus(reply)) return undefined;
  return timeOf(
    reply.history.find(({ status }) => status === "PROCESSED" || status === "VALIDATION_FAILED" || status === "ERROR")
      ?.at,
  );
}

function timeOf(at: string | null | undefined): Date | undefined {
  const time = new Date(at ?? "");
  return Number.isNaN(time.getTime()) ? undefined : time;
}
