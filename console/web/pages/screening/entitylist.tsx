// The entities of a screening batch.

import { counted, formatCount } from "../../kit/format.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
import type { Batch, Entity } from "./batch.ts";
import type { MatchStore } from "./matches.ts";
import { MaterialityBadge } from "./statuses.tsx";

/** EntityList is the list of the entities, with how many of their matches are unresolved. */
export function EntityList({
  batch,
  entity,
  store,
  onSelect,
}: {
  batch: Batch;
  entity: Entity;
  store: MatchStore;
  onSelect: (entity: Entity) => void;
}) {
  const columns: readonly Column<Entity>[] = [
    {
      key: "name",
      title: "Entity",
      width: "minmax(4rem, 1fr)",
      cell: (one) => (
        <span dir="auto" title={visible(one.entityName)}>
          {visible(one.entityName)}
        </span>
      ),
    },
    {
      key: "open",
      title: "Open",
      width: "4.5rem",
      align: "end",
      cell: (one) => {
        const part = store.parts.get(one.id);
        if (!part?.complete)
          return (
            <span class="aside" title="Not read">
              {part?.error ? "failed" : "…"}
            </span>
          );
        const open = part.matches.filter((match) => match.status === "Unresolved").length;
        return (
          <span title={`${formatCount(open)} of ${counted(part.matches.length, "match", "matches")} unresolved`}>
            {formatCount(open)} / {formatCount(part.matches.length)}
          </span>
        );
      },
    },
  ];
  return (
    <section aria-label="Entities" class="stack">
      <Table
        label="Entities"
        columns={columns}
        rows={batch.entities}
        rowKey={(one) => one.id}
        selected={entity.id}
        onSelect={onSelect}
      />
      <p class="aside">
        Materiality: <MaterialityBadge status={entity.entityMaterialityAssessment?.materialityOutcome} />
      </p>
    </section>
  );
}
