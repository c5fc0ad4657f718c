// What can be done with a document: archive it, take it back, clone it, delete it.

import { useState } from "preact/hooks";
import { addressOf, post, put, request, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Confirm, Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice, Notice } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { useAction } from "../../kit/resource.ts";
import { navigate, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import type { Document } from "./state.tsx";

const path = "/documentmanagementcommand/api/v2/documentmanagement/{id}";

/** DocumentActions are the buttons of a document. Commands find it by its type, too. */
export function DocumentActions({ document: d, onChange }: { document: Document; onChange: () => void }) {
  const [asked, setAsked] = useState<"" | "archive" | "clone" | "delete">("");
  const [said, setSaid] = useState("");
  const [reason, setReason] = useState("");
  const curl = useCurl();
  const documentEntityType = d.documentEntityType.name;
  const of = { path: { id: d.id }, query: { documentEntityType } };
  const done = (text: string) => {
    setAsked("");
    setSaid(text);
    onChange();
  };
  const archive = useAction(async () => {
    await post(`${path}/archive`, { ...of, body: { data: { archivalReason: reason.trim() } } });
    done("The document is archived.");
  });
  const unarchive = useAction(async () => {
    await post(`${path}/unarchive`, of);
    done("The document is back.");
  });
  const remove = useAction(async () => {
    await request("delete", path, of);
    navigate(`/documents?${new URLSearchParams({ entity: d.entityId })}`);
  });
  const address = (suffix: string) => addressOf(path + suffix, { id: d.id }, { documentEntityType });
  const isArchived = d.status === "Archived";
  return (
    <section class="stack" aria-label="Actions">
      <div class="buttons">
        {isArchived ? (
          <button type="button" onClick={() => void unarchive.run()} disabled={unarchive.running}>
            Unarchive
          </button>
        ) : (
          <button type="button" onClick={() => setAsked("archive")}>
            Archive
          </button>
        )}
        <button type="button" onClick={() => setAsked("clone")}>
          Clone
        </button>
        <button type="button" class="danger" onClick={() => setAsked("delete")}>
          Delete the document
        </button>
      </div>
      {said && <Notice kind="ok">{said}</Notice>}
      {unarchive.error && <ErrorNotice error={unarchive.error} />}
      <Commands
        curl={[
          isArchived
            ? curl("POST", address("/unarchive"))
            : curl("POST", address("/archive"), { data: { archivalReason: "Replaced" } }),
          curl("PUT", address("/clone"), { data: {} }),
          curl("DELETE", address("")),
        ].join("\n")}
      />
      <Dialog title="Archive the document" open={asked === "archive"} onClose={() => setAsked("")}>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void archive.run();
          }}
        >
          <TextField
            label="Reason"
            value={reason}
            onValue={setReason}
            required
            maxLength={10_000}
            autofocus
            spellcheck
            hint="The file can still be downloaded."
          />
          {archive.error && <ErrorNotice error={archive.error} />}
          <div class="buttons">
            <button type="button" onClick={() => setAsked("")}>
              Go back
            </button>
            <button type="submit" class="primary" disabled={archive.running || reason.trim() === ""}>
              Archive the document
            </button>
          </div>
        </form>
      </Dialog>
      <Dialog title="Clone the document" open={asked === "clone"} onClose={() => setAsked("")}>
        {asked === "clone" && <CloneForm document={d} onClose={() => setAsked("")} />}
      </Dialog>
      <Confirm
        title="Delete the document?"
        open={asked === "delete"}
        action="Delete the document"
        running={remove.running}
        error={remove.error}
        onConfirm={() => void remove.run()}
        onClose={() => setAsked("")}
      >
        <p>
          <bdi>{visible(d.fileName ?? d.id)}</bdi> is deleted for good. Its file goes with the last document that shares
          it, and its links stop working.
        </p>
      </Confirm>
    </section>
  );
}

function CloneForm({ document: d, onClose }: { document: Document; onClose: () => void }) {
  const [entityId, setEntityId] = useState(d.entityId);
  const [journeyId, setJourneyId] = useState(d.journeyId);
  const data: Schemas["CloneDocument"] = {
    ...(entityId.trim() !== d.entityId && { EntityId: entityId.trim() }),
    ...(journeyId.trim() !== d.journeyId && { JourneyId: journeyId.trim() }),
  };
  const of = { path: { id: d.id }, query: { documentEntityType: d.documentEntityType.name } };
  const clone = useAction(async () => {
    const answer = await put(`${path}/clone`, { ...of, body: { data } });
    navigate(pathTo("documents", answer.data.Id));
  });
  const curl = useCurl();
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void clone.run();
      }}
    >
      <p>The copy has an ID of its own and shares the file.</p>
      <TextField label="ID of the entity" value={entityId} onValue={setEntityId} required maxLength={255} autofocus />
      <TextField label="ID of the journey" value={journeyId} onValue={setJourneyId} maxLength={255} />
      {clone.error && <ErrorNotice error={clone.error} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Go back
        </button>
        <button type="submit" class="primary" disabled={clone.running}>
          Clone the document
        </button>
      </div>
      <Commands curl={curl("PUT", addressOf(`${path}/clone`, of.path, of.query), { data })} />
    </form>
  );
}
