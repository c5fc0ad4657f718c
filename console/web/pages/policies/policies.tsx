// The policies of the tenant: which fields the entities of each type have.

import { get, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { Age } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Badge, type Kind } from "../../kit/status.tsx";

type Policy = Schemas["Policy"];

const statusKinds: Record<string, Kind> = { Published: "ok", Draft: "info", Archived: "quiet" };

/** PolicyStatus shows the status of a version; null is a policy without a version. */
export function PolicyStatus({ status }: { status: string | null }) {
  return <Badge kind={statusKinds[status ?? ""] ?? "quiet"}>{status ?? "No version"}</Badge>;
}

/** PoliciesPage lists the policies. There is at most one for each type of entity, so the list is short. */
export default function PoliciesPage() {
  const policies = useResource("policies", (signal) => loadAll(signal));
  const curl = useCurl();
  return (
    <Page title="Policies">
      <Loaded resource={policies} lines={5}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No policy yet">
              <p>
                A policy says which fields entities of a type have, and which conditions decide them. It is written in a
                file and imported:
              </p>
              <Commands
                cli="sluice policy import sampledata/policies/company.yaml --publish"
                does="import the example"
              />
            </Empty>
          ) : (
            <SmallTable label="Policies" columns={columns} rows={all} rowKey={(p) => p.entityPolicyId} />
          )
        }
      </Loaded>
      <Commands cli="sluice policy list" curl={curl("GET", "/policyquery/api/v4/policies")} />
    </Page>
  );
}

async function loadAll(signal: AbortSignal): Promise<Policy[]> {
  const all: Policy[] = [];
  for (let token: string | null | undefined; ;) {
    const page: { data: Schemas["PolicyPage"] } = await get("/policyquery/api/v4/policies", {
      query: { PageSize: 100, ...(token && { PaginationToken: token }) },
      signal,
    });
    all.push(...page.data.items);
    token = page.data.paginationToken;
    if (!token) return all;
  }
}

const columns: readonly SmallColumn<Policy>[] = [
  {
    title: "For entities",
    cell: (p) => <Link to={pathTo("policies", p.entityPolicyId)}>{visible(p.entityType)}</Link>,
  },
  { title: "Status", cell: (p) => <PolicyStatus status={p.status} /> },
  { title: "Published version", align: "end", cell: (p) => p.publishedVersionNumber ?? "none" },
  { title: "Published", cell: (p) => <Age at={p.lastPublishedOn} isSentence /> },
  { title: "Notes", anywhere: true, cell: (p) => visible(p.versionNotes) },
];
