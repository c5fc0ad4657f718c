// Uploads of documents: they go on while other pages of the console are shown, and their scan is followed to its end.

import { ApiError, get, post, request, type Schemas, sendFile } from "../../kit/api.ts";
import { makeTransfers } from "../../kit/transfers.ts";

/** DocumentUpload is a file on its way to being a document. */
export interface DocumentUpload {
  key: string;
  name: string;
  size: number;
  /** sent is how many bytes have gone to the storage, by way of the command. */
  sent: number;
  entityId: string;
  state: "waiting" | "sending" | "scanning" | "done" | "refused";
  /** id is that of the document, once there is one. */
  id?: string;
  /** warnings are what the service has remarked. */
  warnings: readonly string[];
  status?: Schemas["DocumentStatus"];
  /** reason is why the status is Error or Infected. */
  reason?: string;
  error?: ApiError;
}

interface Entry extends DocumentUpload {
  file: File;
  description: Description;
}

/** Description is what a document is created with beside its file. */
export interface Description {
  entityId: string;
  journeyId?: string;
  documentType?: string;
}

const createPath = "/documentmanagementcommand/api/v2/documentmanagement";
const removePath = "/documentmanagementcommand/api/v2/documentmanagement/{id}";
const readPath = "/documentmanagementquery/api/documentmanagement/{id}";
/** followEvery is the number of milliseconds between two looks at a scan. */
const followEvery = 1000;

const transfers = makeTransfers<Entry>((entry) => entry.state === "waiting" || entry.state === "sending");
const { list, change, update } = transfers;

/** useUploads returns the uploads and renders again when they change. */
export const useUploads: () => readonly DocumentUpload[] = transfers.use;

/** uploadFiles creates a document of each file, one after another. */
export function uploadFiles(files: readonly File[], description: Description): void {
  const added = files.map((file): Entry => ({
    key: crypto.randomUUID(),
    name: file.name,
    size: file.size,
    sent: 0,
    entityId: description.entityId,
    state: "waiting",
    warnings: [],
    file,
    description,
  }));
  change([...added, ...list()]);
  void sendNext();
}

/** clearUploads forgets the uploads that have come to their end. */
export function clearUploads(): void {
  change(list().filter((e) => e.state !== "done" && e.state !== "refused"));
}

async function sendNext(): Promise<void> {
  const next = list().findLast((e) => e.state === "waiting");
  if (!next || list().some((e) => e.state === "sending")) return;
  update(next.key, { state: "sending" });
  try {
    const answer = await post(createPath, {
      body: { data: { fileName: next.name, contentLength: next.size, ...next.description } },
    });
    await store(answer.data, next.file, (sent) => update(next.key, { sent }));
    update(next.key, { state: "scanning", id: answer.data.id, warnings: answer.messages.map((m) => m.message) });
    void follow(next.key, answer.data.id);
  } catch (cause) {
    const error =
      cause instanceof ApiError ? cause : new ApiError(0, "The file was not uploaded.", [String(cause)], "", 0, cause);
    update(next.key, { state: "refused", error });
  }
  void sendNext();
}

/**
 * store sends a file to its signed address, by way of the command. If that fails, the document is deleted again, as far
 * as the client may.
 */
async function store(
  { id, signedUrlToUpload }: Schemas["DocumentUpload"],
  file: File,
  onSent: (bytes: number) => void,
): Promise<void> {
  try {
    await sendFile("/console/storage", file, { "Sluice-Signed-Url": signedUrlToUpload }, onSent);
  } catch (cause) {
    await request("delete", removePath, { path: { id } }).catch(() => undefined);
    throw cause;
  }
}

/** follow looks at a document until its scan is over. While the service does not answer, it goes on. */
async function follow(key: string, id: string): Promise<void> {
  for (
    let pause = followEvery;
    list().some((e) => e.key === key);
    await new Promise((done) => setTimeout(done, pause))
  ) {
    try {
      const { data } = await get(readPath, { path: { id } });
      pause = followEvery;
      if (data.status === "Processing") continue;
      const reason = [data.errorCode, data.errorMessage, data.explanation].filter(Boolean).join(": ");
      return update(key, { state: "done", status: data.status, ...(reason && { reason }) });
    } catch (cause) {
      if (cause instanceof ApiError && cause.status === 404)
        return update(key, { state: "done", reason: "The document was deleted." });
      pause = Math.min(pause * 2, 30_000);
    }
  }
}
