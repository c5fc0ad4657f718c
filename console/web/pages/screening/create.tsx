// A new screening batch of one entity.

import { useState } from "preact/hooks";
import { post, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/feedback.tsx";
import { SelectField, TextField } from "../../kit/fields.tsx";
import { useAction } from "../../kit/resource.ts";

const path = "/screeningcommand/api/v3/batch";
const empty = {
  type: "Individual",
  name: "",
  alias: "",
  born: "",
  country: "",
  legalEntityId: "",
  journeyId: "",
  processId: "",
};

/** CreateDialog asks for an entity and screens it. onCreated gets the ID of the new batch. */
export function CreateDialog({
  open,
  onClose,
  onCreated,
}: {
  open: boolean;
  onClose: () => void;
  onCreated: (id: string) => void;
}) {
  const [fields, setFields] = useState(empty);
  const set = (key: keyof typeof empty) => (value: string) => setFields((old) => ({ ...old, [key]: value }));
  const create = useAction(async () => {
    const { data } = await post(path, { body: { data: bodyOf(fields) } });
    setFields(empty);
    onCreated(data.batchId);
  });
  const curl = useCurl();
  const isCompany = fields.type === "Company";
  return (
    <Dialog title="Screen an entity" open={open} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
      >
        <div class="filters filters-start">
          <SelectField
            label="Kind"
            value={fields.type}
            onValue={set("type")}
            options={[
              ["Individual", "Individual"],
              ["Company", "Company"],
            ]}
          />
          <TextField
            label={isCompany ? "Name of the company" : "Full name"}
            value={fields.name}
            onValue={set("name")}
            required
            maxLength={255}
            autofocus
          />
          <TextField label="Another name" value={fields.alias} onValue={set("alias")} maxLength={255} />
          {!isCompany && <TextField label="Date of birth" type="date" value={fields.born} onValue={set("born")} />}
          <TextField
            label={isCompany ? "Registered country" : "Nationality"}
            value={fields.country}
            onValue={set("country")}
            maxLength={255}
          />
          <TextField
            label="Legal entity ID"
            hint="By it the batch, and others of the entity, are found"
            value={fields.legalEntityId}
            onValue={set("legalEntityId")}
            maxLength={255}
          />
          <TextField label="Journey ID" value={fields.journeyId} onValue={set("journeyId")} maxLength={255} />
          <TextField label="Process ID" value={fields.processId} onValue={set("processId")} maxLength={255} />
        </div>
        <p class="hint">
          It is searched at once by the active providers. A batch of the same journey and process that is there already
          is overridden.
        </p>
        {create.error && <ErrorNotice error={create.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Go back
          </button>
          <button type="submit" class="primary" disabled={create.running || fields.name.trim() === ""}>
            Screen it
          </button>
        </div>
        <Commands curl={curl("POST", path, { data: bodyOf(fields) })} />
      </form>
    </Dialog>
  );
}

function bodyOf(fields: typeof empty): Schemas["CreateScreeningBatch"] {
  const { type, name, alias, born, country, legalEntityId, journeyId, processId } = fields;
  const isCompany = type === "Company";
  const searchCriteria: Schemas["SearchCriteria"] = isCompany
    ? { type, legalEntityName: name }
    : { type: "Individual", fullName: name };
  if (country) searchCriteria[isCompany ? "registeredCountry" : "nationality"] = country;
  if (born && !isCompany) searchCriteria.dateOfBirth = born.split("-").reverse().join("/");
  return {
    entities: [
      {
        searchCriteria,
        ...(legalEntityId && { legalEntityId }),
        ...(alias && { entityAliases: [{ id: "other", [isCompany ? "legalEntityName" : "fullName"]: alias }] }),
      },
    ],
    ...(journeyId && { journeyId }),
    ...(processId && { processId }),
  };
}
