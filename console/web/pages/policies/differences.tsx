// How two versions of a policy differ, field by field.

import { Empty, Loaded, Notice } from "../../kit/feedback.tsx";
import { counted } from "../../kit/format.tsx";
import { useResource } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Badge } from "../../kit/status.tsx";
import { loadFields, type PolicyField } from "./load.ts";

/** Change is what became of one field between two versions. */
interface Change {
  key: string;
  kind: "added" | "deleted" | "changed";
  field: PolicyField;
  /** members are those that differ, as JSON before and after. */
  members: { name: string; before: string; after: string }[];
}

/** bookkeeping are members that every version has of its own; they say nothing of the field. */
const bookkeeping = new Set(["fieldVersion", "versionNumber", "changeType", "lockDetails", "entityPolicyId"]);

/** compareFields returns what turns one list of fields into another, in the order of the latter. */
function compareFields(before: readonly PolicyField[], after: readonly PolicyField[]): Change[] {
  const old = new Map(before.map((field) => [field.fieldId, field]));
  const changes: Change[] = [];
  for (const field of after) {
    const was = old.get(field.fieldId);
    old.delete(field.fieldId);
    if (!was) {
      changes.push({ key: field.fieldId, kind: "added", field, members: [] });
      continue;
    }
    const members = compareMembers(was, field);
    if (members.length > 0) changes.push({ key: field.fieldId, kind: "changed", field, members });
  }
  for (const field of old.values()) changes.push({ key: field.fieldId, kind: "deleted", field, members: [] });
  return changes;
}

function compareMembers(before: PolicyField, after: PolicyField): Change["members"] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)].filter((name) => !bookkeeping.has(name)));
  return [...names]
    .map((name) => ({
      name,
      before: JSON.stringify((before as Record<string, unknown>)[name]) ?? "absent",
      after: JSON.stringify((after as Record<string, unknown>)[name]) ?? "absent",
    }))
    .filter((member) => member.before !== member.after);
}

const kinds = {
  added: { kind: "ok", text: "Added" },
  deleted: { kind: "bad", text: "Deleted" },
  changed: { kind: "warn", text: "Changed" },
} as const;

/** Differences shows what turns the version before into the version; before is 0 for nothing. */
export function Differences({ policyId, version, before }: { policyId: string; version: number; before: number }) {
  const both = useResource(`${policyId} ${before} ${version} both`, (signal) =>
    Promise.all([before ? loadFields(policyId, before, signal) : [], loadFields(policyId, version, signal)]),
  );
  return (
    <Loaded resource={both} lines={10}>
      {([old, now]) => {
        const changes = compareFields(old, now);
        if (changes.length === 0) return <Empty title="The fields of the two versions are the same." />;
        return (
          <section class="stack" aria-label="Differences">
            {before === 0 && <Notice>There is no version to compare with, so every field is an addition.</Notice>}
            <p role="status">
              {counted(changes.length, "field")} {changes.length === 1 ? "differs" : "differ"} between version{" "}
              {before || "none"} and version {version}.
            </p>
            {changes.map((change) => (
              <details key={change.key} class="panel" open={change.kind === "changed" && changes.length <= 20}>
                <summary>
                  <Badge kind={kinds[change.kind].kind}>{kinds[change.kind].text}</Badge> {visible(change.field.name)}{" "}
                  <span class="mono aside">{visible(change.field.dataKey)}</span>
                </summary>
                {change.members.length > 0 && (
                  <SmallTable
                    label={`Changes of ${visible(change.field.name)}`}
                    columns={memberColumns}
                    rows={change.members}
                    rowKey={({ name }) => name}
                  />
                )}
              </details>
            ))}
          </section>
        );
      }}
    </Loaded>
  );
}

const memberColumns: readonly SmallColumn<Change["members"][number]>[] = [
  { title: "What", mono: true, cell: ({ name }) => visible(name) },
  { title: "Before", mono: true, anywhere: true, cell: ({ before }) => visible(before) },
  { title: "After", mono: true, anywhere: true, cell: ({ after }) => visible(after) },
];
