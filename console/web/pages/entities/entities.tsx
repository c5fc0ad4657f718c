// The tenant's entities by name, and the creation of one.

import { useState } from "preact/hooks";
import { addressOf, get, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, ErrorNotice, Live, Skeleton } from "../../kit/feedback.tsx";
import { SearchField, SelectField, TextField } from "../../kit/fields.tsx";
import { counted } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { usePages } from "../../kit/pages.ts";
import { navigate, pathTo, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
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
    width: "minmax(10rem, 3fr)",
    cell: (e) => <bdi title={e.name}>{visible(e.name) || <span class="aside">No name</span>}</bdi>,
  },
  { key: "status", title: "Status", width: "8.5rem", cell: (e) => <EntityBadge status={e.lifecycleStatus} /> },
  { key: "type", title: "Type", width: "7rem", narrow: false, cell: (e) => e.type || "–" },
  { key: "version", title: "Version", width: "4.5rem", align: "end", narrow: false, cell: (e) => e.version },
  {
    key: "id",
    title: "ID",
    width: "minmax(9rem, 2fr)",
    narrow: false,
    cell: (e) => (
      <span class="mono" title={e.id}>
        {visible(e.id)}
      </span>
    ),
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
  const { items, isComplete } = entities;
  const isFiltered = name.trim() !== "" || status !== "";
  const count = items && `${counted(items.length, "entity", "entities")}${isComplete ? "" : " so far"}`;
  return (
    <Page
      title="Entities"
      beside={<span class="aside tabular">{count}</span>}
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
        <GoTo />
      </div>
      {count && <Live text={count} />}
      {entities.error && <ErrorNotice error={entities.error} retry={items ? entities.more : entities.reload} />}
      {!items ? (
        !entities.error && <Skeleton lines={12} />
      ) : items.length === 0 ? (
        <None isFiltered={isFiltered} />
      ) : (
        <Table
          label="Entities"
          columns={columns}
          rows={items}
          rowKey={(e) => e.id}
          open={(e) => pathTo("entities", e.id)}
          onEnd={entities.error ? undefined : entities.more}
        />
      )}
      <Commands curl={curl("GET", addressOf(path, {}, { ...query, pageSize }))} />
      <CreateEntity open={creating} onClose={() => setCreating(false)} onCreated={entities.reload} />
    </Page>
  );
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

/** GoTo opens an entity by its ID, which the list is not searched by. */
function GoTo() {
  const [id, setId] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim()) navigate(pathTo("entities", id.trim()));
      }}
    >
      <TextField label="Open by ID (Enter)" value={id} onValue={setId} maxLength={255} />
    </form>
  );
}
