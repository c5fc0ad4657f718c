// What an evaluation says of each field, and the conditions that decided it.

import { useState } from "preact/hooks";
import type { Schemas } from "../../kit/api.ts";
import { Dialog } from "../../kit/dialog.tsx";
import { Notice } from "../../kit/feedback.tsx";
import { counted } from "../../kit/format.tsx";
import { visible } from "../../kit/safe.ts";
import { Badge } from "../../kit/status.tsx";
import { type Column, Table } from "../../kit/table.tsx";
import { ConditionTree } from "./conditions.tsx";
import type { PolicyField } from "./load.ts";

type Evaluated = Schemas["EvaluatedField"];

/** valueOf returns the value that the policy gives a field, and where it comes from. */
function valueOf(field: Evaluated): { value: string; from: string } | undefined {
  if (field.hasCalculatedValue) return { value: field.calculatedFieldResult ?? "", from: "calculated" };
  if (field.hasEvaluatedConditionalValue)
    return { value: field.evaluatedConditionalValue ?? "", from: "by a condition" };
  if (field.hasEvaluatedDefaultValue) return { value: field.defaultValue ?? "", from: "the default" };
  return undefined;
}

const columns: readonly Column<Evaluated>[] = [
  {
    key: "name",
    title: "Field",
    width: "minmax(9rem, 2fr)",
    cell: (f) => <span title={visible(f.name)}>{visible(f.name)}</span>,
  },
  { key: "category", title: "Category", width: "minmax(7rem, 1fr)", narrow: false, cell: (f) => visible(f.category) },
  { key: "state", title: "State", width: "minmax(7rem, 1fr)", cell: (f) => stateOf(f) },
  {
    key: "value",
    title: "Value by the policy",
    width: "minmax(8rem, 1fr)",
    narrow: false,
    cell: (f) => {
      const given = valueOf(f);
      return given ? (
        <>
          {visible(given.value)} <span class="aside">{given.from}</span>
        </>
      ) : (
        ""
      );
    },
  },
  {
    key: "errors",
    title: "Problem",
    width: "minmax(8rem, 2fr)",
    cell: (f) => f.validationErrors.map((e) => visible(e.message)).join(" "),
  },
  {
    key: "decided",
    title: "Decided by",
    width: "minmax(6rem, 1fr)",
    narrow: false,
    cell: (f) => <span class="mono">{(f.decidedBy ?? []).map(visible).join(", ")}</span>,
  },
];

function stateOf(field: Evaluated): string {
  const states = [
    field.shouldClearValue ? "Hidden, value to be removed" : "",
    field.isRequired ? "Required" : "Optional",
    field.isReadOnly ? "read-only" : "",
    field.isMasked ? "masked" : "",
  ];
  return states.filter(Boolean).join(", ");
}

/** EvaluatedFields lists the fields that the entity has; a row opens the conditions that decided it. */
export function EvaluatedFields({
  result,
  fields,
}: {
  result: Schemas["EvaluatedPolicy"];
  fields: readonly PolicyField[];
}) {
  const [opened, setOpened] = useState<Evaluated>();
  const problems = result.evaluatedFields.reduce((n, field) => n + field.validationErrors.length, 0);
  const collections = result.evaluatedCollectionDataGroups.length;
  const groups = result.evaluatedCustomDataGroups.length;
  return (
    <div class="stack">
      <p role="status">
        {counted(result.evaluatedFields.length, "field")}, {counted(collections, "collection")} and{" "}
        {counted(groups, "group")} are for this entity
        {result.evaluatedJurisdictions.length > 0 && (
          <> in {result.evaluatedJurisdictions.map((j) => visible(j.name)).join(", ")}</>
        )}
        .{" "}
        {problems > 0 ? <Badge kind="bad">{counted(problems, "problem")}</Badge> : <Badge kind="ok">No problem</Badge>}
      </p>
      <Table
        label="Evaluated fields"
        columns={columns}
        rows={result.evaluatedFields}
        rowKey={(f) => `${f.dataKey} ${f.category}`}
        open={setOpened}
      />
      {(collections > 0 || groups > 0) && (
        <details class="panel">
          <summary>Collections and groups as JSON</summary>
          <pre class="excerpt" tabIndex={0} aria-label="Collections and groups">
            {JSON.stringify(
              { collections: result.evaluatedCollectionDataGroups, groups: result.evaluatedCustomDataGroups },
              null,
              2,
            ).slice(0, 200_000)}
          </pre>
        </details>
      )}
      <Dialog
        title={opened ? visible(opened.name) : "Field"}
        open={opened !== undefined}
        onClose={() => setOpened(undefined)}
        wide
      >
        {opened && (
          <Decision
            evaluated={opened}
            field={fields.find((f) => f.dataKey === opened.dataKey && (f.categories ?? []).includes(opened.category))}
          />
        )}
      </Dialog>
    </div>
  );
}

function Decision({ evaluated, field }: { evaluated: Evaluated; field: PolicyField | undefined }) {
  const decided = new Set(evaluated.decidedBy ?? []);
  const met = (field?.conditions ?? []).filter((condition) => decided.has(condition.id ?? ""));
  const values = (field?.conditionalValues ?? []).filter((value) => decided.has(value.id ?? ""));
  return (
    <div class="stack">
      {decided.size === 0 && <Notice>No condition decided: the field is always there.</Notice>}
      {met.length > 0 && (
        <>
          <h3>It is shown because</h3>
          {met.map((condition) => (
            <ConditionTree key={condition.id} condition={condition} />
          ))}
        </>
      )}
      {values.length > 0 && (
        <>
          <h3>Its value is given because</h3>
          <pre class="excerpt" tabIndex={0} aria-label="Conditional value">
            {JSON.stringify(values, null, 2)}
          </pre>
        </>
      )}
      {decided.size > met.length + values.length && (
        <p class="aside">Decided by {[...decided].map(visible).join(", ")}</p>
      )}
      <h3>All that the evaluation says</h3>
      <pre class="excerpt" tabIndex={0} aria-label="Evaluated field">
        {JSON.stringify(evaluated, null, 2)}
      </pre>
    </div>
  );
}
