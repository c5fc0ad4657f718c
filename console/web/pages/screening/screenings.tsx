// Finding screening batches: by what the interface lists them by, and those opened last in this browser.

import { useState } from "preact/hooks";
import { ApiError } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { Check, SearchField, SelectField } from "../../kit/fields.tsx";
import { formatCount, Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, navigate, pathTo, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { CreateDialog } from "./create.tsx";
import { defaults, type Fields, type Found, questionOf } from "./found.ts";
import { Opened } from "./opened.tsx";
import { isBatchId } from "./recent.ts";
import { BatchLink, madeBy, ScreeningBadge, SearchBadge } from "./statuses.tsx";

/** ways are the IDs by which batches are found, with what each finds. */
const ways: Record<string, { label: string; finds: string }> = {
  journey: { label: "Journey ID", finds: "Finds the newest batch of the journey" },
  entity: { label: "Legal entity ID", finds: "Finds all batches that have the entity" },
  batch: { label: "Batch ID", finds: "Finds this batch" },
};

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
        class="filters filters-start"
        role="search"
        aria-label="Which screening batches"
        onSubmit={(event) => event.preventDefault()}
      >
        <SelectField
          label="Find by"
          value={fields.by}
          onValue={(by) => change({ by, id: "" })}
          options={Object.entries(ways).map(([by, { label }]) => [by, label] as const)}
          hint={fields.by === "journey" && fields.process ? "Finds the active batch of both" : ways[fields.by]?.finds}
        />
        <SearchField
          label={ways[fields.by]?.label ?? "ID"}
          value={fields.id}
          onValue={(id) => change({ id: id.trim() })}
        />
        {fields.by === "journey" && (
          <SearchField
            label="Process ID (optional)"
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
      <Empty title="That is not the ID of a batch">
        <p>The ID of a batch looks like 0197b0c4-52a1-7c3e-9d2f-6a1b3c5d7e90.</p>
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
                  ? `The tenant has no screening batch of this journey${process && " and process"}.`
                  : by === "entity"
                    ? `The tenant has no screening batch with this entity${matched && " and a true match"}.`
                    : "The tenant has no screening batch with this ID."}
              </p>
            </Empty>
          ) : (
            <SmallTable label="Batches" columns={columnsOf(batches)} rows={batches} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <Commands curl={curl("GET", path)} />
    </>
  );
}

/** columnsOf leaves out the columns that no batch fills. */
function columnsOf(batches: readonly Found[]): readonly SmallColumn<Found>[] {
  const columns: (SmallColumn<Found> | false)[] = [
    batches.some(({ about }) => about) && {
      title: "About",
      anywhere: true,
      cell: ({ about }) => <bdi>{visible(about)}</bdi>,
    },
    { title: "Batch", cell: ({ id }) => <BatchLink id={id} /> },
    batches.some(({ batchType }) => batchType === "OngoingScreening") && {
      title: "Made by",
      cell: ({ batchType }) => madeBy(batchType),
    },
    { title: "Status", cell: ({ status }) => <ScreeningBadge status={status} /> },
    {
      title: "Searches",
      cell: ({ providers }) =>
        providers.map((run) => (
          <div key={run.id}>
            <SearchBadge run={run} />
          </div>
        )),
    },
    { title: "True matches", align: "end", cell: ({ trueMatches }) => formatCount(trueMatches) },
    batches.some(({ createdDate }) => createdDate) && {
      title: "Created",
      cell: ({ createdDate }) => <Time at={createdDate} form="short" />,
    },
    { title: "Closed", cell: ({ closedDate }) => <Time at={closedDate} form="short" /> },
  ];
  return columns.filter((column) => column !== false);
}
