// What was decided about an entity before: the assessments of closed batches, and all batches that have it.

import { ApiError, type Answer, addressOf, get } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { formatCount, Time } from "../../kit/format.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import type { Entity } from "./batch.ts";
import { categories } from "./materiality.tsx";
import { BatchLink, madeBy, MaterialityBadge, ScreeningBadge } from "./statuses.tsx";

const historyPath = "/screeningquery/api/v4/batch/entity/{entityId}/materiality-assessment-history";
const batchesPath = "/screeningquery/api/v4/batch/legalentity/{legalEntityId}";

/** History shows what is known of an entity from other batches, too. */
export function History({ batchId, entity }: { batchId: string; entity: Entity }) {
  return (
    <>
      <Assessments entity={entity} />
      {entity.legalEntityId && <Batches batchId={batchId} legalEntityId={entity.legalEntityId} />}
    </>
  );
}

function Assessments({ entity }: { entity: Entity }) {
  const history = useResource(`history ${entity.id}`, async (signal) => {
    try {
      return (await get(historyPath, { path: { entityId: entity.id }, signal })).data;
    } catch (cause) {
      if (cause instanceof ApiError && cause.status === 404) return [];
      throw cause;
    }
  });
  const curl = useCurl();
  return (
    <section class="stack" aria-label="Assessments in closed batches">
      <h2>Assessments in closed batches</h2>
      <Loaded resource={history} lines={4}>
        {(items) =>
          items.length === 0 ? (
            <Empty title="No batch with this entity was closed yet">
              <p>What is decided becomes history when its batch is closed.</p>
            </Empty>
          ) : (
            <ol class="boxes">
              {items.map(({ batchId, journeyId, entityMaterialityAssessment: { assessment, trueMatches } }) => (
                <li key={batchId} class="record">
                  <header class="record-head">
                    <MaterialityBadge status={assessment?.materialityOutcome} />
                    {assessment && <Time at={assessment.lastActionedBy.actionedOn} />}
                    {journeyId && <span>journey {visible(journeyId)}</span>}
                    <Link to={pathTo("screening", batchId)}>The batch</Link>
                  </header>
                  {assessment && (
                    <p>
                      {categories
                        .map(([key, text]) => assessment[key] && `${text}: ${assessment[key].materialityStatus}`)
                        .filter(Boolean)
                        .join(", ")}
                    </p>
                  )}
                  {assessment?.rationale && <p>{visible(assessment.rationale)}</p>}
                  <p class="aside">
                    {trueMatches.length === 0 ? "No true match." : "True matches: "}
                    {trueMatches.map((match) => `${visible(match.name)} (${visible(match.entityUniqueId)})`).join(", ")}
                  </p>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      <Commands curl={curl("GET", addressOf(historyPath, { entityId: entity.id }))} />
    </section>
  );
}

type BatchOfEntity = Answer<typeof batchesPath, "get">["data"][number];

function columnsOf(batchId: string): readonly SmallColumn<BatchOfEntity>[] {
  return [
    {
      title: "Batch",
      cell: (one) => (
        <span class="one-line" data-volatile>
          {one.batchId === batchId ? <span class="mono">{one.batchId} (this)</span> : <BatchLink id={one.batchId} />}
        </span>
      ),
    },
    { title: "Made by", cell: (one) => madeBy(one.batchType) },
    { title: "Status", cell: (one) => <ScreeningBadge status={one.batchStatus} /> },
    { title: "True matches of it", align: "end", cell: (one) => formatCount(one.materialMatchesCount) },
    { title: "Closed", cell: (one) => <Time at={one.batchClosedDate} form="short" /> },
  ];
}

function Batches({ batchId, legalEntityId }: { batchId: string; legalEntityId: string }) {
  const batches = useResource(
    `batches ${legalEntityId}`,
    async (signal) => (await get(batchesPath, { path: { legalEntityId }, signal })).data,
  );
  const curl = useCurl();
  return (
    <section class="stack" aria-label="Batches of this entity">
      <h2>Batches of this entity</h2>
      <Loaded resource={batches} lines={4}>
        {(all) => (
          <SmallTable
            label="Batches of this entity, newest first"
            columns={columnsOf(batchId)}
            rows={all}
            rowKey={(one) => one.batchId}
          />
        )}
      </Loaded>
      <Commands curl={curl("GET", addressOf(batchesPath, { legalEntityId }))} />
    </section>
  );
}
