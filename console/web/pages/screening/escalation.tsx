// The escalation of the materiality task of an entity.

import { useState } from "preact/hooks";
import { addressOf, put } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice } from "../../kit/feedback.tsx";
import { TextArea, TextField } from "../../kit/fields.tsx";
import { Time } from "../../kit/format.tsx";
import { useAction } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import type { Batch, Entity } from "./batch.ts";
import { isBatchId } from "./recent.ts";

const escalatePath = "/screeningcommand/api/v3/batch/{id}/entity/{entityId}/escalatematerialitytask";
const deescalatePath = "/screeningcommand/api/v3/batch/{id}/entity/{entityId}/deescalatematerialitytask";

interface EscalationProps {
  batch: Batch;
  entity: Entity;
  reload: () => void;
}

/** Escalation hands the task to a team, or takes that back. */
export function Escalation({ batch, entity, reload }: EscalationProps) {
  const escalated = entity.materialityTaskEscalatedDetails;
  const path = { id: batch.id, entityId: entity.id };
  const [team, setTeam] = useState("");
  const [user, setUser] = useState("");
  const [comment, setComment] = useState("");
  const body = { data: { teamId: team, comment, ...(user && { userId: user }) } };
  const escalate = useAction(async () => {
    await put(escalatePath, { path, body });
    reload();
  });
  const deescalate = useAction(async () => {
    await put(deescalatePath, { path });
    reload();
  });
  const curl = useCurl();
  const error = escalate.error ?? deescalate.error;
  if (escalated) {
    return (
      <section class="stack" aria-label="Escalation">
        <h2>Escalated</h2>
        <p class="anywhere">
          To team <code>{visible(escalated.teamId)}</code>
          {escalated.userId && <>, user {visible(escalated.userId)}</>}: <q>{visible(escalated.comment)}</q>
        </p>
        <p class="aside">
          By client <code data-volatile>{visible(escalated.escalatedBy)}</code>{" "}
          <Time at={escalated.escalatedAt} form="both" />
        </p>
        {error && <ErrorNotice error={error} />}
        {batch.status === "Open" && (
          <div class="buttons">
            <button type="button" disabled={deescalate.running} onClick={() => void deescalate.run()}>
              Take the escalation back
            </button>
          </div>
        )}
        <Commands curl={curl("PUT", addressOf(deescalatePath, path))} />
      </section>
    );
  }
  if (batch.status !== "Open") return null;
  return (
    <form
      class="stack"
      aria-label="Escalation"
      onSubmit={(event) => {
        event.preventDefault();
        void escalate.run();
      }}
    >
      <h2>Escalate</h2>
      <div class="filters filters-start">
        <TextField
          label="ID of the team"
          value={team}
          onValue={setTeam}
          required
          error={team === "" || isBatchId(team) ? undefined : "A UUID is needed"}
        />
        <TextField label="User (optional)" value={user} onValue={setUser} maxLength={255} />
      </div>
      <TextArea label="Comment" rows={2} value={comment} onValue={setComment} />
      {error && <ErrorNotice error={error} />}
      <div class="buttons">
        <button type="submit" disabled={escalate.running || !isBatchId(team) || comment.trim() === ""}>
          Escalate to the team
        </button>
      </div>
      <Commands curl={curl("PUT", addressOf(escalatePath, path), body)} />
    </form>
  );
}
