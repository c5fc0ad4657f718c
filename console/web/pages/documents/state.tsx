// The statuses of documents in words and colours.

import type { Schemas } from "../../kit/api.ts";
import { Badge, type Kind } from "../../kit/status.tsx";

export type Document = Schemas["Document"];
type Status = Schemas["DocumentStatus"];

const statuses: Record<Status, { kind: Kind; text: string; means: string }> = {
  Processing: { kind: "info", text: "Processing", means: "The file is not uploaded yet, or not scanned yet." },
  Completed: {
    kind: "ok",
    text: "Completed",
    means: "The file is clean and can be downloaded, or the document is an address.",
  },
  Error: {
    kind: "bad",
    text: "Error",
    means: "The file is of no accepted kind, is empty or too large, did not arrive or could not be scanned.",
  },
  Infected: { kind: "bad", text: "Infected", means: "The scan has refused the file. It cannot be downloaded." },
  Archived: { kind: "quiet", text: "Archived", means: "The document is put away." },
};

/** statusOptions are the choices of a filter by status. */
export const statusOptions: readonly (readonly [string, string])[] = [
  ["", "Any"],
  ...Object.entries(statuses).map(([status, { text }]) => [status, text] as const),
];

/** describeDocumentStatus returns the word for a status and what it means. */
export function describeDocumentStatus(status: Status): { kind: Kind; text: string; means: string } {
  return statuses[status] ?? { kind: "quiet", text: status, means: "" };
}

/** DocumentBadge shows the status of a document; its title says what it means. */
export function DocumentBadge({ status }: { status: Status }) {
  const { kind, text, means } = describeDocumentStatus(status);
  return (
    <Badge kind={kind} title={means}>
      {text}
    </Badge>
  );
}
