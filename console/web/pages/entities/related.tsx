// What belongs to an entity elsewhere: its documents and the screenings that it was in.

import { type Answer, addressOf, get, post, type Schemas } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Loaded } from "../../kit/feedback.tsx";
import { Age, counted, Time } from "../../kit/format.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Badge } from "../../kit/status.tsx";
import { DocumentBadge } from "../documents/state.tsx";

const documentsPath = "/documentmanagementquery/api/documentmanagement/entity/paged/lite/v2";
const screeningsPath = "/screeningquery/api/v4/batch/legalentity/{legalEntityId}";

type ListedDocument = Pick<Schemas["Document"], "id" | "fileName" | "documentType" | "status" | "uploadedOn">;

const documentColumns: readonly SmallColumn<ListedDocument>[] = [
  {
    title: "File",
    anywhere: true,
    cell: ({ id, fileName }) => (
      <Link to={pathTo("documents", id)}>
        <bdi>{visible(fileName ?? "Beyond the access layers of this client")}</bdi>
      </Link>
    ),
  },
  { title: "Type", anywhere: true, cell: ({ documentType }) => visible(documentType) || "–" },
  { title: "Status", cell: ({ status }) => <DocumentBadge status={status} /> },
  { title: "Created", cell: ({ uploadedOn }) => <Age at={uploadedOn} isSentence /> },
];

/** Documents lists the first documents of an entity. */
export function Documents({ entityId }: { entityId: string }) {
  const body = { data: { entityId, pageSize: 10, additionalColumns: ["friendlyName" as const] } };
  const documents = useResource(
    `documents ${entityId}`,
    async (signal) => (await post(documentsPath, { body, signal })).data,
  );
  const all = `/documents?${new URLSearchParams({ entity: entityId })}`;
  const curl = useCurl();
  return (
    <section class="stack" aria-labelledby="documents">
      <h2 id="documents">Documents</h2>
      <Loaded resource={documents} lines={4}>
        {({ items, hasMoreItems }) => (
          <>
            {items.length > 0 && (
              <SmallTable label="List of documents" columns={documentColumns} rows={items} rowKey={({ id }) => id} />
            )}
            <p>
              {items.length === 0 ? "The entity has no documents. " : ""}
              <Link to={all}>
                {items.length === 0
                  ? "Upload documents of this entity"
                  : hasMoreItems
                    ? "All documents of this entity"
                    : "Upload or search documents of this entity"}
              </Link>
            </p>
          </>
        )}
      </Loaded>
      <Commands cli={`sluice document list ${shellQuote(entityId)}`} curl={curl("POST", documentsPath, body)} />
    </section>
  );
}

const screeningColumns: readonly SmallColumn<Answer<typeof screeningsPath, "get">["data"][number]>[] = [
  {
    title: "Batch",
    mono: true,
    cell: ({ batchId }) => <Link to={pathTo("screening", batchId)}>{batchId}</Link>,
  },
  {
    title: "Status",
    cell: ({ batchStatus }) => <Badge kind={batchStatus === "Open" ? "info" : "quiet"}>{batchStatus}</Badge>,
  },
  { title: "Closed", cell: ({ batchClosedDate }) => <Time at={batchClosedDate} /> },
  {
    title: "Matches",
    cell: ({ materialMatchesCount: n }) => (n === 0 ? "none" : counted(n, "match", "matches")),
  },
];

/** Screenings lists the batches of screening that have an entity. */
export function Screenings({ entityId }: { entityId: string }) {
  const screenings = useResource(
    `screenings ${entityId}`,
    async (signal) => (await get(screeningsPath, { path: { legalEntityId: entityId }, signal })).data,
  );
  const curl = useCurl();
  return (
    <section class="stack" aria-labelledby="screenings">
      <h2 id="screenings">Screenings</h2>
      <Loaded resource={screenings} lines={3}>
        {(batches) =>
          batches.length === 0 ? (
            <p>
              The entity was in no screening batch. <Link to="/screening">Screening</Link>
            </p>
          ) : (
            <>
              <SmallTable
                label="List of screenings"
                columns={screeningColumns}
                rows={batches.slice(0, 100)}
                rowKey={({ batchId }) => batchId}
              />
              {batches.length > 100 && (
                <p class="aside">The latest 100 of {counted(batches.length, "batch", "batches")}.</p>
              )}
            </>
          )
        }
      </Loaded>
      <Commands curl={curl("GET", addressOf(screeningsPath, { legalEntityId: entityId }))} />
    </section>
  );
}
