// The form by which documents are uploaded. Names, kinds and sizes are checked before anything is sent.

import { useRef, useState } from "preact/hooks";
import { ApiError, get } from "../../kit/api.ts";
import { Commands, shellQuote, storeLines, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice, Live } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { counted, formatBytes } from "../../kit/format.tsx";
import { Sending } from "../../kit/meter.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Badge } from "../../kit/status.tsx";
import { DocumentBadge } from "./state.tsx";
import { clearUploads, type Description, type DocumentUpload, uploadFiles, useUploads } from "./uploads.ts";

const query = "/documentmanagementquery/api/documentmanagement";
const command = "/documentmanagementcommand/api/v2/documentmanagement";

/** maxFileBytes is the size of the largest file that the console takes. */
const maxFileBytes = 2 ** 31 - 1;

/** Kinds are what files the service accepts. */
interface Kinds {
  extensions: readonly string[];
  mimeTypes: readonly string[];
}

/**
 * UploadForm takes files for an entity and shows what becomes of them. onUploaded is called when a document is created.
 */
export function UploadForm({ entityId, journeyId }: { entityId: string; journeyId: string }) {
  const [given, setGiven] = useState({ entityId, journeyId, documentType: "" });
  const [refused, setRefused] = useState<readonly { name: string; why: string }[]>([]);
  const input = useRef<HTMLInputElement>(null);
  const kinds = useResource("kinds of files", async (signal): Promise<Kinds> => {
    const [extensions, mimeTypes] = await Promise.all([
      get(`${query}/supportedFileExtensions`, { signal }),
      get(`${query}/mimeTypesAllowed`, { signal }),
    ]);
    return { extensions: extensions.data, mimeTypes: mimeTypes.data };
  });
  const description: Description = {
    entityId: given.entityId.trim(),
    ...(given.journeyId.trim() && { journeyId: given.journeyId.trim() }),
    ...(given.documentType.trim() && { documentType: given.documentType.trim() }),
  };
  const take = (files: readonly File[]) => {
    const judged = files.map((file) => ({
      file,
      why: description.entityId === "" ? "The entity is missing: enter its ID first." : refusalOf(file, kinds.value),
    }));
    setRefused(judged.flatMap(({ file, why }) => (why ? [{ name: file.name, why }] : [])));
    const good = judged.filter(({ why }) => !why).map(({ file }) => file);
    if (good.length > 0) uploadFiles(good, description);
  };
  const curl = useCurl();
  const [over, setOver] = useState(false);
  return (
    <section class="panel" aria-labelledby="upload">
      <h2 id="upload">Upload documents</h2>
      <div class="filters">
        <TextField
          label="ID of the entity"
          value={given.entityId}
          onValue={(value) => setGiven({ ...given, entityId: value })}
          required
          maxLength={255}
        />
        <TextField
          label="ID of the journey"
          placeholder="Optional"
          value={given.journeyId}
          onValue={(value) => setGiven({ ...given, journeyId: value })}
          maxLength={255}
        />
        <TextField
          label="Type of document"
          placeholder="Optional"
          value={given.documentType}
          onValue={(value) => setGiven({ ...given, documentType: value })}
          maxLength={255}
          spellcheck
        />
      </div>
      <div
        class={over ? "document-drop is-over" : "document-drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          take([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <p>
          Drop files here, or{" "}
          <button type="button" class="link" onClick={() => input.current?.click()}>
            choose files
          </button>
          .
        </p>
        <p class="hint">{kinds.value && `Accepted: ${kinds.value.extensions.join(" ")}`}</p>
        <input
          ref={input}
          type="file"
          multiple
          class="visually-hidden"
          tabIndex={-1}
          aria-label="Files"
          accept={kinds.value && [...kinds.value.extensions, ...kinds.value.mimeTypes].join(",")}
          onChange={(event) => {
            take([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
      </div>
      {kinds.error && <ErrorNotice error={kinds.error} retry={kinds.reload} />}
      {refused.length > 0 && <Refused refused={refused} />}
      <Uploads />
      <Commands
        cli={cliOf(description)}
        curl={storeLines(
          curl("POST", command, {
            data: { fileName: "bill.pdf", ...description, entityId: description.entityId || "ENTITY" },
          }),
          "signedUrlToUpload",
          "bill.pdf",
        )}
      />
    </section>
  );
}

/** refusalOf says why a file is not sent; undefined if nothing speaks against it. */
function refusalOf(file: File, kinds: Kinds | undefined): string | undefined {
  const dot = file.name.lastIndexOf(".");
  const extension = dot < 0 ? "" : file.name.slice(dot).toLowerCase();
  if (file.size === 0) return "The file is empty.";
  if (file.size > maxFileBytes) return `The file has ${formatBytes(file.size)}; the console uploads 2.1 GB at most.`;
  if (file.name.length > 255) return "The name has more than 255 characters.";
  if (/[/\\\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]|[. ]$/.test(file.name))
    return (
      "The name has a slash, a control character or a mark of direction, or ends with a dot or space. " +
      "Rename the file."
    );
  if (kinds && extension && !kinds.extensions.includes(extension))
    return `Files that end in ${visible(extension)} are not accepted.`;
  return undefined;
}

function Refused({ refused }: { refused: readonly { name: string; why: string }[] }) {
  const error = new ApiError(
    0,
    refused.length === 1 ? "A file was not sent." : `${counted(refused.length, "file")} were not sent.`,
    refused.map(({ name, why }) => `${visible(name)}: ${why}`),
    "",
    0,
    undefined,
  );
  return <ErrorNotice error={error} />;
}

const uploadColumns: readonly SmallColumn<DocumentUpload>[] = [
  {
    title: "File",
    anywhere: true,
    cell: ({ id, name }) =>
      id ? (
        <Link to={pathTo("documents", id)}>
          <bdi>{visible(name)}</bdi>
        </Link>
      ) : (
        <bdi>{visible(name)}</bdi>
      ),
  },
  { title: "Size", align: "end", cell: ({ size }) => formatBytes(size) },
  { title: "State", cell: (upload) => <State upload={upload} /> },
];

function Uploads() {
  const uploads = useUploads();
  if (uploads.length === 0) return null;
  const over = uploads.filter((u) => u.state === "done" || u.state === "refused");
  return (
    <div class="stack">
      <Live text={over.length < uploads.length ? "" : `${counted(over.length, "upload")} finished`} />
      <SmallTable label="Uploads of documents" columns={uploadColumns} rows={uploads} rowKey={({ key }) => key} />
      {over.length > 0 && (
        <div class="buttons">
          <button type="button" onClick={clearUploads}>
            Clear what is finished
          </button>
        </div>
      )}
    </div>
  );
}

function State({ upload }: { upload: DocumentUpload }) {
  const { state, size, sent, status, reason, error, warnings } = upload;
  return (
    <>
      {state === "waiting" && <Badge kind="quiet">Waiting</Badge>}
      {state === "sending" && <Sending what={visible(upload.name)} sent={sent} size={size} />}
      {state === "scanning" && <Badge kind="info">Being scanned</Badge>}
      {state === "done" && status && <DocumentBadge status={status} />}
      {reason && <p class="anywhere">{visible(reason)}</p>}
      {warnings.map((text) => (
        <p key={text} class="anywhere">
          {visible(text)}
        </p>
      ))}
      {state === "refused" && error && <ErrorNotice error={error} />}
    </>
  );
}

/** cliOf returns the command that uploads a document with a description. */
function cliOf({ entityId, documentType, journeyId }: Description): string {
  const words = ["sluice document upload bill.pdf --entity", shellQuote(entityId || "ENTITY")];
  if (documentType) words.push("--type", shellQuote(documentType));
  if (journeyId) words.push("--journey", shellQuote(journeyId));
  return words.join(" ");
}
