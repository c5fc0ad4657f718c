// The files that the command holds, and what can be asked of it about them.

import { send } from "../../kit/api.ts";
import { useResource, type Resource } from "../../kit/resource.ts";
import type { BatchState } from "../../kit/status.tsx";

/** FileState is what the command is doing with a file. */
type FileState = "receiving" | "checking" | "checked" | "uploading" | "paused" | "following" | "done" | "failed";

/** FileProblem is what is wrong with a file or its upload, in the words of the command. */
export interface FileProblem {
  code: string;
  title: string;
  detail?: string;
  hint?: string;
  command?: string;
  /** request_id is that of the service's answer. */
  request_id?: string;
}

/** CodeCount is how often an error occurs in a file. */
export interface CodeCount {
  code: string;
  count: number;
  first_lines: number[];
  reason?: string;
  hint?: string;
}

/** FileCheck is the check of a file; what it has found is there at its end only. */
export interface FileCheck {
  waiting: boolean;
  progress: number;
  read: number;
  lines_read: number;
  unpacked: number;
  total: number | null;
  running: number;
  lines?: number;
  valid?: number;
  invalid?: number;
  errors?: number;
  codes?: CodeCount[];
  report_complete?: boolean;
  packed?: "identity" | "gzip" | "zstd";
  bytes?: number;
  seconds?: number;
  bytes_per_second?: number;
  suspicions?: FileProblem[];
}

/** OnDuplicate is what becomes of a file that another batch has, too. */
export type OnDuplicate = "accept" | "reject" | "reject_open";

/** UploadOptions are what the service is asked for, with the names of the interface. */
export interface UploadOptions {
  reject_on_invalid?: boolean;
  max_rejected?: number | string;
  validate_only?: boolean;
  on_duplicate?: OnDuplicate;
  name?: string;
  metadata?: Record<string, string>;
  screen_unknown?: { lists?: string[]; threshold?: number; on_hit?: "report" | "reject" };
}

/** Counts are numbers of transactions; null while they are not known. */
export interface Counts {
  total: number | null;
  accepted: number | null;
  invalid: number | null;
  ingested: number | null;
}

/** FileUpload is the upload of a file and what has become of its batch. */
export interface FileUpload {
  options: UploadOptions;
  batch_id?: string;
  waiting: boolean;
  sent: number;
  total: number;
  already_stored: number;
  bytes_per_second: number;
  seconds: number;
  in_parts: boolean;
  retry: { answered: boolean; reason: string; attempt: number; at: string } | null;
  uploaded: boolean;
  status: {
    status: BatchState | "";
    message?: string;
    error_message: string;
    counts: Counts;
    queue_position: number | null;
  } | null;
}

/** FileRecord is a file of the command. */
export interface FileRecord {
  id: string;
  key?: string;
  name: string;
  size: number | null;
  received: number;
  state: FileState;
  check: FileCheck | null;
  upload: FileUpload | null;
  problem: FileProblem | null;
}

/** FileList is everything that the command holds, and how much it may. */
export interface FileList {
  files: FileRecord[];
  limits: { files: number; bytes: number; file_bytes: number };
  held: number;
}

/** path is where the command has the files. */
export const path = "/console/files";

/** isBusy reports whether the command is doing something with a file, so that its record changes. */
export function isBusy(file: FileRecord): boolean {
  return (
    file.state === "receiving" || file.state === "checking" || file.state === "uploading" || file.state === "following"
  );
}

/** useFiles reads the files of the command again and again, quickly while something happens. */
export function useFiles(busy: boolean): Resource<FileList> {
  return useResource(path, async (signal) => (await send("get", path, { signal })) as FileList, {
    every: busy ? 400 : 4000,
  });
}

/** act asks for something about a file: upload, pause, resume or cancel. */
export async function act(
  id: string,
  what: "upload" | "pause" | "resume" | "cancel",
  body?: UploadOptions,
): Promise<void> {
  await send("post", `${path}/${id}/${what}`, body === undefined ? {} : { body });
}

/** remove removes a file from the command. */
export async function remove(id: string): Promise<void> {
  await send("delete", `${path}/${id}`);
}
