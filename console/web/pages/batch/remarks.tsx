// What a person must know about a batch before its figures.

import { Notice } from "../../kit/feedback.tsx";
import { formatCount } from "../../kit/format.tsx";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type BatchReply, hasStatus, isOpen, wasCancelled } from "../batches/record.tsx";

/** Remarks says why a batch failed, that nothing of it is stored, that its file is not new, or what it waits for. */
export function Remarks({ reply }: { reply: BatchReply }) {
  if (!hasStatus(reply)) {
    const isAwaited = reply.message.includes("uploaded");
    return (
      <Notice>
        <p class="notice-title">{isAwaited ? "The file is not uploaded yet" : "The file is being scanned"}</p>
        <p>
          {isAwaited
            ? "The batch begins when its upload is complete. Only whoever asked for the upload URL can send the " +
              "file; without one, the batch ends after a day."
            : "It was received and is checked for malware; then its lines are validated."}
        </p>
        <QueuePlace position={reply.queue_position} what="validated" />
      </Notice>
    );
  }
  const {
    status,
    error_message: message,
    duplicate_of: duplicate,
    validate_only: isDry,
    queue_position: position,
  } = reply;
  return (
    <>
      {message && wasCancelled(reply) && (
        <Notice>
          <p class="notice-title">{message}</p>
          <p>Nothing of it is stored.</p>
        </Notice>
      )}
      {message && !wasCancelled(reply) && (
        <Notice kind="bad">
          <p class="notice-title">
            {status === "VALIDATION_FAILED"
              ? "The batch was rejected: nothing of it is stored"
              : "The batch ended early: nothing of it is stored"}
          </p>
          <p>{visible(message)}</p>
        </Notice>
      )}
      {isDry && !message && (
        <Notice kind={isOpen(reply) ? "info" : "ok"}>
          <p class="notice-title">
            {isOpen(reply)
              ? "This is a dry run: nothing will be stored"
              : "This was a dry run: nothing of it is stored"}
          </p>
          <p>
            {isOpen(reply)
              ? "The batch ends with its validation."
              : "It would have been accepted. Upload the file again, without validate only, to store it."}
          </p>
        </Notice>
      )}
      {duplicate && (
        <Notice kind="warn">
          <p>
            Another batch has the same file:{" "}
            <Link to={pathTo("batches", duplicate)}>
              batch <code data-volatile>{duplicate}</code>
            </Link>
            .
          </p>
        </Notice>
      )}
      {position !== null && (
        <Notice>
          <QueuePlace position={position} what="ingested" />
        </Notice>
      )}
    </>
  );
}

/** QueuePlace says when the turn of a batch comes. */
function QueuePlace({ position, what }: { position: number | null; what: string }) {
  if (position === null) return null;
  return (
    <p>
      <b class="tabular">
        {position === 1 ? "It is the next one in the queue." : `${formatCount(position)}. in the queue:`}
      </b>{" "}
      {position > 1 && `${formatCount(position)} batches are ${what} next, this one the last of them.`}
    </p>
  );
}
