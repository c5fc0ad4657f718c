// The fields of one version of a policy.

import { Empty, Loaded } from "../../kit/feedback.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SearchField } from "../../kit/fields.tsx";
import { counted } from "../../kit/format.tsx";
import { useResource } from "../../kit/resource.ts";
import { useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
import { ConditionTree } from "./conditions.tsx";
import { loadFields, type PolicyField } from "./load.ts";

const columns: readonly Column<PolicyField>[] = [
  {
    key: "name",
    title: "Field",
    width: "minmax(10rem, 2fr)",
    cell: (f) => <span title={visible(f.name)}>{visible(f.name)}</span>,
  },
  {
    key: "key",
    title: "Data key",
    width: "minmax(8rem, 2fr)",
    cell: (f) => (
      <span class="mono" title={visible(f.dataKey)}>
        {visible(f.dataKey)}
      </span>
    ),
  },
  { key: "type", title: "Type", width: "7rem", narrow: false, cell: (f) => visible(f.fieldType) },
  {
    key: "categories",
    title: "Categories",
    width: "minmax(7rem, 1fr)",
    narrow: false,
    cell: (f) => (f.categories ?? []).map(visible).join(", "),
  },
  { key: "mandatory", title: "Required", width: "7rem", narrow: false, cell: (f) => f.mandatoryType },
  { key: "conditions", title: "Conditions", width: "6rem", align: "end", cell: (f) => f.conditions?.length || "none" },
];

/** FieldTable lists fields; a row opens all that the policy says of one. */
export function FieldTable({ policyId, version }: { policyId: string; version: number }) {
  const [{ q, field }, setQuery] = useQuery({ q: "", field: "" });
  const fields = useResource(`${policyId} ${version} fields`, (signal) => loadFields(policyId, version, signal));
  return (
    <section class="stack" aria-label="Fields">
      <SearchField label="Find a field" value={q} onValue={(value) => setQuery({ q: value })} />
      <Loaded resource={fields} lines={10}>
        {(all) => {
          const text = q.trim().toLowerCase();
          const rows = all.filter((f) =>
            [f.name, f.dataKey, ...(f.categories ?? [])].some((t) => t.toLowerCase().includes(text)),
          );
          const opened = all.find((f) => f.fieldId === field);
          return (
            <>
              <p class="aside" role="status">
                {rows.length === all.length
                  ? counted(all.length, "field")
                  : `${rows.length} of ${counted(all.length, "field")}`}
              </p>
              {rows.length === 0 ? (
                <Empty title="No field matches." />
              ) : (
                <Table
                  label="Fields"
                  columns={columns}
                  rows={rows}
                  rowKey={(f) => f.fieldId}
                  open={(f) => setQuery({ field: f.fieldId }, { push: true })}
                />
              )}
              <Dialog
                title={opened ? visible(opened.name) : "Field"}
                open={opened !== undefined}
                onClose={() => setQuery({ field: "" }, { push: true })}
                wide
              >
                {opened && <FieldDetails field={opened} />}
              </Dialog>
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

function FieldDetails({ field }: { field: PolicyField }) {
  const { conditions, ...rest } = field;
  return (
    <div class="stack">
      {conditions && conditions.length > 0 && (
        <>
          <h3>It is shown if {conditions.length === 1 ? "this condition is met" : "one of these conditions is met"}</h3>
          {conditions.map((condition) => (
            <ConditionTree key={condition.id} condition={condition} />
          ))}
        </>
      )}
      <h3>All that the policy says of it</h3>
      <pre class="excerpt" tabIndex={0} aria-label="Field as JSON">
        {JSON.stringify(rest, null, 2)}
      </pre>
    </div>
  );
}
