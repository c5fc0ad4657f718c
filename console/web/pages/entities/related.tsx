// What belongs to an entity elsewhere: its documents and the screenings that it was in.

import { addressOf, get, post } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Loaded } from "../../kit/feedback.tsx";
import { Age, counted, Time } from "../../kit/format.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Badge } from "../../kit/status.tsx";
import { DocumentBadge } from "../documents/state.tsx";

const documentsPath = "/documentmanagementquery/api/documentmanagement/entity/paged/lite/v2";
const screeningsPath = "/screeningquery/api/v4/batch/legalentity/{legalEntityId}";

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
              <div class="scroll-x" tabIndex={0} role="region" aria-label="List of documents">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">File</th>
                      <th scope="col">Type</th>
                      <th scope="col">Status</th>
                      <th scope="col">Uploaded</th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((item) => (
                      <tr key={item.id}>
                        <td class="anywhere">
                          <Link to={pathTo("documents", item.id)}>
                            <bdi>{visible(item.fileName ?? "Beyond the access layers of this client")}</bdi>
                          </Link>
                        </td>
                        <td class="anywhere">{visible(item.documentType) || "–"}</td>
                        <td>
                          <DocumentBadge status={item.status} />
                        </td>
                        <td>
                          <Age at={item.uploadedOn} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
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
      <Commands curl={curl("POST", documentsPath, body)} />
    </section>
  );
}

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
            <div class="scroll-x" tabIndex={0} role="region" aria-label="List of screenings">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Batch</th>
                    <th scope="col">Status</th>
                    <th scope="col">Closed</th>
                    <th scope="col">Matches</th>
                  </tr>
                </thead>
                <tbody>
                  {batches.slice(0, 100).map((batch) => (
                    <tr key={batch.batchId}>
                      <td>
                        <Link to={pathTo("screening", batch.batchId)}>
                          <span class="mono">{batch.batchId}</span>
                        </Link>
                      </td>
                      <td>
                        <Badge kind={batch.batchStatus === "Open" ? "info" : "quiet"}>{batch.batchStatus}</Badge>
                      </td>
                      <td>
                        <Time at={batch.batchClosedDate} />
                      </td>
                      <td>
                        {batch.materialMatchesCount === 0
                          ? "none"
                          : counted(batch.materialMatchesCount, "match", "matches")}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {batches.length > 100 && (
                <p class="aside">The latest 100 of {counted(batches.length, "batch", "batches")}.</p>
              )}
            </div>
          )
        }
      </Loaded>
      <Commands curl={curl("GET", addressOf(screeningsPath, { legalEntityId: entityId }))} />
    </section>
  );
}
