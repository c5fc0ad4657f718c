// Resolving all matches that the filter shows: how many before, how far it is, and what failed.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Live, Notice } from "../../kit/feedback.tsx";
import { SelectField, TextField } from "../../kit/fields.tsx";
import { counted, formatCount } from "../../kit/format.tsx";
import { Meter } from "../../kit/meter.tsx";
import { visible } from "../../kit/safe.ts";
import type { MatchStatus } from "./batch.ts";
import type { Row } from "./matches.ts";
import { bodyOf, chunkSize, commandPath, type Outcome, resolveAll } from "./resolve.ts";
import { matchStatuses } from "./statuses.tsx";

interface ResolveAllProps {
  batchId: string;
  /** rows are what the filter showed when the dialog was opened; undefined while it is closed. */
  rows: readonly Row[] | undefined;
  /** missing says which matches the filter would show that were not read; "" if there are none. */
  missing: string;
  /** onDone is called with what was tried, before the result is looked at. */
  onDone: (tried: readonly Row[]) => void;
  onClose: () => void;
}

/** ResolveAll is the dialog that resolves many matches. */
export function ResolveAll({ batchId, rows, missing, onDone, onClose }: ResolveAllProps) {
  const [outcome, setOutcome] = useState<Outcome>();
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async (tried: readonly Row[], status: MatchStatus, reason: string) => {
    stop.current = new AbortController();
    setOutcome({ resolved: [], failed: [], left: tried, running: true });
    await resolveAll(batchId, tried, { status, reason, comments: "" }, stop.current.signal, setOutcome);
    onDone(tried);
  };
  const close = () => {
    if (outcome?.running) return stop.current?.abort();
    setOutcome(undefined);
    onClose();
  };
  return (
    <Dialog title="Resolve all that the filter shows" open={rows !== undefined} onClose={close}>
      {rows &&
        (outcome ? (
          <Progress outcome={outcome} total={rows.length} onStop={() => stop.current?.abort()} onClose={close} />
        ) : (
          <Question
            batchId={batchId}
            rows={rows}
            missing={missing}
            onStart={(status, reason) => void start(rows, status, reason)}
            onClose={close}
          />
        ))}
    </Dialog>
  );
}

interface QuestionProps {
  batchId: string;
  rows: readonly Row[];
  missing: string;
  onStart: (status: MatchStatus, reason: string) => void;
  onClose: () => void;
}

function Question({ batchId, rows, missing, onStart, onClose }: QuestionProps) {
  const [status, setStatus] = useState<MatchStatus>("No Match");
  const [reason, setReason] = useState("");
  const curl = useCurl();
  const entities = new Set(rows.map(({ entity }) => entity.id)).size;
  const counts = matchStatuses
    .map((one) => [one, rows.filter(({ match }) => match.status === one).length] as const)
    .filter(([, n]) => n > 0);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason.trim()) onStart(status, reason.trim());
      }}
    >
      <p>
        <b>{counted(rows.length, "match", "matches")}</b> of {counted(entities, "entity", "entities")}{" "}
        {rows.length === 1 ? "gets" : "get"} the same status and reason. Now:{" "}
        {counts.map(([one, n]) => `${formatCount(n)} ${one}`).join(", ")}.
      </p>
      {missing && (
        <Notice kind="warn">
          <p>{missing} They are not among these.</p>
        </Notice>
      )}
      {counts.some(([one]) => one !== "Unresolved") && (
        <Notice kind="warn">
          <p>Earlier decisions are replaced. To leave them, set the filter to Unresolved first.</p>
        </Notice>
      )}
      <SelectField
        label="Status"
        value={status}
        onValue={(value) => setStatus(value as MatchStatus)}
        options={matchStatuses.map((one) => [one, one] as const)}
      />
      <TextField label="Reason" value={reason} onValue={setReason} required maxLength={1000} autofocus spellcheck />
      {rows.length > chunkSize && (
        <p class="aside">
          The service resolves at most {chunkSize} together, so this takes{" "}
          {counted(Math.ceil(rows.length / chunkSize), "request")}.
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Go back
        </button>
        <button type="submit" class="primary" disabled={reason.trim() === ""}>
          Resolve {counted(rows.length, "match", "matches")}
        </button>
      </div>
      <Commands
        curl={curl(
          "PUT",
          commandPath.replace("{id}", batchId),
          bodyOf(rows.slice(0, chunkSize), { status, reason: reason.trim() || "REASON", comments: "" }),
        )}
        does={rows.length > chunkSize ? `resolve the first ${chunkSize} of them` : undefined}
      />
    </form>
  );
}

function Progress({
  outcome,
  total,
  onStop,
  onClose,
}: {
  outcome: Outcome;
  total: number;
  onStop: () => void;
  onClose: () => void;
}) {
  const { resolved, failed, left, running } = outcome;
  const text = running
    ? `${formatCount(resolved.length)} of ${formatCount(total)} resolved`
    : [
        `${formatCount(resolved.length)} of ${counted(total, "match", "matches")} resolved`,
        failed.length > 0 && `${formatCount(failed.length)} failed`,
        left.length > 0 && `${formatCount(left.length)} not tried`,
      ]
        .filter(Boolean)
        .join(", ") + ".";
  const close = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (!running) close.current?.focus();
  }, [running]);
  return (
    <div class="stack">
      <p class="tabular">{text}</p>
      <Live text={text} />
      <Meter label="Resolved" value={resolved.length} of={total} />
      {failed.length > 0 && <Failures failed={failed} />}
      <div class="buttons">
        {running ? (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" ref={close} onClick={onClose}>
            Back to the matches
          </button>
        )}
      </div>
    </div>
  );
}

/** shownFailures is how many failures are named. */
const shownFailures = 20;

function Failures({ failed }: { failed: Outcome["failed"] }) {
  return (
    <Notice kind="bad">
      <p class="notice-title">{counted(failed.length, "match", "matches")} could not be resolved</p>
      <ul>
        {failed.slice(0, shownFailures).map(({ row, error }) => (
          <li key={row.match.id}>
            {visible(row.match.matchData.name)} ({visible(row.match.entityUniqueId)}): {visible(error.title)}
            {error.requestId && (
              <span class="aside">
                {" "}
                Request <code>{error.requestId}</code>
              </span>
            )}
          </li>
        ))}
      </ul>
      {failed.length > shownFailures && <p>{counted(failed.length - shownFailures, "more")}.</p>}
      <p>They are still in the list, as the service has them now. Filter by status and try again.</p>
    </Notice>
  );
}
