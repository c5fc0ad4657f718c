// Sending dropped files to the command. It goes on while other pages of the console are shown; only leaving the console
// ends it, of which the browser warns.

import { useEffect, useState } from "preact/hooks";
import { ApiError, send } from "../../kit/api.ts";
import { formatBytes } from "../../kit/format.tsx";
import { path } from "./files.ts";

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

let entries: readonly Entry[] = [];
const listeners = new Set<() => void>();
/** maxFileBytes is the limit that the command has told. */
let maxFileBytes = Infinity;

/** setMaxFileBytes tells how large a file may be, so that a larger one is not sent in vain. */
export function setMaxFileBytes(bytes: number): void {
  maxFileBytes = bytes;
}

function change(next: readonly Entry[]): void {
  entries = next;
  if (entries.some((e) => e.state !== "refused")) addEventListener("beforeunload", warn);
  else removeEventListener("beforeunload", warn);
  for (const tell of listeners) tell();
}

function update(key: string, some: Partial<Entry>): void {
  change(entries.map((e) => (e.key === key ? { ...e, ...some } : e)));
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** useSending returns the files that are sent, and renders again when they change. */
export function useSending(): readonly Sending[] {
  const [shown, setShown] = useState(entries);
  useEffect(() => {
    const tell = () => setShown(entries);
    tell();
    listeners.add(tell);
    return () => void listeners.delete(tell);
  }, []);
  return shown;
}

/** NamedFile is a file with its path in the dropped folder. */
export interface NamedFile {
  name: string;
  file: File;
}

/** sendFiles sends files to the command, some at a time, and returns their keys. */
export function sendFiles(files: readonly NamedFile[]): string[] {
  const added = files.map(({ name, file }): Entry => {
    const entry = { key: crypto.randomUUID(), name, size: file.size, file, ended: new AbortController() };
    if (file.size > maxFileBytes) return { ...entry, state: "refused", error: tooLarge(maxFileBytes) };
    return { ...entry, state: "waiting" };
  });
  change([...entries, ...added]);
  sendNext();
  return added.map(({ key }) => key);
}

/** dismiss ends the sending of a file, and forgets one that was refused. */
export function dismiss(key: string): void {
  entries.find((e) => e.key === key)?.ended.abort();
  change(entries.filter((e) => e.key !== key));
  sendNext();
}

function sendNext(): void {
  const running = entries.filter((e) => e.state === "sending").length;
  for (const entry of entries.filter((e) => e.state === "waiting").slice(0, atATime - running)) void sendOne(entry);
}

async function sendOne(entry: Entry): Promise<void> {
  update(entry.key, { state: "sending" });
  try {
    const query = new URLSearchParams({ name: entry.name, key: entry.key });
    await send("post", `${path}?${query}`, { body: entry.file, signal: entry.ended.signal });
    change(entries.filter((e) => e.key !== entry.key));
  } catch (cause) {
    if (!entry.ended.signal.aborted) update(entry.key, { state: "refused", error: await explain(cause, entry.file) });
  }
  sendNext();
}

/** explain returns why a file was not received: a file that has changed or vanished fails as a broken connection does. */
async function explain(cause: unknown, file: File): Promise<ApiError> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    return new ApiError(0, "The browser cannot read the file any more.",
      ["It was changed, moved or removed since it was dropped. Drop it again when nothing writes to it."], "", 0, cause);
  }
  return cause instanceof ApiError ? cause : new ApiError(0, "The file was not received.", [String(cause)], "", 0, cause);
}

function tooLarge(limit: number): ApiError {
  return new ApiError(0, "The file is too large.",
    [`A batch has ${formatBytes(limit)} at most, packed and unpacked. Split it by lines: split --line-bytes=2GB FILE part-`], "", 0, undefined);
}
