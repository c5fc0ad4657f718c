// What a person has chosen for an upload, as fields, as a request and as a command line.

import { fileWord, shellQuote } from "../../kit/commands.tsx";
import type { OnDuplicate, UploadOptions } from "./files.ts";

/** Draft is what the fields of the form hold. */
export interface Draft {
  /** invalid is what becomes of invalid lines: they reject the batch, are dropped, or are dropped up to a limit. */
  invalid: "reject" | "drop" | "limit";
  limit: string;
  dryRun: boolean;
  onDuplicate: OnDuplicate;
  name: string;
  metadata: { key: string; value: string }[];
  screen: boolean;
  lists: string;
  threshold: string;
  rejectHits: boolean;
}

/** emptyDraft has the service's own defaults. */
export const emptyDraft: Draft = {
  invalid: "reject",
  limit: "",
  dryRun: false,
  onDuplicate: "accept",
  name: "",
  metadata: [],
  screen: false,
  lists: "",
  threshold: "80",
  rejectHits: false,
};

/** Faults are what is wrong with a draft, by field. */
type Faults = Partial<Record<"limit" | "name" | "metadata" | "threshold", string>>;

/** checkDraft returns what the service would refuse. */
export function checkDraft(draft: Draft): Faults {
  const faults: Faults = {};
  if (draft.invalid === "limit" && !/^(\d{1,15}|(\d{1,2}(\.\d{1,6})?|100)%)$/.test(draft.limit.trim())) {
    faults.limit = "Give a number of lines, such as 100, or a share, such as 0.5%.";
  }
  if (Array.from(draft.name).length > 128) faults.name = "A name has 128 characters at most.";
  const keys = draft.metadata.map(({ key }) => key);
  if (draft.metadata.length > 16) faults.metadata = "There can be 16 at most.";
  else if (keys.some((key) => !/^[A-Za-z0-9_.-]{1,64}$/.test(key)))
    faults.metadata = "A key has 1 to 64 letters, digits, underscores, dots and hyphens.";
  else if (new Set(keys).size < keys.length) faults.metadata = "Each key can be given once.";
  else if (draft.metadata.some(({ value }) => Array.from(value).length > 512))
    faults.metadata = "A value has 512 characters at most.";
  const threshold = Number(draft.threshold);
  if (draft.screen && (draft.threshold.trim() === "" || !(threshold >= 0 && threshold <= 100)))
    faults.threshold = "A score is 0 to 100.";
  return faults;
}

/** toOptions returns what the service is asked for. What has its default is left out. */
export function toOptions(draft: Draft): UploadOptions {
  const options: UploadOptions = {};
  const limit = draft.limit.trim();
  if (draft.invalid === "drop") options.reject_on_invalid = false;
  if (draft.invalid === "limit") options.max_rejected = limit.endsWith("%") ? limit : Number(limit);
  if (draft.dryRun) options.validate_only = true;
  if (draft.onDuplicate !== "accept") options.on_duplicate = draft.onDuplicate;
  if (draft.name) options.name = draft.name;
  if (draft.metadata.length > 0)
    options.metadata = Object.fromEntries(draft.metadata.map(({ key, value }) => [key, value]));
  if (draft.screen) {
    const lists = listsOf(draft);
    options.screen_unknown = {
      threshold: Number(draft.threshold),
      on_hit: draft.rejectHits ? "reject" : "report",
      ...(lists.length > 0 && { lists }),
    };
  }
  return options;
}

function listsOf(draft: Draft): string[] {
  return draft.lists
    .split(",")
    .map((list) => list.trim())
    .filter(Boolean);
}

/** toCommand returns the command line that uploads a file in the same way. */
export function toCommand(file: string, draft: Draft): string {
  const words = ["sluice upload", fileWord(file)];
  if (draft.invalid === "drop") words.push("--reject-on-invalid=false");
  if (draft.invalid === "limit") words.push("--max-rejected", shellQuote(draft.limit.trim()));
  if (draft.dryRun) words.push("--validate-only");
  if (draft.onDuplicate !== "accept") words.push("--on-duplicate", draft.onDuplicate);
  if (draft.name) words.push("--name", shellQuote(draft.name));
  for (const { key, value } of draft.metadata) words.push("--metadata", shellQuote(`${key}=${value}`));
  if (draft.screen) {
    words.push("--screen", shellQuote(listsOf(draft).join(",") || "all"));
    if (Number(draft.threshold) !== 80) words.push("--threshold", shellQuote(draft.threshold));
    if (draft.rejectHits) words.push("--on-hit", "reject");
  }
  return words.join(" ");
}
