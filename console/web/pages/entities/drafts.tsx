// The drafts of an entity. The service finds drafts by their journey, so those are shown of which this browser knows:
// of the journeys of the entity's documents, of the journey that is asked for, and those that were opened here.

import { useEffect, useState } from "preact/hooks";
import { ApiError, addressOf, get, post } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice, Loaded } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { Age } from "../../kit/format.tsx";
import { useRemembered } from "../../kit/remembered.ts";
import { useAction, useResource } from "../../kit/resource.ts";
import { useQuery } from "../../kit/router.tsx";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { DraftPanel } from "./draft.tsx";
import { type Draft, DraftBadge, type Entity } from "./state.tsx";

const searchPath = "/entitydataquery/api/v2/drafts-in-scope/searchentitydrafts";
const beginPath = "/entitydatacommand/api/v2/entity/{entityId}/draft";
const readPath = "/entitydataquery/api/v2/entity/{entityId}/draft/{id}";
const documentsPath = "/documentmanagementquery/api/documentmanagement/entity/paged/lite/v2";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** mostJourneys is how many journeys of documents are searched. */
const mostJourneys = 5;

/** Drafts lists drafts of an entity and shows the chosen one beside the verified properties. */
export function Drafts({ entity, onChange }: { entity: Entity; onChange: () => void }) {
  const [{ draft: chosen, journey }, setQuery] = useQuery({ draft: "", journey: "" });
  const [beginning, setBeginning] = useState(false);
  const { ids, remember } = useRemembered("drafts");
  const known = ids
    .map((pair) => pair.split("\n"))
    .filter(([id]) => id === entity.id)
    .map(([, id]) => id!);
  const drafts = useResource(`drafts ${entity.id} ${journey}`, async (signal) => {
    const sought = [...new Set(chosen ? [chosen, ...known] : known)];
    return { list: await findDrafts(entity.id, journey, sought, signal), sought };
  });
  const isSought = drafts.value?.sought.includes(chosen) ?? true;
  useEffect(() => {
    if (chosen && !isSought) drafts.reload();
  }, [chosen, isSought]);
  const open = (id: string) => {
    remember(`${entity.id}\n${id}`);
    setQuery({ draft: id }, { push: true });
  };
  const changed = () => {
    drafts.reload();
    onChange();
  };
  return (
    <section class="stack" aria-labelledby="drafts">
      <div class="page-header">
        <h2 id="drafts">Drafts</h2>
        <div class="buttons">
          <button type="button" onClick={() => setBeginning(true)}>
            Begin a draft
          </button>
        </div>
      </div>
      <Loaded resource={drafts} lines={3}>
        {({ list }) => {
          const shown = list.find((d) => d.id === chosen);
          return (
            <>
              {list.length > 0 ? (
                <SmallTable
                  label="List of drafts"
                  columns={draftColumns(chosen, open)}
                  rows={list}
                  rowKey={({ id }) => id}
                  isChosen={({ id }) => id === chosen}
                />
              ) : (
                <p>No draft is known here. The service finds drafts by their journey.</p>
              )}
              <FindJourney
                key={journey}
                journey={journey}
                onJourney={(id) => setQuery({ journey: id }, { push: true })}
              />
              {shown && (
                <DraftPanel
                  key={shown.id}
                  entity={entity}
                  draft={shown}
                  onChange={changed}
                  onClose={() => setQuery({ draft: "" })}
                />
              )}
              {chosen && !shown && isSought && (
                <p role="status">The entity has no draft {chosen}, or it is beyond the access layers of this client.</p>
              )}
            </>
          );
        }}
      </Loaded>
      <Dialog title="Begin a draft" open={beginning} onClose={() => setBeginning(false)}>
        <BeginForm
          entity={entity}
          onBegun={(id) => {
            setBeginning(false);
            open(id);
            onChange();
          }}
          onClose={() => setBeginning(false)}
        />
      </Dialog>
    </section>
  );
}

/** findDrafts returns the drafts of an entity by their journeys and IDs, the newest first. */
async function findDrafts(
  entityId: string,
  journey: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Draft[]> {
  const found = new Map<string, Draft>();
  const ofDocuments = await post(documentsPath, { body: { data: { entityId, pageSize: 100 } }, signal }).then(
    ({ data }) => data.items.map((d) => d.journeyId),
    ignoreRefusal<string[]>([]),
  );
  const journeys = [
    ...new Set([
      ...ofDocuments.filter((id) => uuid.test(id)).slice(0, mostJourneys),
      ...(uuid.test(journey) ? [journey] : []),
    ]),
  ];
  const searches = journeys.map(
    async (journeyId) =>
      (await post(searchPath, { body: { data: { journeyId, entityIds: [entityId] } }, signal })).data,
  );
  const reads = ids
    .filter((id) => uuid.test(id))
    .map((id) =>
      get(readPath, { path: { entityId, id }, signal }).then(({ data }) => [data], ignoreRefusal<Draft[]>([])),
    );
  for (const draft of (await Promise.all([...searches, ...reads])).flat()) found.set(draft.id, draft);
  return [...found.values()].sort((a, b) => b.created.localeCompare(a.created));
}

/**
 * ignoreRefusal returns what takes a refusal (403) or that there is nothing (404) for a value, and leaves other errors.
 */
function ignoreRefusal<T>(value: T): (cause: unknown) => T {
  return (cause) => {
    if (cause instanceof ApiError && (cause.status === 403 || cause.status === 404)) return value;
    throw cause;
  };
}

/** draftColumns are the columns of the list of drafts; the ID opens one. */
function draftColumns(chosen: string, onOpen: (id: string) => void): readonly SmallColumn<Draft>[] {
  return [
    {
      title: "Draft",
      cell: ({ id }) => (
        <button type="button" class="link mono" aria-pressed={id === chosen} onClick={() => onOpen(id)}>
          {id}
        </button>
      ),
    },
    { title: "Status", cell: ({ status }) => <DraftBadge status={status} /> },
    { title: "Journey", mono: true, cell: ({ journeyId }) => journeyId },
    { title: "Begun", cell: ({ created }) => <Age at={created} isSentence /> },
    { title: "Version", align: "end", cell: ({ version }) => version },
  ];
}

function FindJourney({ journey, onJourney }: { journey: string; onJourney: (id: string) => void }) {
  const [text, setText] = useState(journey);
  const isWrong = text.trim() !== "" && !uuid.test(text.trim());
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) onJourney(text.trim());
      }}
    >
      <TextField
        label="Find drafts of a journey"
        value={text}
        onValue={setText}
        maxLength={36}
        error={isWrong ? "A journey's ID is a UUID." : undefined}
      />
      <div class="buttons">
        <button type="submit" disabled={isWrong}>
          Find drafts
        </button>
      </div>
    </form>
  );
}

function BeginForm({
  entity,
  onBegun,
  onClose,
}: {
  entity: Entity;
  onBegun: (id: string) => void;
  onClose: () => void;
}) {
  const [journeyId, setJourneyId] = useState(() => crypto.randomUUID() as string);
  const curl = useCurl();
  const body = { data: { journeyId: journeyId.trim() } };
  const begin = useAction(async () => {
    const { data } = await post(beginPath, { path: { entityId: entity.id }, body });
    onBegun(data.id);
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void begin.run();
      }}
    >
      <p>A draft proposes changes of the entity's properties within a journey. They count once it is verified.</p>
      <TextField
        label="Journey"
        value={journeyId}
        onValue={setJourneyId}
        required
        maxLength={36}
        autofocus
        hint="The UUID of the journey to which the draft belongs. This one is new."
      />
      {begin.error && <ErrorNotice error={begin.error} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Go back
        </button>
        <button type="submit" class="primary" disabled={begin.running}>
          Begin the draft
        </button>
      </div>
      <Commands curl={curl("POST", addressOf(beginPath, { entityId: entity.id }), body)} />
    </form>
  );
}
