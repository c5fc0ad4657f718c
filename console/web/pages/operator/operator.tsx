// What operators of the cloud see: tenants, clients and keys, without secrets. It can only be read; sluice admin
// changes it.

import { send } from "../../kit/api.ts";
import { Commands } from "../../kit/commands.tsx";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { SearchField } from "../../kit/fields.tsx";
import { counted, Time } from "../../kit/format.tsx";
import { Id } from "../../kit/ids.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { useSession } from "../../kit/session.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Badge } from "../../kit/status.tsx";
import { type Column, Table } from "../../kit/table.tsx";

interface Tenant {
  tenant_id: string;
  batch_enabled: boolean;
  created_at: string;
}

interface Client {
  client_id: string;
  tenant_id: string;
  permissions: string[] | null;
  disabled: boolean;
  created_at: string;
}

interface Key {
  kid: string;
  active_from: string;
  retire_at?: string;
  kms_key?: string;
}

/** OperatorPage shows the three lists. */
export default function OperatorPage() {
  const { is_operator } = useSession();
  if (!is_operator) {
    return (
      <Page title="Operator">
        <Empty title="The console has no credentials of the cloud.">
          <p>
            Start it with --operator where the AWS command line works for the account, to see tenants, clients and keys.
          </p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Operator">
      <Lists />
    </Page>
  );
}

function Lists() {
  const [{ q }, setQuery] = useQuery({ q: "" });
  const tenants = useResource(
    "tenants",
    (signal) => send("get", "/console/operator/tenants", { signal }) as Promise<{ tenants: Tenant[] | null }>,
    { every: 30_000 },
  );
  const clients = useResource(
    "clients",
    (signal) => send("get", "/console/operator/clients", { signal }) as Promise<{ clients: Client[] | null }>,
    { every: 30_000 },
  );
  const keys = useResource(
    "keys",
    (signal) =>
      send("get", "/console/operator/keys", { signal }) as Promise<{
        access_tokens: Key[] | null;
        receipts: Key[] | null;
      }>,
    { every: 30_000 },
  );
  const matches = (...texts: string[]) => texts.some((text) => text.toLowerCase().includes(q.trim().toLowerCase()));
  return (
    <>
      <SearchField label="Find a tenant or client" value={q} onValue={(value) => setQuery({ q: value })} />
      <section class="stack" aria-labelledby="tenants">
        <h2 id="tenants">Tenants</h2>
        <Loaded resource={tenants} lines={6}>
          {({ tenants }) => {
            const rows = (tenants ?? []).filter((t) => matches(t.tenant_id));
            return rows.length === 0 ? (
              <Empty title="No tenant matches." />
            ) : (
              <div class="short-table">
                <Table
                  label={counted(rows.length, "tenant")}
                  columns={tenantColumns}
                  rows={rows}
                  rowKey={(t) => t.tenant_id}
                />
              </div>
            );
          }}
        </Loaded>
        <Commands cli="sluice admin tenant list" />
      </section>
      <section class="stack" aria-labelledby="clients">
        <h2 id="clients">Clients</h2>
        <Loaded resource={clients} lines={6}>
          {({ clients }) => {
            const rows = (clients ?? []).filter((c) => matches(c.client_id, c.tenant_id));
            return rows.length === 0 ? (
              <Empty title="No client matches." />
            ) : (
              <div class="short-table">
                <Table
                  label={counted(rows.length, "client")}
                  columns={clientColumns}
                  rows={rows}
                  rowKey={(c) => c.client_id}
                />
              </div>
            );
          }}
        </Loaded>
        <Commands cli="sluice admin client list" />
      </section>
      <section class="stack" aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <Loaded resource={keys} lines={4}>
          {({ access_tokens, receipts }) => (
            <div class="panels">
              <KeyTable title="Keys for access tokens" keys={access_tokens ?? []} />
              <KeyTable title="Keys for receipts" keys={receipts ?? []} />
            </div>
          )}
        </Loaded>
        <Commands cli={"sluice admin key list\nsluice admin key list --receipts"} />
      </section>
    </>
  );
}

const tenantColumns: readonly Column<Tenant>[] = [
  {
    key: "id",
    title: "Tenant",
    width: "minmax(12rem, 3fr)",
    cell: (t) => <Id id={t.tenant_id} />,
  },
  {
    key: "batch",
    title: "Batches",
    width: "7rem",
    cell: (t) => <Badge kind={t.batch_enabled ? "ok" : "quiet"}>{t.batch_enabled ? "Enabled" : "Disabled"}</Badge>,
  },
  {
    key: "created",
    title: "Created",
    width: "10rem",
    narrow: false,
    cell: (t) => <Time at={t.created_at} form="short" />,
  },
];

const clientColumns: readonly Column<Client>[] = [
  {
    key: "id",
    title: "Client",
    width: "minmax(9rem, 2fr)",
    cell: (c) => <Id id={c.client_id} />,
  },
  {
    key: "tenant",
    title: "Tenant",
    width: "minmax(9rem, 2fr)",
    narrow: false,
    cell: (c) => <Id id={c.tenant_id} />,
  },
  {
    key: "permissions",
    title: "Permissions",
    width: "minmax(8rem, 2fr)",
    narrow: false,
    cell: (c) => <span title={(c.permissions ?? []).join(", ")}>{(c.permissions ?? []).join(", ")}</span>,
  },
  {
    key: "state",
    title: "State",
    width: "6rem",
    cell: (c) => <Badge kind={c.disabled ? "bad" : "ok"}>{c.disabled ? "Disabled" : "Enabled"}</Badge>,
  },
  {
    key: "created",
    title: "Created",
    width: "10rem",
    narrow: false,
    cell: (c) => <Time at={c.created_at} form="short" />,
  },
];

const keyColumns: readonly SmallColumn<Key>[] = [
  { title: "Key", mono: true, anywhere: true, cell: ({ kid }) => visible(kid) },
  { title: "Signs from", cell: (key) => <Time at={key.active_from} form="short" /> },
  { title: "Retires", cell: (key) => <Time at={key.retire_at} form="short" /> },
];

function KeyTable({ title, keys }: { title: string; keys: readonly Key[] }) {
  return (
    <div class="panel">
      <h3>{title}</h3>
      {keys.length === 0 ? (
        <p>There is no key. One is made when it is first needed.</p>
      ) : (
        <SmallTable label={title} columns={keyColumns} rows={keys} rowKey={({ kid }) => kid} />
      )}
    </div>
  );
}
