// Further properties of the materiality of an entity, or of a party related to it.

import { useState } from "preact/hooks";
import { addressOf, put, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { useAction } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import type { Batch, Entity } from "./batch.ts";

const path = "/screeningcommand/api/v3/batch/{id}/entity/{entityId}/updatemateriality";

/** MaterialityProperties shows properties by the party that they are about, and sets or removes single ones. */
export function MaterialityProperties({ batch, entity, reload }: { batch: Batch; entity: Entity; reload: () => void }) {
  const [party, setParty] = useState("");
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const place = { id: batch.id, entityId: entity.id };
  const open = batch.status === "Open";
  const bodyOf = (about: string, name: string, property: Schemas["SingleProperty"] | null) => ({
    data: { ...(about && { relatedPartyEntityId: about }), properties: { [name]: property } },
  });
  const update = useAction(async (about: string, name: string, property: Schemas["SingleProperty"] | null) => {
    await put(path, { path: place, body: bodyOf(about, name, property) });
    setKey("");
    setValue("");
    reload();
  });
  const curl = useCurl();
  const rows = Object.entries(entity.materialityAssessment).flatMap(([about, properties]) =>
    Object.entries(properties).map(([name, property]) => ({ about, name, property })),
  );
  if (rows.length === 0 && !open) return null;
  const actions: SmallColumn<(typeof rows)[number]> = {
    title: "Actions",
    cell: ({ about, name }) => (
      <button
        type="button"
        class="link"
        aria-label={`Remove ${visible(name)}`}
        onClick={() => void update.run(about === entity.id ? "" : about, name, null)}
      >
        Remove
      </button>
    ),
  };
  return (
    <form
      class="stack"
      aria-label="Properties"
      onSubmit={(event) => {
        event.preventDefault();
        void update.run(party, key, { type: "Single", value });
      }}
    >
      <h2>Properties</h2>
      {rows.length > 0 && (
        <SmallTable
          label="Properties of the materiality"
          columns={[
            {
              title: "About",
              anywhere: true,
              cell: ({ about }) => (about === entity.id ? "the entity" : visible(about)),
            },
            { title: "Property", anywhere: true, cell: ({ name }) => visible(name) },
            {
              title: "Value",
              anywhere: true,
              cell: ({ property }) =>
                visible(property.type === "Single" ? (property.value ?? "") : JSON.stringify(property)),
            },
            ...(open ? [actions] : []),
          ]}
          rows={rows}
          rowKey={({ about, name }) => `${about} ${name}`}
        />
      )}
      {update.error && <ErrorNotice error={update.error} />}
      {open && (
        <>
          <div class="filters">
            <TextField label="Related party (or the entity)" value={party} onValue={setParty} maxLength={255} />
            <TextField label="Property" value={key} onValue={setKey} maxLength={255} />
            <TextField label="Value" value={value} onValue={setValue} />
            <button type="submit" disabled={update.running || key === ""}>
              Set it
            </button>
          </div>
          <Commands
            curl={curl("PUT", addressOf(path, place), bodyOf(party, key || "KEY", { type: "Single", value }))}
          />
        </>
      )}
    </form>
  );
}
