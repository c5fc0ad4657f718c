// The decision about one match.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice } from "../../kit/feedback.tsx";
import { TextArea } from "../../kit/fields.tsx";
import { Time } from "../../kit/format.tsx";
import { useAction } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import { type Match, type MatchStatus, readMatch } from "./batch.ts";
import type { Row } from "./matches.ts";
import { bodyOf, commandPath, resolve } from "./resolve.ts";
import { matchStatuses } from "./statuses.tsx";

/** lastReasons are the reasons that were last given, by status, for the next match. */
const lastReasons = new Map<MatchStatus, string>();

/** keyOfStatus are the keys that choose a status. */
export const keyOfStatus: Record<MatchStatus, string> = { Match: "m", "No Match": "n", Unresolved: "u" };

/** Choice is what a key has chosen for a match. Each press makes a new one. */
export interface Choice {
  matchId: string;
  status: MatchStatus;
}

interface ResolveFormProps {
  batchId: string;
  row: Row;
  /** choice is what the last key has chosen, for this match or another. */
  choice: Choice | undefined;
  /** onResolved is called with the new state of the match. */
  onResolved: (match: Match) => void;
  /** onLeave is called when a person wants back to the list. */
  onLeave: () => void;
}

/** ResolveForm asks for status and reason of a match. It has to be made anew for another match. */
export function ResolveForm({ batchId, row, choice, onResolved, onLeave }: ResolveFormProps) {
  const { match, entity } = row;
  const [status, setStatus] = useState<MatchStatus | "">("");
  const [reason, setReason] = useState("");
  const [comments, setComments] = useState(match.comments ?? "");
  const field = useRef<HTMLInputElement>(null);
  const [focus, setFocus] = useState(0);
  useLayoutEffect(() => {
    if (focus > 0) {
      field.current?.focus();
      field.current?.select();
    }
  }, [focus]);

  const resolution = {
    status: status || ("Unresolved" as MatchStatus),
    reason: reason.trim(),
    comments: comments === match.comments ? "" : comments,
  };
  const action = useAction(async () => {
    await resolve(batchId, [row], resolution);
    lastReasons.set(resolution.status, resolution.reason);
    onResolved(
      await readMatch(batchId, entity.id, match.id).catch(() => ({
        ...match,
        status: resolution.status,
        reason: resolution.reason,
      })),
    );
  });
  const choose = (chosen: MatchStatus) => {
    setStatus(chosen);
    if (reason === "" || [...lastReasons.values()].includes(reason)) setReason(lastReasons.get(chosen) ?? "");
    setFocus((n) => n + 1);
  };
  useLayoutEffect(() => {
    if (choice?.matchId === match.id) choose(choice.status);
  }, [choice]);
  const curl = useCurl();
  const isReady = status !== "" && resolution.reason !== "";
  return (
    <form
      class="resolve"
      aria-label="Decision"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void action.run();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          onLeave();
        }
      }}
    >
      <div class="resolve-line">
        {" "}
        <div class="choices" role="group" aria-label="Status">
          {matchStatuses.map((one) => (
            <button type="button" key={one} class="choice" aria-pressed={status === one} onClick={() => choose(one)}>
              {one} <kbd aria-hidden="true">{keyOfStatus[one]}</kbd>
            </button>
          ))}
        </div>
        <div class="resolve-reason">
          <input
            ref={field}
            type="text"
            aria-label="Reason"
            value={reason}
            maxLength={1000}
            placeholder="Reason (needed)"
            autocomplete="off"
            aria-required="true"
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button type="submit" class="primary" disabled={!isReady || action.running}>
            Save <kbd aria-hidden="true">Enter</kbd>
          </button>
        </div>
      </div>{" "}
      {action.error && <ErrorNotice error={action.error} />}
      <div class="resolve-more">
        {" "}
        <details class="commands">
          <summary>Comments{match.comments && " (there are some)"}</summary>
          <TextArea
            label="Comments"
            value={comments}
            onValue={setComments}
            rows={3}
            hint="What is empty leaves the comments as they are."
          />
        </details>
        <Commands
          curl={curl(
            "PUT",
            commandPath.replace("{id}", batchId),
            bodyOf([row], { ...resolution, reason: resolution.reason || "REASON" }),
          )}
        />
      </div>{" "}
    </form>
  );
}

/** Decision says what is decided about a match, why, by whom and when; nothing if nothing was ever decided. */
export function Decision({ match }: { match: Match }) {
  const { reason, comments, lastActionedBy: by } = match;
  if (!reason && !comments && !by) return null;
  return (
    <div class="decision">
      {reason && (
        <p>
          <q>{visible(reason)}</q>
        </p>
      )}
      {by && (
        <p class="aside">
          {by.reusedFromPreviousBatch ? "Taken over from an earlier batch" : "By client"}{" "}
          <code data-volatile>{by.reusedFromPreviousBatch ? "" : visible(by.id)}</code>{" "}
          <Time at={by.actionedOn} form="both" />
        </p>
      )}
      {comments && <p class="anywhere">{visible(comments)}</p>}
    </div>
  );
}
