// The upload of a file: how much is sent, and how its batch goes on.

import { useState } from "preact/hooks";
import { Commands, fileWord, useCurl } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { ErrorNotice, Notice } from "../../kit/feedback.tsx";
import { counted, formatBytes, formatCount, formatDuration, formatShare, useNow } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { Meter } from "../../kit/meter.tsx";
import { useAction } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { BatchBadge, describeBatchState, isFinal } from "../../kit/status.tsx";
import { act, type FileRecord, type FileUpload } from "./files.ts";

/** UploadState shows the upload of a file, and what can be done about it. */
export function UploadState({ file, changed }: { file: FileRecord; changed: () => void }) {
  const upload = file.upload!;
  const [asking, setAsking] = useState(false);
  const curl = useCurl();
  const pause = useAction(async (what: "pause" | "resume") => {
    await act(file.id, what);
    changed();
  });
  const cancel = useAction(async () => {
    await act(file.id, "cancel");
    setAsking(false);
    changed();
  });
  const isSending = file.state === "uploading";
  const isFollowed = file.state === "following";
  return (
    <div class="panel">
      <h3>{upload.uploaded ? "Uploaded" : "Upload"}</h3>
      {upload.uploaded ? <Outcome upload={upload} /> : <Sent upload={upload} isSending={isSending} />}
      {upload.retry && (
        <Retry
          retry={upload.retry}
          what={upload.uploaded ? "The batch goes on" : "What was sent stays sent"}
          onRetry={() => void pause.run("resume")}
        />
      )}
      {pause.error && <ErrorNotice error={pause.error} />}
      <div class="buttons">
        {isSending && (
          <button type="button" disabled={pause.running} onClick={() => void pause.run("pause")}>
            <Icon name="pause" /> Pause
          </button>
        )}
        {file.state === "paused" && (
          <button type="button" class="primary" disabled={pause.running} onClick={() => void pause.run("resume")}>
            <Icon name="play" /> Resume
          </button>
        )}
        {(isSending || isFollowed || file.state === "paused") && (
          <button type="button" class="danger" disabled={cancel.running} onClick={() => setAsking(true)}>
            {upload.uploaded ? "Cancel the batch" : "Cancel the upload"}
          </button>
        )}
        {upload.batch_id && (
          <Link to={pathTo("batches", upload.batch_id)} class="button">
            Show the batch
          </Link>
        )}
      </div>
      <Confirm
        title={upload.uploaded ? "Cancel the batch?" : "Cancel the upload?"}
        open={asking}
        action={upload.uploaded ? "Cancel the batch" : "Cancel the upload"}
        running={cancel.running}
        error={cancel.error}
        onConfirm={() => void cancel.run()}
        onClose={() => {
          cancel.clear();
          setAsking(false);
        }}
      >
        <p>
          {upload.uploaded
            ? "Nothing of the batch will be stored. That is possible until its lines begin to be stored."
            : "What was sent so far is given up. The file stays here, and can be uploaded again as another batch."}
        </p>
        {upload.uploaded && upload.batch_id && (
          <Commands
            cli={`sluice cancel ${upload.batch_id}`}
            curl={curl("POST", `/tm/realtime/api/transactions/batch/cancel/${upload.batch_id}`)}
          />
        )}
      </Confirm>
      {upload.batch_id && (
        <Commands
          cli={commandOf(file, upload.batch_id)}
          curl={curl("GET", `/tm/realtime/api/transactions/batch/status/${upload.batch_id}`)}
        />
      )}
    </div>
  );
}

/** commandOf returns the command line that goes on with an upload, or follows its batch. */
function commandOf(file: FileRecord, batch: string): string {
  const { uploaded, in_parts: inParts } = file.upload!;
  if (uploaded || !inParts) return `sluice status ${batch} --follow`;
  return `sluice upload --resume ${batch} ${fileWord(file.name)}`;
}

/** Sent shows how much of a file is sent, and how fast. */
function Sent({ upload, isSending }: { upload: FileUpload; isSending: boolean }) {
  const { sent, total, bytes_per_second: speed, already_stored: stored, waiting, in_parts: inParts } = upload;
  return (
    <>
      <p>
        <span class="figure">{formatShare(sent, total)}</span> sent to the service
      </p>
      <Meter label="Sent" value={sent} of={total} />
      <p class="hint tabular">
        {formatBytes(sent)} of {formatBytes(total)}
        {isSending &&
          speed > 0 &&
          `, ${formatBytes(speed)} a second, about ${formatDuration((1000 * (total - sent)) / speed)} left`}
        {waiting && ". It waits until other files are sent"}
        {stored > 0 && `. The service had ${formatBytes(stored)} of it already`}.
      </p>
      {!isSending && (
        <p class="hint">
          {inParts
            ? "What was sent stays at the service; resuming sends the rest."
            : "So small a file is sent anew when it is resumed."}
        </p>
      )}
    </>
  );
}

/** Retry says that a connection is broken, and when it is tried again. */
function Retry({
  retry,
  what,
  onRetry,
}: {
  retry: NonNullable<FileUpload["retry"]>;
  what: string;
  onRetry: () => void;
}) {
  const now = useNow(1000);
  const left = Math.max(0, new Date(retry.at).getTime() - now.getTime());
  return (
    <Notice kind="warn">
      <p class="notice-title">
        {retry.answered ? "The service is busy or failing." : "The connection broke."} It is tried again by itself.
      </p>
      <p>{retry.reason}</p>
      <p class="tabular">
        {what}. Attempt {formatCount(retry.attempt + 1)} in {formatDuration(Math.ceil(left / 1000) * 1000)}.
      </p>
      <button type="button" onClick={onRetry}>
        Try now
      </button>
    </Notice>
  );
}

/** Outcome shows what has become of the batch so far. */
function Outcome({ upload: { status, total, seconds, bytes_per_second: speed } }: { upload: FileUpload }) {
  const known = status?.status;
  const counts = status?.counts;
  return (
    <>
      <p class="hint tabular">
        {formatBytes(total)} in {formatDuration(seconds * 1000)}
        {seconds >= 0.5 && `, ${formatBytes(speed)} a second`}.
      </p>
      <p>
        {known ? (
          <>
            <BatchBadge status={known} /> {describeBatchState(known).means}
          </>
        ) : (
          status?.message || "The service has the file."
        )}
        {status?.queue_position ? ` ${counted(status.queue_position, "batch", "batches")} until its turn.` : ""}
      </p>
      {status?.error_message && (
        <p class={known && isFinal(known) && known !== "PROCESSED" ? "is-bad" : ""}>{status.error_message}</p>
      )}
      {counts && counts.total !== null && (
        <p class="tabular">
          {counted(counts.total, "line")}: {formatCount(counts.accepted)} accepted, {formatCount(counts.invalid)}{" "}
          invalid, {formatCount(counts.ingested)} stored.
        </p>
      )}
    </>
  );
}
