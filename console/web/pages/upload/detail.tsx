// One file in full: what its check has found, its upload, and what can be done with it.

import { useState } from "preact/hooks";
import { Bars } from "../../kit/chart.tsx";
import { Commands, CommandText, fileWord } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { Fact } from "../../kit/facts.tsx";
import { ErrorNotice, Live } from "../../kit/feedback.tsx";
import { counted, formatBytes, formatCount, formatDuration, formatShare } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { LineErrors } from "../../kit/lineerrors.tsx";
import { Meter } from "../../kit/meter.tsx";
import { useAction } from "../../kit/resource.ts";
import { navigate, useQuery } from "../../kit/router.tsx";
import { Badge } from "../../kit/status.tsx";
import { describeState } from "./filelist.tsx";
import { path, remove, type FileCheck, type FileProblem, type FileRecord } from "./files.ts";
import { OptionsForm } from "./optionsform.tsx";
import { dismiss } from "./sending.ts";
import { UploadState } from "./uploadstate.tsx";

/**
 * FileDetail shows one file. others are those that could be uploaded with it; changed is called after something was
 * asked for.
 */
export function FileDetail({
  file,
  others,
  changed,
}: {
  file: FileRecord;
  others: readonly FileRecord[];
  changed: () => void;
}) {
  const { check } = file;
  const isChecked = check?.lines !== undefined;
  const hasErrors = isChecked && check.errors! > 0;
  const form = isChecked && check.lines! > 0 && (
    <OptionsForm key={file.id} file={file} others={others} changed={changed} />
  );
  const state = describeState(file);
  return (
    <section class="stack" aria-label="The selected file">
      <header class="file-header">
        <h2 class="file-title">{file.name}</h2>
        <Badge kind={state.kind}>{state.text}</Badge>
        <Removal file={file} changed={changed} />
      </header>
      <Live text={`${file.name}: ${state.text}`} />
      {file.state === "receiving" && <Receiving file={file} />}
      {file.state === "checking" && check && <Checking check={check} />}
      {file.problem && <Problem problem={file.problem} bad={file.problem.code !== "cancelled"} />}
      {file.upload && <UploadState file={file} changed={changed} />}
      {isChecked && <CheckFacts file={file} check={check} />}
      {hasErrors && <Codes file={file} check={check} />}
      {file.state === "checked" && form}
      {hasErrors && <Errors id={file.id} />}
      {file.state === "done" && form && (
        <details class="again">
          <summary>Upload it again, as another batch</summary>
          {form}
        </details>
      )}
    </section>
  );
}

/** Receiving shows how much of a file has arrived at the command. */
function Receiving({ file: { size, received } }: { file: FileRecord }) {
  return (
    <div class="panel">
      <p>
        <span class="figure">{size ? formatShare(received, size) : formatBytes(received)}</span> received by the command
      </p>
      <Meter label="Received" value={received} of={size ?? 0} />
      <p class="hint tabular">
        {formatBytes(received)} of {formatBytes(size)}. Stay on the console until it has the whole file; other pages of
        it can be shown meanwhile.
      </p>
    </div>
  );
}

/** Checking shows how far the check of a file is. */
function Checking({ check }: { check: FileCheck }) {
  const { waiting, progress, read, lines_read: lines, unpacked, total, running } = check;
  if (waiting)
    return (
      <div class="panel">
        <p>The check waits for that of another file.</p>
        <Meter label="Checked" value={0} of={1} />
      </div>
    );
  return (
    <div class="panel">
      <p>
        <span class="figure">{total === null ? formatBytes(unpacked) : formatShare(progress, 1)}</span>{" "}
        {total === null ? "unpacked" : "checked"}
      </p>
      <Meter label="Checked" value={progress} of={1} />
      <p class="hint tabular">
        {counted(lines, "line")}, {formatBytes(read)}
        {total !== null && ` of ${formatBytes(total)}`}
        {running > 0.2 && read > 0 && `, ${formatBytes(read / running)} a second`}. By the same engine as sluice
        validate.
      </p>
    </div>
  );
}

/** CheckFacts shows what the check has found, in figures. */
function CheckFacts({ file: { name }, check }: { file: FileRecord; check: FileCheck }) {
  const { lines = 0, valid = 0, invalid = 0, suspicions = [], seconds = 0, bytes = 0 } = check;
  return (
    <>
      <div class="panel">
        <h3>Checked on this machine</h3>
        <dl class="facts upload-facts">
          <Fact title="Lines">
            <span class="figure">{formatCount(lines)}</span>
          </Fact>
          <Fact title="Valid">
            <span class="figure">{formatCount(valid)}</span>
          </Fact>
          <Fact title="Invalid">
            <span class={invalid > 0 ? "figure is-bad" : "figure"}>{formatCount(invalid)}</span>
            {invalid > 0 && <span class="aside"> {formatShare(invalid, lines)}</span>}
          </Fact>
          <Fact title="Time">
            <span data-volatile>
              {formatDuration(seconds * 1000)}
              <span class="aside"> {formatBytes(check.bytes_per_second)} a second</span>
            </span>
          </Fact>
          <Fact title="Size">
            {formatBytes(bytes)}
            {check.packed !== "identity" && <span class="aside"> unpacked from {check.packed}</span>}
          </Fact>
        </dl>
        <p class="hint">
          Whether the entities of the lines exist is not checked here: the service does that, and may reject further
          lines.
        </p>
        <Commands cli={`sluice validate ${fileWord(name)} --report errors.jsonl`} />
      </div>
      {suspicions.map((problem) => (
        <Problem key={problem.code} problem={problem} bad={false} />
      ))}
    </>
  );
}

/** showErrors scrolls to the errors and puts the focus there. */
function showErrors(): void {
  document.getElementById("errors")?.focus();
}

/** shownCodes is how many codes are shown at first: the most frequent ones. */
const shownCodes = 6;

/** Codes shows how often which error occurs; each leads to those errors below. */
function Codes({
  file: { id },
  check: { codes = [], report_complete: isComplete },
}: {
  file: FileRecord;
  check: FileCheck;
}) {
  const [{ code: selected }, change] = useQuery({ code: "", line: "", offset: "" });
  const [all, setAll] = useState(codes.findIndex(({ code }) => code === selected) >= shownCodes);
  const select = (code: string) => {
    change({ code: code === selected ? "" : code, offset: "", line: "" }, { push: true });
    showErrors();
  };
  return (
    <div class="panel">
      <h3>Errors by code</h3>
      <Bars
        label="Errors by code"
        selected={selected || undefined}
        onSelect={select}
        bars={(all ? codes : codes.slice(0, shownCodes)).map(({ code, count }) => ({
          key: code,
          label: code,
          value: count,
          kind: "bad",
        }))}
      />
      {!isComplete && <p class="hint">There are so many errors that the later ones have a code only.</p>}
      <div class="buttons">
        <button type="button" onClick={showErrors}>
          Show the errors
        </button>
        {!all && codes.length > shownCodes && (
          <button type="button" class="link" onClick={() => setAll(true)}>
            Show all {codes.length} codes
          </button>
        )}
        <a href={`${path}/${id}/report`} download>
          Download all errors (JSON Lines)
        </a>
      </div>
    </div>
  );
}

/** Errors shows what is wrong with the lines, those of one code if the address names it. */
function Errors({ id }: { id: string }) {
  const [query, change] = useQuery({ code: "", line: "", offset: "" });
  return (
    <div id="errors" class="errors" tabIndex={-1}>
      <LineErrors from={`${path}/${id}/errors`} {...query} onChange={(some) => change(some, { push: true })} />
    </div>
  );
}

/** Problem shows what is wrong with a file as a whole, and what to do. */
function Problem({ problem, bad }: { problem: FileProblem; bad: boolean }) {
  const { title, detail, hint, command, request_id: requestId } = problem;
  return (
    <div class={bad ? "notice notice-bad" : "notice notice-warn"} role={bad ? "alert" : "status"}>
      <Icon name={bad ? "error" : "warning"} />
      <div>
        <p class="notice-title">{title}</p>
        {detail && <p>{detail}</p>}
        {hint && <p>{hint}</p>}
        {command && <CommandText text={command} name="command" />}
        {requestId && (
          <p class="aside">
            Request <code>{requestId}</code>
          </p>
        )}
      </div>
    </div>
  );
}

/** Removal is the button that removes a file, which asks first if that ends an upload. */
function Removal({ file, changed }: { file: FileRecord; changed: () => void }) {
  const [asking, setAsking] = useState(false);
  const action = useAction(async () => {
    if (file.key) dismiss(file.key); // ends the sending of it
    await remove(file.id);
    setAsking(false);
    navigate("/upload", { replace: true });
    changed();
  });
  const endsUpload = file.state === "uploading" || file.state === "paused";
  return (
    <>
      <button
        type="button"
        disabled={action.running}
        onClick={() => (endsUpload ? setAsking(true) : void action.run())}
      >
        {file.state === "receiving" || file.state === "checking" ? "Cancel and remove" : "Remove from the console"}
      </button>
      {action.error && !asking && <ErrorNotice error={action.error} />}
      <Confirm
        title="End the upload and remove the file?"
        open={asking}
        action="End and remove"
        running={action.running}
        error={action.error}
        onConfirm={() => void action.run()}
        onClose={() => setAsking(false)}
      >
        <p>
          What was sent so far is given up, and nothing of the batch will be stored. The file itself stays where it is.
        </p>
      </Confirm>
    </>
  );
}

/** Lasting says how long the files are there. */
export function Lasting() {
  return (
    <p class="hint">
      The files are copies in a temporary folder of the command <code>sluice console</code>. They and their uploads
      survive a reload of this page and end with the command, which then prints how unfinished uploads are continued.
    </p>
  );
}
