// Whether what was found about an entity matters: the assessment by category, its escalation, and further properties.

import { useEffect, useRef, useState } from "preact/hooks";
import { addressOf, post, put, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice, Notice } from "../../kit/feedback.tsx";
import { Check, TextArea } from "../../kit/fields.tsx";
import { Time } from "../../kit/format.tsx";
import { useAction } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import { SmallTable } from "../../kit/smalltable.tsx";
import type { Batch, Entity } from "./batch.ts";
import { Escalation } from "./escalation.tsx";
import { MaterialityProperties } from "./materialityproperties.tsx";
import { MaterialityBadge } from "./statuses.tsx";

type Status = Schemas["Materiality"];
type Category = "sanctions" | "pep" | "adverseMedia" | "enforcements" | "other";

/** categories are what is assessed, with their names. */
export const categories: readonly (readonly [key: Category, text: string])[] = [
  ["sanctions", "Sanctions"],
  ["pep", "Politically exposed"],
  ["adverseMedia", "Adverse media"],
  ["enforcements", "Enforcements"],
  ["other", "Other"],
];

interface MaterialityProps {
  batch: Batch;
  entity: Entity;
  reload: () => void;
}

/** Materiality shows the assessment of an entity and changes it while the batch is open. */
export function Materiality({ batch, entity, reload }: MaterialityProps) {
  const assessed = entity.entityMaterialityAssessment;
  const clients = entity.impactedClients;
  const open = batch.status === "Open";
  return (
    <div class="stack">
      <p>
        Outcome: <MaterialityBadge status={assessed?.materialityOutcome} />
        {assessed && (
          <span class="aside">
            {" "}
            by client <code data-volatile>{visible(assessed.lastActionedBy.id)}</code>{" "}
            <Time at={assessed.lastActionedBy.actionedOn} form="both" />
          </span>
        )}
      </p>
      <Assessment batch={batch} entity={entity} reload={reload} open={open} />
      <Escalation batch={batch} entity={entity} reload={reload} />
      <MaterialityProperties batch={batch} entity={entity} reload={reload} />
      {clients.length > 0 && (
        <section aria-label="Impacted clients">
          <h2>Impacted clients</h2>
          <ul>
            {clients.map((client) => (
              <li key={client.legalEntityId}>
                {visible(client.legalEntityId)}:{" "}
                {client.isSelected ? "followed up" : `not followed up (${visible(client.reasonForNoFollowUp ?? "")})`}
              </li>
            ))}
          </ul>
        </section>
      )}
      {batch.journeyMainLegalEntityId && batch.status !== "Overridden" && <Aggregate batch={batch} />}
    </div>
  );
}

interface Assessed {
  status: Status | "";
  /** jurisdictions are names with commas. */
  jurisdictions: string;
}

const assessPath = "/screeningcommand/api/v3/batch/{id}/entity/{entityId}";

function Assessment({ batch, entity, reload, open }: MaterialityProps & { open: boolean }) {
  const before = entity.entityMaterialityAssessment;
  const [all, setAll] = useState(() => allAssessed(before));
  const [rationale, setRationale] = useState(before?.rationale ?? "");
  const [okToProceed, setOkToProceed] = useState(before?.sanctions?.okToProceed ?? false);
  const [why, setWhy] = useState(before?.sanctions?.rationale ?? "");
  // What has been saved, here or by others, takes the place of what is in the fields, which keep the focus.
  const version = JSON.stringify(before);
  const shown = useRef(version);
  useEffect(() => {
    if (shown.current === version) return; // these were the fields' first values
    shown.current = version;
    setAll(allAssessed(before));
    setRationale(before?.rationale ?? "");
    setOkToProceed(before?.sanctions?.okToProceed ?? false);
    setWhy(before?.sanctions?.rationale ?? "");
  }, [version]);
  const set = (key: Category, some: Partial<Assessed>) =>
    setAll((old) => ({ ...old, [key]: { ...old[key], ...some } }));
  const body = bodyOf(all, { rationale, okToProceed, why });
  const save = useAction(async () => {
    await put(assessPath, { path: { id: batch.id, entityId: entity.id }, body: { data: body } });
    reload();
  });
  const curl = useCurl();
  return (
    <form
      class="stack"
      aria-label="Assessment"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <h2>Assessment</h2>
      <div class="assessment">
        <SmallTable
          label="Assessment by category"
          columns={[
            { title: "Category", isName: true, cell: ([, text]) => text },
            {
              title: "It is",
              cell: ([key, text]) => (
                <select
                  aria-label={text}
                  value={all[key].status}
                  disabled={!open}
                  onChange={(event) => set(key, { status: event.currentTarget.value as Status })}
                >
                  {all[key].status === "" && <option value="">not assessed</option>}
                  {(["None", "Immaterial", "Material"] as const).map((one) => (
                    <option key={one} value={one} selected={one === all[key].status}>
                      {one}
                    </option>
                  ))}
                </select>
              ),
            },
            {
              title: "Jurisdictions, if material",
              cell: ([key, text]) => (
                <input
                  type="text"
                  aria-label={`Jurisdictions of ${text}`}
                  value={all[key].jurisdictions}
                  disabled={!open || all[key].status !== "Material"}
                  autocomplete="off"
                  placeholder={all[key].status === "Material" ? "RU, BY" : ""}
                  onInput={(event) => set(key, { jurisdictions: event.currentTarget.value })}
                />
              ),
            },
          ]}
          rows={categories}
          rowKey={([key]) => key}
        />
      </div>
      {all.sanctions.status === "Material" && (
        <>
          <Check
            label="It is right to proceed in spite of the sanctions"
            checked={okToProceed}
            onChecked={setOkToProceed}
          />
          <TextArea label="Why, about the sanctions" rows={2} value={why} onValue={setWhy} />
        </>
      )}
      <TextArea label="Rationale" rows={2} value={rationale} onValue={setRationale} />
      {save.error && <ErrorNotice error={save.error} />}
      {open && (
        <div class="buttons">
          <button type="submit" class="primary" disabled={save.running}>
            Save the assessment
          </button>
        </div>
      )}
      <Commands curl={curl("PUT", addressOf(assessPath, { id: batch.id, entityId: entity.id }), { data: body })} />
    </form>
  );
}

function allAssessed(assessment: Entity["entityMaterialityAssessment"]): Record<Category, Assessed> {
  return Object.fromEntries(categories.map(([key]) => [key, assessedOf(assessment?.[key])])) as Record<
    Category,
    Assessed
  >;
}

function assessedOf(category: Schemas["CategoryAssessment"] | null | undefined): Assessed {
  return { status: category?.materialityStatus ?? "", jurisdictions: category?.jurisdictions?.join(", ") ?? "" };
}

function bodyOf(
  all: Record<Category, Assessed>,
  about: { rationale: string; okToProceed: boolean; why: string },
): Schemas["AssessScreenedEntity"] {
  const change: Schemas["AssessmentChange"] = { rationale: about.rationale };
  for (const [key] of categories) {
    const { status, jurisdictions } = all[key];
    if (status === "") continue;
    const names = jurisdictions
      .split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    const isMaterial = status === "Material";
    change[key] = {
      materialityStatus: status,
      ...(isMaterial && { jurisdictions: names }),
      ...(isMaterial && key === "sanctions" && { okToProceed: about.okToProceed, rationale: about.why }),
    };
  }
  return { entityMaterialityAssessment: change };
}

const aggregatePath = "/screeningcommand/api/v3/batch/{id}/aggregate-entity-materiality";

/** Aggregate writes the materiality of all entities to the draft of the main legal entity. */
function Aggregate({ batch }: { batch: Batch }) {
  const [written, setWritten] = useState<Schemas["AggregatedMateriality"]>();
  const write = useAction(async () => setWritten((await post(aggregatePath, { path: { id: batch.id } })).data));
  const curl = useCurl();
  return (
    <section class="stack" aria-label="All entities together">
      <h2>All entities together</h2>
      <p>
        Writes the materiality of all entities of the batch, by category and overall, to the draft in progress of the
        main legal entity {visible(batch.journeyMainLegalEntityId ?? "")}.
      </p>
      <div class="buttons">
        <button type="button" disabled={write.running} onClick={() => void write.run()}>
          Write it to the draft
        </button>
      </div>
      {written && (
        <Notice kind="ok">
          <p>
            Written: overall <MaterialityBadge status={written.overallMateriality} />
          </p>
        </Notice>
      )}
      {write.error && <ErrorNotice error={write.error} />}
      <Commands curl={curl("POST", addressOf(aggregatePath, { id: batch.id }))} />
    </section>
  );
}
