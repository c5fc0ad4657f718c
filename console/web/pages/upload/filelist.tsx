// The dropped files in their order, each with what it is doing, and those that are still on their way to the command.

import { ErrorNotice } from "../../kit/feedback.tsx";
import { counted, formatBytes, formatCount, formatShare } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { Meter } from "../../kit/meter.tsx";
import { Link } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Badge, describeBatchState, type Kind } from "../../kit/status.tsx";
import type { FileRecord } from "./files.ts";
import { dismiss, type Sending } from "./sending.ts";

interface FileListProps {
  files: readonly FileRecord[];
  sending: readonly Sending[];
  selected: string;
}

/** Files shows all files; the address says which one is shown in full. */
export function Files({ files, sending, selected }: FileListProps) {
  const received = new Set(files.map((file) => file.key));
  return (
    <ul class="boxes files" aria-label="Dropped files">
      {files.map((file) => (
        <li key={file.id}>
          <Link
            to={`/upload?file=${file.id}`}
            class={file.id === selected ? "file is-selected" : "file"}
            aria-current={file.id === selected ? "page" : undefined}
          >
            <span class="file-name truncate" title={file.name}>
              {file.name}
            </span>
            <Badge kind={describeState(file).kind}>{describeState(file).text}</Badge>
            <span class="file-facts aside tabular">{factsOf(file)}</span>
            <Progress file={file} />
          </Link>
        </li>
      ))}
      {sending
        .filter((s) => !received.has(s.key) || s.state === "refused")
        .map((s) => (
          <li key={s.key}>
            <NotReceived sending={s} />
          </li>
        ))}
    </ul>
  );
}

/** NotReceived is a file that waits to be sent to the command, or that was refused. */
function NotReceived({ sending: { key, name, size, state, error } }: { sending: Sending }) {
  return (
    <div class="file">
      <span class="file-name truncate" title={visible(name)}>
        {visible(name)}
      </span>
      <Badge kind={state === "refused" ? "bad" : "quiet"}>{state === "refused" ? "Not received" : "Waiting"}</Badge>
      <span class="file-facts aside tabular">{formatBytes(size)}</span>
      <button
        type="button"
        class="quiet file-dismiss"
        aria-label={`Forget ${visible(name)}`}
        onClick={() => dismiss(key)}
      >
        <Icon name="close" />
      </button>
      {error && (
        <div class="file-error">
          <ErrorNotice error={error} />
        </div>
      )}
    </div>
  );
}

/** Progress is the bar of a file that is on its way somewhere. */
function Progress({ file }: { file: FileRecord }) {
  const { state, size, received, check, upload, name } = file;
  if (state === "receiving") return <Meter label={`Received of ${name}`} value={received} of={size ?? 0} />;
  if (state === "checking") return <Meter label={`Checked of ${name}`} value={check?.progress ?? 0} of={1} />;
  if ((state === "uploading" || state === "paused") && upload)
    return <Meter label={`Sent of ${name}`} value={upload.sent} of={upload.total} />;
  return null;
}

/** describeState returns the word for what a file is doing. */
export function describeState(file: FileRecord): { kind: Kind; text: string } {
  switch (file.state) {
    case "receiving":
      return { kind: "info", text: "Receiving" };
    case "checking":
      return { kind: "info", text: file.check?.waiting ? "Waiting for its check" : "Checking" };
    case "checked":
      if (file.check?.lines === 0) return { kind: "bad", text: "No lines" };
      return file.check?.invalid
        ? { kind: "warn", text: counted(file.check.invalid, "invalid line") }
        : { kind: "ok", text: "Valid" };
    case "uploading":
      if (file.upload?.retry) {
        return { kind: "warn", text: file.upload.retry.answered ? "Service busy" : "Connection broken" };
      }
      return { kind: "info", text: file.upload?.waiting ? "Waiting to be sent" : "Uploading" };
    case "paused":
      return { kind: "warn", text: "Paused" };
    case "following":
    case "done": {
      const status = file.upload?.status?.status;
      return status ? describeBatchState(status) : { kind: "info", text: "Uploaded" };
    }
    case "failed":
      return { kind: "bad", text: "Unusable" };
  }
}

/** factsOf returns the figures of a file in a line. */
function factsOf({ state, size, received, check, upload }: FileRecord): string {
  if (state === "receiving") return `${formatBytes(received)} of ${formatBytes(size)}`;
  if ((state === "uploading" || state === "paused") && upload)
    return `${formatShare(upload.sent, upload.total)} of ${formatBytes(upload.total)}`;
  return check?.lines === undefined
    ? formatBytes(size)
    : `${formatBytes(size)}, ${counted(check.lines, "line")}` +
        (check.invalid ? `, ${formatCount(check.valid)} valid` : "");
}
