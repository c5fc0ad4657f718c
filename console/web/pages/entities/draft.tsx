// A draft beside the verified properties of its entity, and what can be done with it.

import { useMemo, useState } from "preact/hooks";
import { type ApiError, addressOf, request, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { compare, Comparison } from "../../kit/compare.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { Notice } from "../../kit/feedback.tsx";
import { SelectField } from "../../kit/fields.tsx";
import { counted } from "../../kit/format.tsx";
import { useAction } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import { EditDraft } from "./editdraft.tsx";
import { fieldsOf } from "./fields.ts";
import { type Draft, DraftBadge, type Entity, nameOf } from "./state.tsx";

const verifyPath = "/entitydatacommand/api/v2/entity/{entityId}/draft/{id}/verify";
const rejectPath = "/entitydatacommand/api/v2/entity/{entityId}/draft/{id}/reject";

interface DraftProps {
  entity: Entity;
  draft: Draft;
  onChange: () => void;
  onClose: () => void;
}

/** DraftPanel compares a draft with its entity, and verifies, rejects or edits it. */
export function DraftPanel({ entity, draft, onChange, onClose }: DraftProps) {
  const [asked, setAsked] = useState<"" | "verify" | "reject" | "edit">("");
  const [said, setSaid] = useState("");
  const rows = useMemo(() => compare(fieldsOf(entity.properties), fieldsOf(draft.properties)), [entity, draft]);
  const isOpen = draft.status === "InProgress";
  const done = (text: string) => {
    setAsked("");
    setSaid(text);
    onChange();
  };
  const parameters = { entityId: entity.id, id: draft.id };
  const curl = useCurl();
  return (
    <section class="panel" aria-labelledby="draft">
      <div class="page-header">
        <h3 id="draft">
          Draft <span class="mono">{draft.id}</span>
        </h3>
        <DraftBadge status={draft.status} />
        <div class="buttons">
          {isOpen && (
            <button type="button" onClick={() => setAsked("edit")}>
              Edit the draft
            </button>
          )}
          {isOpen && (
            <button type="button" class="danger" onClick={() => setAsked("reject")}>
              Reject the draft
            </button>
          )}
          {isOpen && (
            <button type="button" class="primary" onClick={() => setAsked("verify")}>
              Verify the draft
            </button>
          )}
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
      {said && <Notice kind="ok">{said}</Notice>}
      {isOpen && draft.sourceEntityVersion !== entity.version && (
        <Notice kind="warn">
          The entity has changed since the draft began: from version {draft.sourceEntityVersion} to {entity.version}.
          What differs may be of another draft; verification keeps that.
        </Notice>
      )}
      {rows.length === 0 ? (
        <p>Neither the entity nor the draft has properties.</p>
      ) : (
        <Comparison
          label="Verified properties and draft"
          leftTitle={`Verified, version ${entity.version}`}
          rightTitle={`Draft, version ${draft.version}`}
          rows={rows}
        />
      )}
      <Commands
        curl={[
          curl("GET", addressOf("/entitydataquery/api/v2/entity/{entityId}/draft/{id}", parameters)),
          ...(isOpen
            ? [
                curl("PUT", addressOf(verifyPath, parameters), { data: { version: draft.version } }),
                curl("PUT", addressOf(rejectPath, parameters)),
              ]
            : []),
        ].join("\n")}
      />
      {asked === "verify" && (
        <VerifyDialog
          entity={entity}
          draft={draft}
          differing={rows.filter((r) => r.left !== r.right).length}
          onDone={() => done("The draft is verified. Its values are those of the entity now.")}
          onConflict={onChange}
          onClose={() => setAsked("")}
        />
      )}
      {asked === "reject" && (
        <RejectDialog
          entity={entity}
          draft={draft}
          onDone={() => done("The draft is rejected. The entity is as it was.")}
          onClose={() => setAsked("")}
        />
      )}
      <EditDraft
        entity={entity}
        draft={draft}
        open={asked === "edit"}
        onDone={() => done("The draft is changed.")}
        onClose={() => setAsked("")}
      />
    </section>
  );
}

interface VerifyProps {
  entity: Entity;
  draft: Draft;
  differing: number;
  onDone: () => void;
  /** onConflict has the entity and the draft read again, because somebody else has changed one. */
  onConflict: () => void;
  onClose: () => void;
}

/** VerifyDialog asks before a draft is verified. If other drafts have changed the same properties, each is decided. */
function VerifyDialog({ entity, draft, differing, onDone, onConflict, onClose }: VerifyProps) {
  const [decisions, setDecisions] = useState<Record<string, "draft" | "entity">>({});
  const verify = useAction(async () => {
    const resolutions = Object.entries(decisions).map(
      ([key, from]) => [key, (from === "draft" ? draft : entity).properties[key] ?? null] as const,
    );
    const data: Schemas["VerifyDraft"] = {
      version: draft.version,
      ...(resolutions.length > 0 && { dataConflictResolutions: Object.fromEntries(resolutions) }),
    };
    try {
      await request("put", verifyPath, { path: { entityId: entity.id, id: draft.id }, body: { data } });
    } catch (cause) {
      const keys = conflictsOf(cause as ApiError, entity, draft);
      if (keys.length > 0)
        setDecisions((old) => ({ ...Object.fromEntries(keys.map((key) => [key, "entity" as const])), ...old }));
      if ((cause as ApiError).status === 409) onConflict();
      throw cause;
    }
    onDone();
  });
  return (
    <Confirm
      title="Verify the draft?"
      open
      action="Verify the draft"
      running={verify.running}
      error={verify.error}
      onConfirm={() => void verify.run()}
      onClose={onClose}
    >
      <p>
        {differing === 0
          ? "The draft changes nothing; verifying it makes the entity compliant."
          : `${counted(differing, "field")} of ${visible(nameOf(entity.properties)) || "the entity"} will be as in the draft.`}{" "}
        Transactions may name the entity from then on. This cannot be taken back.
      </p>
      {Object.entries(decisions).map(([key, from]) => (
        <SelectField
          key={key}
          label={`${visible(key)} was changed by another draft. Use the value of`}
          value={from}
          onValue={(value) => setDecisions((old) => ({ ...old, [key]: value as "draft" | "entity" }))}
          options={[
            ["entity", "the entity"],
            ["draft", "this draft"],
          ]}
        />
      ))}
    </Confirm>
  );
}

/** conflictsOf returns the properties that a refusal to verify names. */
function conflictsOf(error: ApiError, entity: Entity, draft: Draft): string[] {
  const [, named = ""] = /^Another draft has changed (.*) since this one began\./s.exec(error.title) ?? [];
  const names = new Set(named.split(", "));
  return [...new Set([...Object.keys(entity.properties), ...Object.keys(draft.properties)])].filter((key) =>
    names.has(key),
  );
}

function RejectDialog({
  entity,
  draft,
  onDone,
  onClose,
}: {
  entity: Entity;
  draft: Draft;
  onDone: () => void;
  onClose: () => void;
}) {
  const reject = useAction(async () => {
    await request("put", rejectPath, { path: { entityId: entity.id, id: draft.id } });
    onDone();
  });
  return (
    <Confirm
      title="Reject the draft?"
      open
      action="Reject the draft"
      running={reject.running}
      error={reject.error}
      onConfirm={() => void reject.run()}
      onClose={onClose}
    >
      <p>The draft ends without effect, and cannot be changed any more. The entity keeps its properties.</p>
    </Confirm>
  );
}
