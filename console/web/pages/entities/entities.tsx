// The tenant's entities by name, and the creation of one.

import { useState } from "preact/hooks";
import { addressOf, get, type Schemas } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Empty } from "../../kit/feedback.tsx";
import { SearchField, SelectField } from "../../kit/fields.tsx";
import { Id } from "../../kit/ids.tsx";
import { OpenById, PagedCount, PagedTable } from "../../kit/listpage.tsx";
import { Page } from "../../kit/page.tsx";
import { usePages } from "../../kit/pages.ts";
import { pathTo, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import type { Column } from "../../kit/table.tsx";
import { CreateEntity } from "./create.tsx";
import { EntityBadge, statusOptions } from "./state.tsx";

type Listed = Schemas["ListedEntity"];
type Status = Schemas["LifecycleStatus"];

const path = "/entitydataquery/api/v2/entity";
const pageSize = 200;

const columns: readonly Column<Listed>[] = [
  {
    key: "name",
    title: "Name",
    width: "minmax(10rem, 1fr)",
    cell: (e) =>
      e.name ? (
        <bdi title={visible(e.name)}>{visible(e.name)}</bdi>
      ) : (
        <>
          <span class="aside cell-wide-only">No name</span>
          <span class="narrow-only">
            <Id id={e.id} />
          </span>
        </>
      ),
  },
  { key: "status", title: "Status", width: "8.5rem", cell: (e) => <EntityBadge status={e.lifecycleStatus} /> },
  { key: "type", title: "Type", width: "7rem", narrow: false, cell: (e) => e.type || "–" },
  { key: "version", title: "Version", width: "4.5rem", align: "end", narrow: false, cell: (e) => e.version },
  {
    key: "id",
    title: "ID",
    width: "minmax(9rem, 17.5rem)",
    narrow: false,
    cell: (e) => <Id id={e.id} />,
  },
];

/** EntitiesPage lists entities; the name's beginning and the status are in the address. */
export default function EntitiesPage() {
  const [{ name, status }, setQuery] = useQuery({ name: "", status: "" });
  const [creating, setCreating] = useState(false);
  const curl = useCurl();
  const query = { ...(name.trim() && { name: name.trim() }), ...(status && { status: status as Status }) };
  const entities = usePages(`${name.trim()}\n${status}`, async (paginationToken, signal) => {
    const { data } = await get(path, {
      query: { ...query, pageSize, ...(paginationToken && { paginationToken }) },
      signal,
    });
    return { items: data.items, next: data.paginationToken };
  });
  const isFiltered = name.trim() !== "" || status !== "";
  return (
    <Page
      title="Entities"
      beside={<PagedCount pages={entities} noun="entity" plural="entities" />}
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create an entity
        </button>
      }
    >
      <div class="filters">
        <SearchField label="Name begins with" value={name} onValue={(value) => setQuery({ name: value })} />
        <SelectField
          label="Status"
          value={status}
          onValue={(value) => setQuery({ status: value }, { push: true })}
          options={statusOptions}
        />
        <OpenById label="ID of an entity" to={(id) => pathTo("entities", id)} maxLength={255} />
      </div>
      <PagedTable
        label="Entities"
        pages={entities}
        columns={columns}
        rowKey={(e) => e.id}
        open={(e) => pathTo("entities", e.id)}
      >
        <None isFiltered={isFiltered} />
      </PagedTable>
      <Commands cli={cliOf(query)} curl={curl("GET", addressOf(path, {}, { ...query, pageSize }))} />
      <CreateEntity open={creating} onClose={() => setCreating(false)} onCreated={entities.reload} />
    </Page>
  );
}

/** cliOf returns the command that lists the same entities. */
function cliOf(query: { name?: string; status?: string }): string {
  const words = Object.entries(query).map(([name, value]) => ` --${name} ${shellQuote(value)}`);
  return `sluice entity list${words.join("")}`;
}

function None({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No entity matches.">
        <p>Names are compared from their beginning, in any case.</p>
      </Empty>
    );
  return (
    <Empty title="No entity yet">
      <p>Entities are the customers that transactions name. Create one here, or have an operator import many:</p>
      <pre class="excerpt" tabIndex={0}>
        sluice admin entities import FILE
      </pre>
    </Empty>
  );
}
