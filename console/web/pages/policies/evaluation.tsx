// Evaluating a version for an entity: which fields it has, with which values, and which condition decided each.

import { useState } from "preact/hooks";
import { addressOf, get, type Schemas, send } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice, Loaded, Notice } from "../../kit/feedback.tsx";
import { TextArea, TextField } from "../../kit/fields.tsx";
import { useAction, useResource } from "../../kit/resource.ts";
import { loadFields } from "./load.ts";
import { EvaluatedFields } from "./evaluated.tsx";

type Request = Schemas["EvaluationRequest"];

const example = JSON.stringify(
  {
    targetEntity: "Client",
    evaluateJurisdictions: true,
    returnValidationErrors: true,
    properties: { singleProperties: {}, collectionProperties: {}, customProperties: {} },
    dataSources: {},
  },
  null,
  2,
);

/** Evaluation asks for an entity, by its ID or as a request, and shows what the version makes of it. */
export function Evaluation({ policyId, version }: { policyId: string; version: number }) {
  const [text, setText] = useState(example);
  const [entityId, setEntityId] = useState("");
  const fields = useResource(`${policyId} ${version} fields`, (signal) => loadFields(policyId, version, signal));
  const curl = useCurl();
  const path = `/policyquery/api/v4/policies/${policyId}/version/${version}/fields/evaluate`;
  const { request, problem } = parse(text);
  const [result, setResult] = useState<Schemas["EvaluatedPolicy"]>();
  const load = useAction(async () => {
    const { data } = await get("/entitydataquery/api/v2/entity/{entityId}", { path: { entityId: entityId.trim() } });
    setText(
      JSON.stringify(
        { ...(request ?? (JSON.parse(example) as Request)), properties: splitByKind(data.properties as Properties) },
        null,
        2,
      ),
    );
  });
  const evaluate = useAction(async () => {
    setResult(undefined);
    const answer = (await send("post", addressOf("/api" + path, undefined, { explain: true }), {
      body: { data: request },
    })) as Schemas["EvaluatedPolicyReply"];
    setResult(answer.data);
  });
  return (
    <section class="stack" aria-label="Evaluation">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void load.run();
        }}
      >
        <TextField label="Entity" value={entityId} onValue={setEntityId} placeholder="its ID" required />
        <button type="submit" disabled={load.running}>
          Fill in its properties
        </button>
      </form>
      {load.error && <ErrorNotice error={load.error} />}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void evaluate.run();
        }}
      >
        <TextArea
          label="What is evaluated"
          value={text}
          onValue={setText}
          rows={14}
          error={problem}
          hint="As in docs/contract/policy.md: the properties of the entity, and what conditions read beside them."
        />
        <div class="buttons">
          <button type="submit" class="primary" disabled={evaluate.running || request === undefined}>
            Evaluate
          </button>
        </div>
      </form>
      {evaluate.error && (
        <ErrorNotice error={evaluate.error}>
          {evaluate.error.status === 413 && (
            <p>
              Large collections are answered by the normalized variant: <code>sluice policy evaluate --normalized</code>
            </p>
          )}
        </ErrorNotice>
      )}
      {result && (
        <Loaded resource={fields} lines={6}>
          {(all) => <EvaluatedFields result={result} fields={all} />}
        </Loaded>
      )}
      {result && result.evaluatedFields.length === 0 && <Notice>No field of the version is for this entity.</Notice>}
      <Commands
        cli={`sluice policy evaluate --policy ${policyId} --version ${version} --explain --request - <<'EOF'\n${JSON.stringify(request ?? {})}\nEOF`}
        curl={curl("POST", path + "?explain=true", { data: request ?? {} })}
      />
    </section>
  );
}

function parse(text: string): { request?: Request; problem?: string } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { request: value as Request }
      : { problem: "The request is a JSON object." };
  } catch (cause) {
    return { problem: `This is not JSON: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}

interface Property {
  type: "Single" | "Collection" | "Custom";
  value?: string | null;
  valueId?: string | null;
  dataGroupId?: string;
  collections?: Record<
    string,
    { properties?: Record<string, string | null>; propertiesInfo?: Record<string, { valueId?: string | null }> }
  > | null;
  properties?: Properties | null;
}
type Properties = Record<string, Property>;

/** splitByKind brings the properties of an entity into the form that evaluations take: apart by kind. */
function splitByKind(properties: Properties): NonNullable<Request["properties"]> {
  const single: Record<string, { value: string | null; valueId: string | null }> = {};
  const collections: Record<string, { collectionId: string; items: Record<string, { properties: typeof single }> }> =
    {};
  const custom: Record<string, NonNullable<Request["properties"]>> = {};
  for (const [key, property] of Object.entries(properties)) {
    if (property.type === "Single") single[key] = { value: property.value ?? null, valueId: property.valueId ?? null };
    if (property.type === "Custom") custom[key] = splitByKind(property.properties ?? {});
    if (property.type !== "Collection") continue;
    const items: Record<string, { properties: typeof single }> = {};
    for (const [id, item] of Object.entries(property.collections ?? {})) {
      items[id] = {
        properties: Object.fromEntries(
          Object.entries(item.properties ?? {}).map(([name, value]) => [
            name,
            { value, valueId: item.propertiesInfo?.[name]?.valueId ?? null },
          ]),
        ),
      };
    }
    collections[key] = { collectionId: property.dataGroupId ?? "", items };
  }
  const result: NonNullable<Request["properties"]> = { singleProperties: single, customProperties: custom };
  return Object.keys(collections).length > 0 ? { ...result, collectionProperties: collections } : result;
}
