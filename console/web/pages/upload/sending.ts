// Sending dropped files to the command, while other pages of the console may be shown.

import { ApiError, send } from "../../kit/api.ts";
import { formatBytes, formatCount } from "../../kit/format.tsx";
import { makeTransfers } from "../../kit/transfers.ts";
import { path, remove, type FileList } from "./files.ts";

/** Sending is a dropped file that the command does not have completely. */
export interface Sending {
  /** key names the file in the command's list while it is received. */
  key: string;
  name: string;
  size: number;
  state: "waiting" | "sending" | "refused";
  error?: ApiError;
}

interface Entry extends Sending {
  file: File;
  ended: AbortController;
}

/** atATime is how many files are sent at a time. */
const atATime = 2;

const transfers = makeTransfers<Entry>((entry) => entry.state !== "refused");
const { list, change, update } = transfers;

/** useSending returns the files that are sent, and renders again when they change. */
export const useSending: () => readonly Sending[] = transfers.use;

/** NamedFile is a file with its path in the dropped folder. */
export interface NamedFile {
  name: string;
  file: File;
}

/** sendFiles sends files to the command, some at a time, and returns their keys. */
export function sendFiles(files: readonly NamedFile[]): string[] {
  const added = files.map(({ name, file }): Entry => ({
    key: crypto.randomUUID(),
    name,
    size: file.size,
    state: "waiting",
    file,
    ended: new AbortController(),
  }));
  change([...list(), ...added]);
  sendNext();
  return added.map(({ key }) => key);
}

/** dismiss ends the sending of a file, and forgets one that was refused. */
export function dismiss(key: string): void {
  list()
    .find((e) => e.key === key)
    ?.ended.abort();
  change(list().filter((e) => e.key !== key));
  sendNext();
}

function sendNext(): void {
  const running = list().filter((e) => e.state === "sending").length;
  for (const entry of list()
    .filter((e) => e.state === "waiting")
    .slice(0, atATime - running))
    void sendOne(entry);
}

async function sendOne(entry: Entry): Promise<void> {
  update(entry.key, { state: "sending" });
  try {
    // A browser that is refused in the middle of a file does not show the answer, so the limits are asked for before.
    const refusal = refusalOf(await readList(entry.ended.signal), entry.size);
    if (refusal) throw refusal;
    const query = new URLSearchParams({ name: entry.name, key: entry.key });
    await send("post", `${path}?${query}`, { body: entry.file, signal: entry.ended.signal });
    change(list().filter((e) => e.key !== entry.key));
  } catch (cause) {
    if (!entry.ended.signal.aborted) await fail(entry, cause);
  }
  sendNext();
}

async function readList(signal?: AbortSignal): Promise<FileList> {
  return (await send("get", path, signal ? { signal } : {})) as FileList;
}

/** fail records why a file was not received, unless the command has recorded it. */
async function fail(entry: Entry, cause: unknown): Promise<void> {
  const error = await explain(cause, entry.file);
  const record = await readList().then(
    ({ files }) => files.find(({ key }) => key === entry.key),
    () => undefined,
  );
  if (record?.problem && record.problem.code !== "interrupted") {
    change(list().filter((e) => e.key !== entry.key));
    return;
  }
  if (record) await remove(record.id).catch(() => undefined);
  update(entry.key, { state: "refused", error });
}

/** refusalOf returns why the command would refuse a file. */
function refusalOf({ files, limits, held }: FileList, size: number): ApiError | undefined {
  const refuse = (title: string, detail: string) => new ApiError(0, title, [detail], "", 0, undefined);
  if (size > limits.file_bytes) {
    return refuse(
      "The file is too large.",
      `A batch has ${formatBytes(limits.file_bytes)} at most, packed and unpacked. ` +
        "Split it by lines: split --line-bytes=2GB FILE part-",
    );
  }
  if (files.length >= limits.files) {
    return refuse(
      "The console holds too many files.",
      `It holds ${formatCount(limits.files)} at most. Remove some that you no longer need.`,
    );
  }
  if (held + size > limits.bytes) {
    return refuse(
      "The console holds too many bytes.",
      `It holds ${formatBytes(limits.bytes)} at most. Remove files that you no longer need, then drop this one again.`,
    );
  }
  return undefined;
}

/**
 * explain returns why a file was not received: a file that has changed or vanished fails as a broken connection does.
 */
async function explain(cause: unknown, file: File): Promise<ApiError> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    return new ApiError(
      0,
      "The browser cannot read the file any more.",
      ["It was changed, moved or removed since it was dropped. Drop it again when nothing writes to it."],
      "",
      0,
      cause,
    );
  }
  return cause instanceof ApiError
    ? cause
    : new ApiError(0, "The file was not received.", [String(cause)], "", 0, cause);
}
