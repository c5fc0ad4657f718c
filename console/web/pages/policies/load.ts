// Reading policies: whole lists, page by page.

import { get, post, type Schemas } from "../../kit/api.ts";

export type Policy = Schemas["Policy"];
export type PolicyField = Schemas["PolicyField"];

/** loadSummary reads a policy with its numbers of fields. */
export async function loadSummary(id: string, signal: AbortSignal): Promise<Schemas["PolicySummary"]> {
  return (await get("/policyquery/api/v4/policies/{entityPolicyId}/summary", { path: { entityPolicyId: id }, signal }))
    .data;
}

/** loadVersions reads all versions of a policy, newest first. */
export async function loadVersions(id: string, signal: AbortSignal): Promise<Policy[]> {
  const all: Policy[] = [];
  for (let token: string | null | undefined; ;) {
    const page: { data: Schemas["PolicyPage"] } = await get("/policyquery/api/v4/policies/{entityPolicyId}/versions", {
      path: { entityPolicyId: id },
      query: { PageSize: 100, ...(token && { PaginationToken: token }) },
      signal,
    });
    all.push(...page.data.items);
    token = page.data.paginationToken;
    if (!token) return all.sort((a, b) => (b.versionNumber ?? 0) - (a.versionNumber ?? 0));
  }
}

/** loadFields reads all fields of a version, in their order. */
export async function loadFields(id: string, version: number, signal: AbortSignal): Promise<PolicyField[]> {
  const all: PolicyField[] = [];
  for (let token: string | null | undefined; ;) {
    const page: { data: Schemas["PolicyFieldPage"] } = await post(
      "/policyquery/api/v4/policies/{entityPolicyId}/version/{versionNumber}/fields",
      {
        path: { entityPolicyId: id, versionNumber: version },
        body: { data: { pageSize: 100, ...(token && { paginationToken: token }) } },
        signal,
      },
    );
    all.push(...page.data.items);
    token = page.data.paginationToken;
    if (!token) return all.sort((a, b) => Number(a.order) - Number(b.order));
  }
}
