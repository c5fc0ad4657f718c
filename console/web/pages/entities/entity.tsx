// An entity: its properties, its drafts beside what is verified, its documents and screenings.

import { addressOf, get } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { FieldTable } from "../../kit/compare.tsx";
import { Loaded } from "../../kit/feedback.tsx";
import { Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import type { Parameters } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Drafts } from "./drafts.tsx";
import { fieldsOf } from "./fields.ts";
import { Documents, Screenings } from "./related.tsx";
import { type Entity, EntityBadge, nameOf, onboardedText } from "./state.tsx";

const path = "/entitydataquery/api/v2/entity/{entityId}";

/** EntityPage shows the entity of the address. */
export default function EntityPage({ parameters }: { parameters: Parameters }) {
  const id = parameters.id!;
  const curl = useCurl();
  const entity = useResource(
    `entity ${id}`,
    async (signal) => (await get(path, { path: { entityId: id }, signal })).data,
    { every: 15_000 },
  );
  const name = entity.value && nameOf(entity.value.properties);
  return (
    <Page title={name || id} beside={entity.value && <EntityBadge status={entity.value.lifecycleStatus} />}>
      <Loaded resource={entity} lines={16}>
        {(value) => (
          <>
            <Facts entity={value} />
            <Drafts entity={value} onChange={entity.reload} />
            <section class="stack" aria-labelledby="properties">
              <h2 id="properties">Verified properties</h2>
              <Properties entity={value} />
            </section>
            <Documents entityId={value.id} />
            <Screenings entityId={value.id} />
          </>
        )}
      </Loaded>
      <Commands cli={`sluice entity show ${shellQuote(id)}`} curl={curl("GET", addressOf(path, { entityId: id }))} />
    </Page>
  );
}

function Facts({ entity }: { entity: Entity }) {
  return (
    <section class="panel" aria-label="Facts">
      <dl class="facts">
        <div>
          <dt>ID</dt>
          <dd class="mono">{visible(entity.id)}</dd>
        </div>
        <div>
          <dt>Status</dt>
          <dd>
            {entity.lifecycleStatus}
            <div class="aside">{onboardedText(entity.lifecycleStatus)}</div>
          </dd>
        </div>
        <div>
          <dt>Type and role</dt>
          <dd>{[entity.type, entity.role].filter(Boolean).join(", ") || "–"}</dd>
        </div>
        <div>
          <dt>Version</dt>
          <dd>{entity.version}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>{entity.created ? <Time at={entity.created} form="both" /> : "only imported"}</dd>
        </div>
        {entity.alternateId && (
          <div>
            <dt>Alternate ID</dt>
            <dd>{visible(entity.alternateId)}</dd>
          </div>
        )}
        {entity.risk && (
          <div>
            <dt>Risk</dt>
            <dd>{visible(`${entity.risk.riskLevel} (${entity.risk.riskCategory})`)}</dd>
          </div>
        )}
        <div>
          <dt>Access layers</dt>
          <dd>{visible([...entity.accessLayers.geographic, ...entity.accessLayers.businessRelated].join(", "))}</dd>
        </div>
        {entity.inScopeJurisdictions.length > 0 && (
          <div>
            <dt>Jurisdictions</dt>
            <dd>{visible(entity.inScopeJurisdictions.join(", "))}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Properties({ entity }: { entity: Entity }) {
  const fields = fieldsOf(entity.properties);
  if (fields.length === 0)
    return <p>The entity has no properties. A draft gives it some; they count once the draft is verified.</p>;
  return <FieldTable label="Verified values" fields={fields} />;
}
