// Changing a draft: one property by a form, or all of them as JSON.

import { useState } from "preact/hooks";
import { addressOf, send } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice, Notice } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { hasPlaces, JsonField, useJson } from "../../kit/jsonfield.tsx";
import { parseJson } from "../../kit/jsontext.ts";
import { useAction } from "../../kit/resource.ts";
import type { Draft, Entity } from "./state.tsx";

const updatePath = "/entitydatacommand/api/v2/entity/{entityId}/draft/{id}";

interface EditProps {
  entity: Entity;
  draft: Draft;
  onDone: () => void;
  onClose: () => void;
}

/** EditDraft is a dialog in which the properties of a draft are changed. */
export function EditDraft({ open, ...props }: EditProps & { open: boolean }) {
  return (
    <Dialog title="Edit the draft" open={open} onClose={props.onClose} wide>
      {open && <EditForm {...props} />}
    </Dialog>
  );
}

function EditForm({ entity, draft, onDone, onClose }: EditProps) {
  // What is edited is the draft as it was when the dialog opened; a change of somebody else in between is a conflict.
  const [{ version, properties }] = useState(draft);
  const [asJson, setAsJson] = useState(false);
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const [isSame, setIsSame] = useState(false);
  const json = useJson(JSON.stringify(properties, null, 2));
  const path = addressOf(updatePath, { entityId: entity.id, id: draft.id });
  const curl = useCurl();
  const single = { [key]: value === "" ? null : { type: "Single", value } };

  const save = useAction(async () => {
    let changes = JSON.stringify(single);
    if (asJson) {
      if (!json.check()) return;
      changes = changesIn(json.text, properties);
      setIsSame(changes === "{}");
      if (changes === "{}") return;
    }
    const body = new Blob([`{"data":{"version":${version},"properties":${changes}}}`]);
    await send("put", "/api" + path, { body, headers: { "Content-Type": "application/json" } });
    onDone();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      {asJson ? (
        <JsonField
          label="Properties as JSON"
          json={json}
          rows={18}
          failure={save.error}
          within="properties"
          hint="What is left out here is removed from the draft."
        />
      ) : (
        <div class="filters">
          <TextField
            label="Property"
            value={key}
            onValue={setKey}
            required
            maxLength={255}
            autofocus
            hint="Its key, for example legalEntityName."
          />
          <TextField
            label="Value"
            value={value}
            onValue={setValue}
            maxLength={10_000}
            hint="Empty removes the property."
            spellcheck
          />
        </div>
      )}
      {isSame && <Notice>Nothing is changed yet.</Notice>}
      {save.error && !(asJson && hasPlaces(save.error)) && (
        <ErrorNotice error={save.error}>
          {save.error.status === 409 && <p>Copy what you have written, close this and edit the draft as it is now.</p>}
        </ErrorNotice>
      )}
      <div class="buttons">
        <button
          type="button"
          class="link"
          onClick={() => {
            save.clear();
            setAsJson(!asJson);
          }}
        >
          {asJson ? "Change one property by a form" : "Edit all properties as JSON"}
        </button>
        <button type="button" onClick={onClose}>
          Go back
        </button>
        <button type="submit" class="primary" disabled={save.running}>
          Save the draft
        </button>
      </div>
      {!asJson && key !== "" && <Commands curl={curl("PUT", path, { data: { version, properties: single } })} />}
    </form>
  );
}

/**
 * changesIn returns, as JSON, the members of a text that differ from the properties, as they are written there, and
 * null for what is missing.
 */
function changesIn(text: string, properties: Draft["properties"]): string {
  const root = parseJson(text);
  if (root.kind !== "object") return text;
  const changes: string[] = [];
  for (const { key, value } of root.members) {
    const written = text.slice(value.start, value.end);
    const isSame =
      Object.hasOwn(properties, key) && JSON.stringify(JSON.parse(written)) === JSON.stringify(properties[key]);
    if (!isSame) changes.push(`${JSON.stringify(key)}:${written}`);
  }
  const kept = new Set(root.members.map((m) => m.key));
  for (const key of Object.keys(properties)) {
    if (!kept.has(key)) changes.push(`${JSON.stringify(key)}:null`);
  }
  return `{${changes.join(",")}}`;
}
