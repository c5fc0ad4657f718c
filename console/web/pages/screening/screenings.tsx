// Finding screening batches: by what the interface lists them by, and those opened last in this browser.

import { useState } from "preact/hooks";
import { ApiError, get, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, ErrorNotice, Loaded } from "../../kit/feedback.tsx";
import { Check, SearchField, SelectField } from "../../kit/fields.tsx";
import { Age, counted, formatCount, Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, navigate, pathTo, type Query, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { useSession } from "../../kit/session.ts";
import { CreateDialog } from "./create.tsx";
import { forget, isBatchId, readRecent } from "./recent.ts";
import { ScreeningBadge, SearchBadge } from "./statuses.tsx";

const defaults = { by: "journey", id: "", process: "", matched: "" };
type Fields = Query<keyof typeof defaults>;

/** Found is what is shown of a batch. */
interface Found {
  id: string;
  status: Schemas["ScreeningStatus"];
  providers: readonly Schemas["ScreeningProviderRun"][];
  /** about says whom or what the batch is about. */
  about: string;
  trueMatches: number;
  createdDate?: string;
  closedDate: string | null;
}

/** ScreeningsPage finds screening batches. */
export default function ScreeningsPage() {
  const [fields, change] = useQuery(defaults);
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title="Screening"
      actions={
        <>
          <Link to="/screening/name" class="button">
            Try a name
          </Link>
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Screen an entity
          </button>
        </>
      }
    >
      <form
        class="filters"
        role="search"
        aria-label="Which screening batches"
        onSubmit={(event) => event.preventDefault()}
      >
        <SelectField
          label="Find by"
          value={fields.by}
          onValue={(by) => change({ by, id: "" })}
          options={[
            ["journey", "Journey"],
            ["entity", "Legal entity"],
            ["batch", "Batch ID"],
          ]}
        />
        <SearchField label={labels[fields.by] ?? "ID"} value={fields.id} onValue={(id) => change({ id: id.trim() })} />
        {fields.by === "journey" && (
          <SearchField
            label="Process (or any)"
            value={fields.process}
            onValue={(process) => change({ process: process.trim() })}
          />
        )}
        {fields.by === "entity" && (
          <Check
            label="Only with true matches"
            checked={fields.matched === "yes"}
            onChecked={(checked) => change({ matched: checked ? "yes" : "" })}
          />
        )}
      </form>
      {fields.id === "" ? <Opened /> : <Results fields={fields} />}
      <CreateDialog
        open={creating}
        onClose={() => setCreating(false)}
        onCreated={(id) => navigate(pathTo("screening", id))}
      />
    </Page>
  );
}

const labels: Record<string, string> = {
  journey: "ID of the journey",
  entity: "ID of the legal entity",
  batch: "ID of the batch",
};

function Results({ fields }: { fields: Fields }) {
  const { by, id, process, matched } = fields;
  const { path, read } = questionOf(fields);
  const found = useResource(JSON.stringify([by, id, process, matched]), async (signal) => {
    try {
      return await read(signal);
    } catch (cause) {
      if (cause instanceof ApiError && cause.status === 404) return [];
      throw cause;
    }
  });
  const curl = useCurl();
  if (by === "batch" && !isBatchId(id))
    return (
      <Empty title="That is no ID of a batch">
        <p>It has the form 0197b0c4-52a1-7c3e-9d2f-6a1b3c5d7e90.</p>
      </Empty>
    );
  return (
    <>
      <Loaded resource={found} lines={4}>
        {(batches) =>
          batches.length === 0 ? (
            <Empty title="No such batch">
              <p>
                {by === "journey"
                  ? "No screening batch is of this journey (and process)."
                  : by === "entity"
                    ? "No screening batch has this entity."
                    : "The tenant has no screening batch with this ID."}
              </p>
            </Empty>
          ) : (
            <BatchTable label="Batches" batches={batches} />
          )
        }
      </Loaded>
      <Commands curl={curl("GET", path)} />
    </>
  );
}

/** questionOf returns the path by which the interface is asked, and the function that asks. */
function questionOf({ by, id, process, matched }: Fields): {
  path: string;
  read: (signal: AbortSignal) => Promise<Found[]>;
} {
  const place = "/screeningquery/api/v4/batch";
  const one = encodeURIComponent(id);
  if (by === "batch")
    return { path: `${place}/${one}`, read: async (signal) => (isBatchId(id) ? [await readFound(id, signal)] : []) };
  if (by === "entity") {
    const onlyWithTrueMatches = matched === "yes" ? true : undefined;
    return {
      path: `${place}/legalentity/${one}${onlyWithTrueMatches ? "?onlyWithTrueMatches=true" : ""}`,
      read: async (signal) =>
        (
          await get("/screeningquery/api/v4/batch/legalentity/{legalEntityId}", {
            path: { legalEntityId: id },
            query: { onlyWithTrueMatches },
            signal,
          })
        ).data.map((batch) => ({
          id: batch.batchId,
          status: batch.batchStatus,
          providers: batch.providers,
          about: batch.batchType,
          trueMatches: batch.materialMatchesCount,
          closedDate: batch.batchClosedDate,
        })),
    };
  }
  if (process !== "") {
    return {
      path: `${place}/journey/${one}/process/${encodeURIComponent(process)}`,
      read: async (signal) => [
        foundOf(
          (
            await get("/screeningquery/api/v4/batch/journey/{journeyId}/process/{processId}", {
              path: { journeyId: id, processId: process },
              signal,
            })
          ).data,
        ),
      ],
    };
  }
  return {
    path: `${place}/journey/${one}`,
    read: async (signal) => [
      foundOf(
        (await get("/screeningquery/api/v4/batch/journey/{journeyId}", { path: { journeyId: id }, signal })).data,
      ),
    ],
  };
}

async function readFound(batchId: string, signal: AbortSignal): Promise<Found> {
  return foundOf((await get("/screeningquery/api/v4/batch/{batchId}", { path: { batchId }, signal })).data);
}

function foundOf(batch: Schemas["ScreeningBatch"]): Found {
  const [first, ...others] = batch.entities;
  const about = [first?.entityName, others.length > 0 && `and ${counted(others.length, "other")}`]
    .filter(Boolean)
    .join(" ");
  return { ...batch, about, trueMatches: batch.trueMatchesCount };
}

function BatchTable({ label, batches }: { label: string; batches: readonly Found[] }) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Batch</th>
            <th scope="col">About</th>
            <th scope="col">Status</th>
            <th scope="col">Searches</th>
            <th scope="col" class="end">
              True matches
            </th>
            <th scope="col">Created or closed</th>
          </tr>
        </thead>
        <tbody>
          {batches.map((batch) => (
            <tr key={batch.id}>
              <td data-volatile>
                <Link to={pathTo("screening", batch.id)} class="mono">
                  {batch.id}
                </Link>
              </td>
              <td class="anywhere" dir="auto">
                {visible(batch.about)}
              </td>
              <td>
                <ScreeningBadge status={batch.status} />
              </td>
              <td>
                {batch.providers.map((run) => (
                  <div key={run.id}>
                    <SearchBadge run={run} />
                  </div>
                ))}
              </td>
              <td class="end">{formatCount(batch.trueMatches)}</td>
              <td>
                {batch.closedDate ? (
                  <Time at={batch.closedDate} form="short" />
                ) : batch.createdDate ? (
                  <Time at={batch.createdDate} form="short" />
                ) : (
                  "–"
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** shownInFull is of how many of the batches that were opened last the state is read. */
const shownInFull = 8;

/** Opened shows the batches that were opened last in this browser. */
function Opened() {
  const { tenant_id } = useSession();
  const [recent, setRecent] = useState(() => readRecent(tenant_id));
  const states = useResource(recent.map(({ id }) => id).join(), async (signal) => {
    const read = new Map<string, Found>();
    for (const { id } of recent.slice(0, shownInFull)) {
      try {
        read.set(id, await readFound(id, signal));
      } catch (cause) {
        if (!(cause instanceof ApiError) || ![404, 413].includes(cause.status)) throw cause;
      }
    }
    return read;
  });
  if (recent.length === 0) {
    return (
      <Empty title="Find a batch">
        <p>
          The interface has no list of all screening batches: they are found by their journey, by a legal entity that
          they are about, or by their ID. Batches that you open are listed here.
        </p>
        <p>
          New ones are told of by events: <Link to="/webhooks">Webhooks</Link> delivers them. Or screen an entity now.
        </p>
      </Empty>
    );
  }
  return (
    <section class="stack" aria-label="Opened last">
      <h2>Opened last in this browser</h2>
      {states.error && <ErrorNotice error={states.error} retry={states.reload} />}
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Batches opened last">
        <table>
          <thead>
            <tr>
              <th scope="col">Batch</th>
              <th scope="col">About</th>
              <th scope="col">Status</th>
              <th scope="col" class="end">
                True matches
              </th>
              <th scope="col">Opened</th>
            </tr>
          </thead>
          <tbody>
            {recent.map(({ id, at }) => {
              const state = states.value?.get(id);
              return (
                <tr key={id}>
                  <td data-volatile>
                    <Link to={pathTo("screening", id)} class="mono">
                      {id}
                    </Link>
                  </td>
                  <td class="anywhere" dir="auto">
                    {state ? visible(state.about) : ""}
                  </td>
                  <td>{state && <ScreeningBadge status={state.status} />}</td>
                  <td class="end">{state && formatCount(state.trueMatches)}</td>
                  <td>
                    <Age at={at} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div class="buttons">
        <p class="aside">
          The interface has no list of all batches. This browser keeps the IDs of those that you have opened, and
          nothing else of them.
        </p>
        <button
          type="button"
          onClick={() => {
            forget(tenant_id);
            setRecent([]);
          }}
        >
          Forget them
        </button>
      </div>
    </section>
  );
}
