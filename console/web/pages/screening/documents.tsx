// The documents of an entity of a batch, or of one of its matches.

import { useEffect, useRef, useState } from "preact/hooks";
import { addressOf, ApiError, get, type Schemas, send, sendFile } from "../../kit/api.ts";
import { Commands, storeLines, useCurl } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { Empty, ErrorNotice, Loaded } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { Time } from "../../kit/format.tsx";
import { Sending } from "../../kit/meter.tsx";
import { useAction, useResource } from "../../kit/resource.ts";
import { safeHref, visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Badge, type Kind } from "../../kit/status.tsx";

type Document = Schemas["EntityDocument"];

/** Place is where documents belong: to an entity or, if there is a matchId, to a match. */
export interface Place {
  batchId: string;
  entityId: string;
  matchId?: string;
}

function pathOf(
  root: "/screeningcommand/api/v3" | "/screeningquery/api/v4",
  { batchId, entityId, matchId }: Place,
  rest = "",
): string {
  const parts = `${root}/batch/{batchId}/entity/{entityId}${matchId ? "/match/{matchId}" : ""}/documents${rest}`;
  return addressOf(parts, { batchId, entityId, matchId });
}

const kinds: Record<Document["status"], Kind> = {
  Processing: "info",
  Completed: "ok",
  Error: "bad",
  Infected: "bad",
  Archived: "quiet",
};

/** Documents lists documents; open is true if the batch is open, so that they can be changed. */
export function Documents({ place, open }: { place: Place; open: boolean }) {
  const path = pathOf("/screeningquery/api/v4", place);
  const [processing, setProcessing] = useState(false);
  const list = useResource(
    path,
    async (signal) => {
      const { data } = (await send("get", `/api${path}`, { signal })) as { data: Document[] };
      setProcessing(data.some((one) => one.status === "Processing"));
      return data;
    },
    { every: processing ? 1500 : 0 },
  );
  const section = useRef<HTMLElement>(null);
  const hasDeleted = useRef(false);
  useEffect(() => {
    if (hasDeleted.current) section.current?.focus(); // the button that had the focus went with its row
    hasDeleted.current = false;
  }, [list.value]);
  const curl = useCurl();
  const noun = place.matchId ? "match" : "entity";
  return (
    <section class="stack" aria-label={`Documents of the ${noun}`} ref={section} tabIndex={-1}>
      <Loaded resource={list} lines={4}>
        {(documents) =>
          documents.length === 0 ? (
            <Empty title="No document">
              <p>
                {open
                  ? `Add what the decision about this ${noun} rests on.`
                  : "The batch is not open any more, so none can be added."}
              </p>
            </Empty>
          ) : (
            <DocumentTable
              place={place}
              documents={documents}
              open={open}
              onDeleted={() => {
                hasDeleted.current = true;
                list.reload();
              }}
            />
          )
        }
      </Loaded>
      {open && <AddDocument place={place} onAdded={list.reload} />}
      <Commands curl={curl("GET", path)} does="list the documents" />
    </section>
  );
}

function DocumentTable({
  place,
  documents,
  open,
  onDeleted,
}: {
  place: Place;
  documents: readonly Document[];
  open: boolean;
  onDeleted: () => void;
}) {
  const [deleting, setDeleting] = useState<Document>();
  const remove = useAction(async () => {
    await send("delete", `/api${pathOf("/screeningcommand/api/v3", place, `/${deleting!.id}`)}`);
    setDeleting(undefined);
    onDeleted();
  });
  const curl = useCurl();
  const columns: readonly SmallColumn<Document>[] = [
    {
      title: "File",
      anywhere: true,
      cell: (one) => (
        <>
          <bdi>{visible(one.friendlyName || one.fileName)}</bdi>
          {one.reusedFromBatchId && <div class="aside">taken over from an earlier batch</div>}
        </>
      ),
    },
    { title: "Type", anywhere: true, cell: (one) => visible(one.documentType) },
    { title: "Status", cell: (one) => <Badge kind={kinds[one.status] ?? "quiet"}>{one.status}</Badge> },
    { title: "Added", cell: (one) => <Time at={one.createdAt} form="short" /> },
    {
      title: "Actions",
      cell: (one) => (
        <div class="buttons">
          <OpenDocument document={one} />
          {open && (
            <button
              type="button"
              class="link"
              aria-label={`Delete ${visible(one.friendlyName || one.fileName)}`}
              onClick={() => {
                remove.clear();
                setDeleting(one);
              }}
            >
              Delete
            </button>
          )}
        </div>
      ),
    },
  ];
  return (
    <>
      <SmallTable label="Documents" columns={columns} rows={documents} rowKey={(one) => one.id} />
      <Confirm
        title="Delete the document"
        open={deleting !== undefined}
        action="Delete it"
        running={remove.running}
        error={remove.error}
        onConfirm={() => void remove.run()}
        onClose={() => setDeleting(undefined)}
      >
        <p>
          Its file is deleted with the last document that shares it: <bdi>{visible(deleting?.fileName ?? "")}</bdi>.
        </p>
        {deleting && <Commands curl={curl("DELETE", pathOf("/screeningcommand/api/v3", place, `/${deleting.id}`))} />}
      </Confirm>
    </>
  );
}

/** OpenDocument leads to a link, or makes an address of the file, which the storage serves. */
function OpenDocument({ document: one }: { document: Document }) {
  const [address, setAddress] = useState<string>();
  const ask = useAction(async () => {
    const { data } = await get("/documentmanagementquery/api/documentmanagement/signedurl/{id}", {
      path: { id: one.externalDocumentId },
    });
    setAddress(safeHref(data));
  });
  const to = one.documentUrl ? safeHref(one.documentUrl) : address;
  if (to)
    return (
      <a href={to} target="_blank" rel="noreferrer noopener">
        {one.documentUrl ? "Open the link" : "Download"}
      </a>
    );
  if (one.documentUrl) return <span class="anywhere">{visible(one.documentUrl)}</span>;
  if (one.status !== "Completed") return null;
  return (
    <>
      <button type="button" class="link" disabled={ask.running} onClick={() => void ask.run()}>
        Make a download link
      </button>
      {ask.error && <ErrorNotice error={ask.error} />}
    </>
  );
}

/** AddDocument uploads a file by way of the command, or adds a link. */
function AddDocument({ place, onAdded }: { place: Place; onAdded: () => void }) {
  const [type, setType] = useState("evidence");
  const [link, setLink] = useState("");
  const [sending, setSending] = useState({ what: "", sent: 0, size: 0 });
  const upload = useAction(async (file: File) => {
    const sent = (bytes: number) => setSending({ what: visible(file.name), sent: bytes, size: file.size });
    if (file.size === 0) throw new ApiError(0, "The file is empty.", [], "", 0, undefined);
    sent(0);
    const body = { data: { fileName: file.name, contentLength: file.size, documentType: type } };
    const { data } = (await send("post", `/api${pathOf("/screeningcommand/api/v3", place, "/upload-url")}`, {
      body,
    })) as { data: Schemas["UploadedScreeningDocument"] };
    if (data.signedUrl) await sendFile("/console/storage", file, { "Sluice-Signed-Url": data.signedUrl }, sent);
    onAdded();
  });
  const linkBody = { data: { fileName: nameOf(link), documentType: type, documentUrl: link } };
  const add = useAction(async () => {
    await send("post", `/api${pathOf("/screeningcommand/api/v3", place, "/virtual")}`, { body: linkBody });
    setLink("");
    onAdded();
  });
  const curl = useCurl();
  const error = upload.error ?? add.error;
  return (
    <form
      class="stack"
      aria-label="Add a document"
      onSubmit={(event) => {
        event.preventDefault();
        void add.run();
      }}
    >
      <div class="filters">
        <TextField label="Type of the document" value={type} onValue={setType} required maxLength={255} />
        <div class="field">
          <label for="document-file">File</label>
          <input
            type="file"
            id="document-file"
            aria-label="File to upload"
            disabled={upload.running || type === ""}
            onChange={(event) => {
              const input = event.currentTarget;
              const file = input.files?.[0];
              if (file) void upload.run(file).then(() => (input.value = ""));
            }}
          />
        </div>
        <TextField label="Or a link" type="url" value={link} onValue={setLink} placeholder="https://" />
        <button type="submit" disabled={add.running || !link.startsWith("https://") || type === ""}>
          Add the link
        </button>
      </div>
      {upload.running && <Sending {...sending} />}
      {error && <ErrorNotice error={error} />}
      <Commands
        curl={storeLines(
          curl("POST", pathOf("/screeningcommand/api/v3", place, "/upload-url"), {
            data: { fileName: "bill.pdf", documentType: type },
          }),
          "signedUrl",
          "bill.pdf",
        )}
        does="upload a file"
      />
      {link && (
        <Commands
          curl={curl("POST", pathOf("/screeningcommand/api/v3", place, "/virtual"), linkBody)}
          does="add the link"
        />
      )}
    </form>
  );
}

/** nameOf makes a name of a file from the last part of an address. */
function nameOf(link: string): string {
  const href = safeHref(link);
  const last = href && new URL(href).pathname.split("/").findLast(Boolean);
  return last && /^[\w.-]+\.\w+$/.test(last) ? last.slice(-255) : "page.html";
}
