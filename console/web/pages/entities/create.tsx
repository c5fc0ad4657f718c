// The creation of an entity, by a form or as JSON.

import { useState } from "preact/hooks";
import { type Schemas, send } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice, Notice } from "../../kit/feedback.tsx";
import { SelectField, TextField } from "../../kit/fields.tsx";
import { hasPlaces, JsonField, useJson } from "../../kit/jsonfield.tsx";
import { useAction } from "../../kit/resource.ts";
import { navigate, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";

type NewEntity = Schemas["CreateEntity"];

const commandPath = "/entitydatacommand/api/v2/entity";

interface CreateProps {
  open: boolean;
  onClose: () => void;
  onCreated: () => void;
}

/** CreateEntity asks for what an entity is called, or for all of it as JSON, and shows the new entity. */
export function CreateEntity({ open, onClose, onCreated }: CreateProps) {
  return (
    <Dialog title="Create an entity" open={open} onClose={onClose} wide>
      {open && <CreateForm onClose={onClose} onCreated={onCreated} />}
    </Dialog>
  );
}

function CreateForm({ onClose, onCreated }: Omit<CreateProps, "open">) {
  const [type, setType] = useState<NewEntity["type"]>("Company");
  const [targetEntity, setTargetEntity] = useState<NewEntity["targetEntity"]>("Client");
  const [name, setName] = useState("");
  const [asJson, setAsJson] = useState(false);
  const json = useJson("");
  const [warnings, setWarnings] = useState<{ id: string; texts: string[] }>();
  const curl = useCurl();

  const fromForm: NewEntity = {
    type,
    targetEntity,
    properties: { [nameKeys[type]]: { type: "Single", value: name.trim() } },
  };
  const body = asJson ? `{"data":${json.text}}` : JSON.stringify({ data: fromForm });
  const create = useAction(async () => {
    if (asJson && !json.check()) return;
    // The text itself is sent, so that the service judges what was typed.
    const answer = (await send("post", "/api" + commandPath, {
      body: new Blob([body], { type: "application/json" }),
      headers: { "Content-Type": "application/json" },
    })) as { data: { id: string }; messages: { message: string }[] };
    onCreated();
    if (answer.messages.length > 0) setWarnings({ id: answer.data.id, texts: answer.messages.map((m) => m.message) });
    else navigate(pathTo("entities", answer.data.id));
  });
  const switchTo = (to: boolean) => {
    if (to) json.setText(JSON.stringify(fromForm, null, 2));
    create.clear();
    setAsJson(to);
  };
  if (warnings) {
    return (
      <>
        <Notice kind="warn">
          <p class="notice-title">The entity is created, with a remark.</p>
          <ul>
            {warnings.texts.map((text) => (
              <li key={text}>{visible(text)}</li>
            ))}
          </ul>
        </Notice>
        <div class="buttons">
          <button type="button" class="primary" onClick={() => navigate(pathTo("entities", warnings.id))}>
            Open the entity
          </button>
        </div>
      </>
    );
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void create.run();
      }}
    >
      {asJson ? (
        <JsonField
          label="Entity as JSON"
          json={json}
          rows={16}
          failure={create.error}
          hint="The content of data: type, targetEntity, properties, accessLayers and so on."
        />
      ) : (
        <div class="filters">
          <TextField
            label="Name"
            value={name}
            onValue={setName}
            required
            maxLength={10_000}
            autofocus
            hint={`The property ${nameKeys[type]}.`}
            spellcheck
          />
          <SelectField
            label="Type"
            value={type}
            onValue={(value) => setType(value as NewEntity["type"])}
            options={types.map((t) => [t, t])}
          />
          <SelectField
            label="Role"
            value={targetEntity}
            onValue={(value) => setTargetEntity(value as NewEntity["targetEntity"])}
            options={[
              ["Client", "Client"],
              ["Related Party", "Related party"],
            ]}
          />
        </div>
      )}
      {create.error && !(asJson && hasPlaces(create.error)) && <ErrorNotice error={create.error} />}
      <div class="buttons">
        <button type="button" class="link" onClick={() => switchTo(!asJson)}>
          {asJson ? "Use the form" : "Write JSON instead"}
        </button>
        <button type="button" onClick={onClose}>
          Go back
        </button>
        <button type="submit" class="primary" disabled={create.running}>
          Create the entity
        </button>
      </div>
      {!asJson && <Commands curl={curl("POST", commandPath, { data: fromForm })} />}
    </form>
  );
}

const types: readonly NewEntity["type"][] = ["Company", "Individual", "Other", "Entity Group"];

/** nameKeys are the properties that name an entity of each type. */
const nameKeys: Record<NewEntity["type"], string> = {
  Company: "legalEntityName",
  Individual: "fullName",
  Other: "name",
  "Entity Group": "name",
};
