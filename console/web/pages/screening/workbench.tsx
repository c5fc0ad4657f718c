// The workbench of a screening batch: its entities, their matches, and what is decided about them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { post, put } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { ErrorNotice, Loaded, Notice } from "../../kit/feedback.tsx";
import { counted, formatCount, Time } from "../../kit/format.tsx";
import { useKeys } from "../../kit/keys.tsx";
import { Page } from "../../kit/page.tsx";
import { useAction, useResource } from "../../kit/resource.ts";
import { Link, type Parameters, type Query, readAddress, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { useSession } from "../../kit/session.ts";
import { type Column, Table } from "../../kit/table.tsx";
import { type Batch, type Entity, readBatch } from "./batch.ts";
import { Documents } from "./documents.tsx";
import { History } from "./history.tsx";
import { Materiality } from "./materiality.tsx";
import { type MatchStore, useMatches } from "./matches.ts";
import { MatchesView } from "./matchesview.tsx";
import { remember } from "./recent.ts";
import { isSearching, MaterialityBadge, ScreeningBadge, SearchBadge } from "./statuses.tsx";

const defaults = { entity: "", match: "", view: "matches", status: "", list: "", min: "", find: "", scope: "entity" };

/** Fields are what the address says of the workbench. */
export type Fields = Query<keyof typeof defaults>;
/** Change changes some of the fields. */
export type Change = (some: Partial<Fields>, options?: { push?: boolean }) => void;

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
  const [fields, change] = useQuery(defaults);
  const entity = batch.entities.find((one) => one.id === fields.entity) ?? batch.entities[0]!;
  const readsAll = fields.scope === "all" || batch.entities.length <= fewEntities;
  const wanted = useMemo(
    () => [entity.id, ...(readsAll ? batch.entities.map(({ id }) => id).filter((id) => id !== entity.id) : [])],
    [entity.id, readsAll, batch.entities],
  );
  const generation = `${batch.providers.map((run) => run.id + run.status).join()} ${isSearching(batch) ? "" : at?.getTime()}`;
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
        {batch.entities.length > 1 && <Entities batch={batch} entity={entity} store={store} onSelect={choose} />}
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

/** Entities is the list of the entities, with how many of their matches are unresolved. */
function Entities({
  batch,
  entity,
  store,
  onSelect,
}: {
  batch: Batch;
  entity: Entity;
  store: MatchStore;
  onSelect: (entity: Entity) => void;
}) {
  const columns: readonly Column<Entity>[] = [
    {
      key: "name",
      title: "Entity",
      width: "minmax(4rem, 1fr)",
      cell: (one) => (
        <span dir="auto" title={visible(one.entityName)}>
          {visible(one.entityName)}
        </span>
      ),
    },
    {
      key: "open",
      title: "Open",
      width: "4.5rem",
      align: "end",
      cell: (one) => {
        const part = store.parts.get(one.id);
        if (!part?.complete)
          return (
            <span class="aside" title="Not read">
              {part?.error ? "failed" : "…"}
            </span>
          );
        const open = part.matches.filter((match) => match.status === "Unresolved").length;
        return (
          <span title={`${formatCount(open)} of ${counted(part.matches.length, "match", "matches")} unresolved`}>
            {formatCount(open)} / {formatCount(part.matches.length)}
          </span>
        );
      },
    },
  ];
  return (
    <section aria-label="Entities" class="stack">
      <Table
        label="Entities"
        columns={columns}
        rows={batch.entities}
        rowKey={(one) => one.id}
        selected={entity.id}
        onSelect={onSelect}
      />
      <p class="aside">
        Materiality: <MaterialityBadge status={entity.entityMaterialityAssessment?.materialityOutcome} />
      </p>
    </section>
  );
}

function Head({ batch, reload }: { batch: Batch; reload: () => void }) {
  const failed = batch.providers.filter((run) => run.status === "Return Failed");
  const found = Object.entries(batch.metadata?.totalMatchesForProvider ?? {});
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ["Batch", batch.id],
    ["Journey", batch.journeyId],
    ["Process", batch.processId],
    ["Main entity", batch.journeyMainLegalEntityId],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(
          ([title, text]) =>
            text && (
              <div key={title}>
                <dt>{title}</dt>
                <dd data-volatile={title === "Batch" || undefined}>{visible(text)}</dd>
              </div>
            ),
        )}
        {batch.batchType === "OngoingScreening" && (
          <div>
            <dt>Made by</dt>
            <dd>the change of a list</dd>
          </div>
        )}
        {batch.createdDate && (
          <div>
            <dt>Created</dt>
            <dd>
              <Time at={batch.createdDate} />
            </dd>
          </div>
        )}
        {batch.closedDate && (
          <div>
            <dt>Closed</dt>
            <dd>
              <Time at={batch.closedDate} />
            </dd>
          </div>
        )}
        <div>
          <dt>Searches</dt>
          <dd>
            {batch.providers.map((run) => (
              <div key={run.id}>
                <SearchBadge run={run} />
              </div>
            ))}
          </dd>
        </div>
        {found.length > 0 && (
          <div>
            <dt>Matches</dt>
            <dd>
              {found.map(([provider, n]) => (
                <div key={provider}>
                  {formatCount(n)}
                  {found.length > 1 && ` of ${visible(provider)}`}
                </div>
              ))}
            </dd>
          </div>
        )}
        {batch.trueMatchesCount !== undefined && (
          <div>
            <dt>True matches</dt>
            <dd>{formatCount(batch.trueMatchesCount)}</dd>
          </div>
        )}
      </dl>
      {batch.overriddenBatchIds?.map((id) => (
        <p key={id} class="aside">
          It has taken the place of <Link to={`/screening/${encodeURIComponent(id)}`}>an earlier batch</Link>.
        </p>
      ))}
      {failed.map((run) => (
        <FailedSearch key={run.id} batch={batch} run={run} reload={reload} />
      ))}
      {batch.status === "Overridden" && (
        <Notice>
          <p>A newer batch of the same journey and process has taken the place of this one, which stays as it was.</p>
        </Notice>
      )}
    </>
  );
}

const rerunPath = "/screeningcommand/api/v3/batch/{id}/rerun";

function FailedSearch({ batch, run, reload }: { batch: Batch; run: Batch["providers"][number]; reload: () => void }) {
  const body = { data: { providerId: run.id } };
  const rerun = useAction(async () => {
    await post(rerunPath, { path: { id: batch.id }, body });
    reload();
  });
  const curl = useCurl();
  return (
    <Notice kind="warn">
      <p class="notice-title">The search of {visible(run.id)} has failed, so its matches are missing</p>
      {run.errorDetails && (
        <p>
          {visible(run.errorDetails.message)}{" "}
          <span class="aside">
            ({run.errorDetails.source}, {run.errorDetails.errorCode})
          </span>
        </p>
      )}
      {batch.status === "Open" && (
        <button type="button" disabled={rerun.running} onClick={() => void rerun.run()}>
          Run it again
        </button>
      )}
      {rerun.error && <ErrorNotice error={rerun.error} />}
      <Commands curl={curl("POST", rerunPath.replace("{id}", batch.id), body)} />
    </Notice>
  );
}

const completePath = "/screeningcommand/api/v3/batch/{id}/complete";

function CloseBatch({ batch, reload }: { batch: Batch; reload: () => void }) {
  const [asking, setAsking] = useState(false);
  const close = useAction(async () => {
    await put(completePath, { path: { id: batch.id } });
    setAsking(false);
    reload();
  });
  const curl = useCurl();
  return (
    <>
      <button
        type="button"
        onClick={() => {
          close.clear();
          setAsking(true);
        }}
      >
        Close the batch
      </button>
      <Confirm
        title="Close the batch"
        open={asking}
        action="Close the batch"
        running={close.running}
        error={close.error}
        onConfirm={() => void close.run()}
        onClose={() => setAsking(false)}
      >
        <p>
          A closed batch never changes: its decisions and assessments become history. Every match must be resolved
          before.
        </p>
        <Commands curl={curl("PUT", completePath.replace("{id}", batch.id))} />
      </Confirm>
    </>
  );
}
