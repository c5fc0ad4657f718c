// Documents of an entity or a journey, and the upload of new ones.

import { useEffect, useRef } from "preact/hooks";
import { addressOf, get, post, type Schemas } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Empty } from "../../kit/feedback.tsx";
import { SearchField, SelectField } from "../../kit/fields.tsx";
import { Age } from "../../kit/format.tsx";
import { Id } from "../../kit/ids.tsx";
import { OpenById, PagedCount, PagedTable } from "../../kit/listpage.tsx";
import { Page } from "../../kit/page.tsx";
import { usePages } from "../../kit/pages.ts";
import { Link, pathTo, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import type { Column } from "../../kit/table.tsx";
import { DocumentBadge, statusOptions } from "./state.tsx";
import { UploadForm } from "./uploadform.tsx";
import { useUploads } from "./uploads.ts";

type Listed = Pick<
  Schemas["Document"],
  "id" | "fileName" | "documentType" | "status" | "uploadedOn" | "isVirtual" | "entityId" | "journeyId"
>;
type StatusFilter = Schemas["DocumentStatusFilter"];

const prefix = "/documentmanagementquery/api/documentmanagement";
const pagesPath = `${prefix}/entity/paged/lite/v2` as const;
const pageSize = 200;

const columns: readonly Column<Listed>[] = [
  {
    key: "file",
    title: "File",
    width: "minmax(10rem, 3fr)",
    cell: (d) =>
      d.fileName === null ? (
        <span class="aside">Beyond this client's access layers</span>
      ) : (
        <bdi title={visible(d.fileName)}>{visible(d.fileName)}</bdi>
      ),
  },
  {
    key: "type",
    title: "Type",
    width: "minmax(7rem, 1fr)",
    narrow: false,
    cell: (d) => <bdi>{visible(d.documentType) || "–"}</bdi>,
  },
  { key: "status", title: "Status", width: "7.5rem", cell: (d) => <DocumentBadge status={d.status} /> },
  {
    key: "entity",
    title: "Entity",
    width: "minmax(7rem, 1fr)",
    narrow: false,
    cell: (d) => <Id id={d.entityId} />,
  },
  {
    key: "journey",
    title: "Journey",
    width: "minmax(7rem, 1fr)",
    narrow: false,
    cell: (d) => (d.journeyId ? <Id id={d.journeyId} /> : "–"),
  },
  {
    key: "uploaded",
    title: "Created",
    width: "5.5rem",
    align: "end",
    narrow: false,
    cell: (d) => <Age at={d.uploadedOn} isSentence />,
  },
];

/** DocumentsPage lists documents by entity, journey and status, which are in the address. */
export default function DocumentsPage() {
  const [{ entity, journey, status }, setQuery] = useQuery({ entity: "", journey: "", status: "" });
  const wanted = { entity: entity.trim(), journey: journey.trim(), status };
  const isAsked = wanted.entity !== "" || wanted.journey !== "";
  const documents = usePages<Listed>(isAsked ? JSON.stringify(wanted) : "", async (next, signal) => {
    if (wanted.journey === "") {
      const { data } = await post(pagesPath, {
        body: { data: { ...pageOf(wanted), paginationToken: next ?? null } },
        signal,
      });
      return { items: data.items as Listed[], next: data.nextPageToken };
    }
    const { data } =
      wanted.entity === ""
        ? await get(`${prefix}/journey/{journeyId}`, { path: { journeyId: wanted.journey }, signal })
        : await get(`${prefix}/entity/{entityId}/journey/{journeyId}`, {
            path: { entityId: wanted.entity, journeyId: wanted.journey },
            signal,
          });
    return { items: data.filter((d) => status === "" || d.status === status), next: null };
  });
  // The list follows the uploads of this page.
  const uploads = useUploads()
    .filter((u) => u.id && u.entityId === wanted.entity)
    .map((u) => `${u.id} ${u.state}`)
    .join();
  const shown = useRef(uploads);
  useEffect(() => {
    if (shown.current !== uploads) documents.reload();
    shown.current = uploads;
  }, [uploads]);
  return (
    <Page
      title="Documents"
      beside={<PagedCount pages={documents} noun="document" />}
      actions={
        isAsked && (
          <button type="button" onClick={documents.reload}>
            Load again
          </button>
        )
      }
    >
      <div class="filters">
        <SearchField label="ID of an entity" value={entity} onValue={(value) => setQuery({ entity: value })} />
        <SearchField label="ID of a journey" value={journey} onValue={(value) => setQuery({ journey: value })} />
        <SelectField
          label="Status"
          value={status}
          onValue={(value) => setQuery({ status: value }, { push: true })}
          options={statusOptions}
        />
        <OpenById label="ID of a document" to={(id) => pathTo("documents", id)} maxLength={36} />
      </div>
      {!isAsked ? (
        <Empty title="Which documents?">
          <p>
            Enter the ID of an entity or of a journey above, or open an <Link to="/entities">entity</Link>.
          </p>
        </Empty>
      ) : (
        <PagedTable
          label="Documents"
          pages={documents}
          columns={columns}
          rowKey={(d) => d.id}
          open={(d) => pathTo("documents", d.id)}
        >
          <Empty title="No document matches.">
            <p>Upload one below, or look for another entity or status.</p>
          </Empty>
        </PagedTable>
      )}
      {isAsked && <ListCommand wanted={wanted} />}
      <UploadForm key={`${wanted.entity} ${wanted.journey}`} entityId={wanted.entity} journeyId={wanted.journey} />
    </Page>
  );
}

interface Wanted {
  entity: string;
  journey: string;
  status: string;
}

function pageOf({ entity, status }: Wanted) {
  return { entityId: entity, pageSize, ...(status && { status: status as StatusFilter }) };
}

function ListCommand({ wanted }: { wanted: Wanted }) {
  const curl = useCurl();
  if (wanted.journey === "") {
    const status = wanted.status && ` --status ${wanted.status}`;
    return (
      <Commands
        cli={`sluice document list ${shellQuote(wanted.entity)}${status}`}
        curl={curl("POST", pagesPath, { data: pageOf(wanted) })}
      />
    );
  }
  const path = wanted.entity === "" ? "/journey/{journeyId}" : "/entity/{entityId}/journey/{journeyId}";
  return (
    <Commands curl={curl("GET", addressOf(prefix + path, { entityId: wanted.entity, journeyId: wanted.journey }))} />
  );
}
