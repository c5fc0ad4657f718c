// The workbench of a screening batch: its entities, their matches, and what is decided about them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { Loaded } from "../../kit/feedback.tsx";
import { counted } from "../../kit/format.tsx";
import { useKeys } from "../../kit/keys.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, type Parameters, readAddress } from "../../kit/router.tsx";
import { useSession } from "../../kit/session.ts";
import { type Batch, type Entity, readBatch } from "./batch.ts";
import { CloseBatch } from "./close.tsx";
import { Documents } from "./documents.tsx";
import { EntityList } from "./entitylist.tsx";
import { defaults, type Fields, useFields } from "./fields.ts";
import { Head } from "./head.tsx";
import { History } from "./history.tsx";
import { Materiality } from "./materiality.tsx";
import { useMatches } from "./matches.ts";
import { MatchesView } from "./matchesview.tsx";
import { remember } from "./recent.ts";
import { isSearching, ScreeningBadge } from "./statuses.tsx";

/** fewEntities is up to how many entities the matches of all are read, so that counts are known. */
const fewEntities = 50;

/** WorkbenchPage shows a screening batch. */
export default function WorkbenchPage({ parameters }: { parameters: Parameters }) {
  const id = parameters.id!;
  const { tenant_id } = useSession();
  const [searching, setSearching] = useState(false);
  const batch = useResource(`screening-batch ${id}`, (signal) => readBatch(id, signal), {
    every: searching ? 1500 : 0,
  });
  const isUnderWay = batch.value !== undefined && isSearching(batch.value);
  useEffect(() => setSearching(isUnderWay), [isUnderWay]);
  const isRead = batch.value !== undefined;
  useEffect(() => {
    if (isRead) remember(tenant_id, id);
  }, [isRead, id]);
  return (
    <Page
      title={titleOf(batch.value)}
      windowTitle={`Screening ${id.slice(0, 8)}`}
      beside={batch.value && <ScreeningBadge status={batch.value.status} />}
      actions={
        <>
          {batch.value?.status === "Open" && !isUnderWay && <CloseBatch batch={batch.value} reload={batch.reload} />}
          <button type="button" onClick={batch.reload}>
            Read again
          </button>
          <Link to="/screening" class="button">
            Find another
          </Link>
        </>
      }
    >
      <Loaded resource={batch} lines={14}>
        {(value) => <Workbench batch={value} at={batch.at} reload={batch.reload} />}
      </Loaded>
    </Page>
  );
}

function titleOf(batch: Batch | undefined): string {
  const [first] = batch?.entities ?? [];
  if (!batch || !first) return "Screening";
  return batch.entities.length === 1
    ? `Screening of ${first.entityName}`
    : `Screening of ${counted(batch.entities.length, "entity", "entities")}`;
}

function Workbench({ batch, at, reload }: { batch: Batch; at: Date | undefined; reload: () => void }) {
  const [fields, change] = useFields();
  const entity = batch.entities.find((one) => one.id === fields.entity) ?? batch.entities[0]!;
  const readsAll = fields.scope === "all" || batch.entities.length <= fewEntities;
  const wanted = useMemo(
    () => [entity.id, ...(readsAll ? batch.entities.map(({ id }) => id).filter((id) => id !== entity.id) : [])],
    [entity.id, readsAll, batch.entities],
  );
  const states = batch.providers.map((run) => run.id + run.status).join();
  const generation = `${states} ${isSearching(batch) ? "" : at?.getTime()}`;
  const store = useMatches(batch.id, wanted, generation);
  const scope = useMemo(
    () => (fields.scope === "all" ? batch.entities : [entity]),
    [fields.scope, entity, batch.entities],
  );
  const choose = (to: Entity | undefined) => to && change({ entity: to.id, match: "" }, { push: true });
  const place = batch.entities.indexOf(entity);
  useKeys({
    J: { does: "Next entity", act: () => choose(batch.entities[place + 1]) },
    K: { does: "Entity before", act: () => choose(batch.entities[place - 1]) },
  });
  return (
    <>
      <Head batch={batch} reload={reload} />
      <div class={batch.entities.length > 1 ? "workbench has-entities" : "workbench"}>
        {batch.entities.length > 1 && <EntityList batch={batch} entity={entity} store={store} onSelect={choose} />}
        <div class="stack">
          <Views fields={fields} />
          {fields.view === "materiality" ? (
            <Materiality key={entity.id} batch={batch} entity={entity} reload={reload} />
          ) : fields.view === "documents" ? (
            <Documents
              key={entity.id}
              place={{ batchId: batch.id, entityId: entity.id }}
              open={batch.status === "Open"}
            />
          ) : fields.view === "history" ? (
            <History key={entity.id} batchId={batch.id} entity={entity} />
          ) : (
            <MatchesView batch={batch} scope={scope} store={store} fields={fields} change={change} />
          )}
        </div>
      </div>
    </>
  );
}

const views: readonly (readonly [view: string, text: string])[] = [
  ["matches", "Matches"],
  ["materiality", "Materiality"],
  ["documents", "Documents"],
  ["history", "History"],
];

/** Views are the parts of what is known of an entity. */
function Views({ fields }: { fields: Fields }) {
  return (
    <nav class="tabs" aria-label="About the entity">
      {views.map(([view, text]) => {
        const { path, query } = readAddress();
        if (view === defaults.view) query.delete("view");
        else query.set("view", view);
        const search = query.toString();
        return (
          <Link
            key={view}
            to={path + (search && `?${search}`)}
            aria-current={fields.view === view ? "page" : undefined}
          >
            {text}
          </Link>
        );
      })}
    </nav>
  );
}
