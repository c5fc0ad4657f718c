// One policy: its versions, the fields of one, how two differ, and what an entity makes of one.

import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { SelectField } from "../../kit/fields.tsx";
import { formatCount, Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { BackLink, type Parameters, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Differences } from "./differences.tsx";
import { Evaluation } from "./evaluation.tsx";
import { FieldTable } from "./fields.tsx";
import { loadSummary, loadVersions, type Policy } from "./load.ts";
import { PolicyStatus } from "./policies.tsx";

type View = "fields" | "differences" | "evaluate";

/** PolicyPage shows a policy. The address holds the version, what is shown of it, and the version beside it. */
export default function PolicyPage({ parameters }: { parameters: Parameters }) {
  const id = parameters.id!;
  const policy = useResource(`${id} summary`, (signal) => loadSummary(id, signal));
  const versions = useResource(`${id} versions`, (signal) => loadVersions(id, signal));
  return (
    <Page
      title={policy.value ? `Policy for ${policy.value.entityType}` : "Policy"}
      beside={<BackLink to="/policies">All policies</BackLink>}
    >
      <Loaded resource={policy} lines={4}>
        {(summary) => (
          <dl class="facts panel">
            <div>
              <dt>Status</dt>
              <dd>
                <PolicyStatus status={summary.status} />
              </dd>
            </div>
            <div>
              <dt>Published version</dt>
              <dd>{summary.publishedVersionNumber ?? "none"}</dd>
            </div>
            <div>
              <dt>Published</dt>
              <dd>
                <Time at={summary.lastPublishedOn} form="both" />
              </dd>
            </div>
            <div>
              <dt>Fields</dt>
              <dd>{formatCount(summary.fieldsCount)}</dd>
            </div>
            <div>
              <dt>Jurisdictions</dt>
              <dd>{formatCount(summary.jurisdictionsCount)}</dd>
            </div>
            <div>
              <dt>Drafts</dt>
              <dd>
                {summary.drafts.map((d) => `${visible(d.workspaceId)} (version ${d.versionNumber})`).join(", ") ||
                  "none"}
              </dd>
            </div>
          </dl>
        )}
      </Loaded>
      <Loaded resource={versions} lines={6}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="The policy has no version.">
              <p>
                Create a draft and publish it: <code>sluice policy import FILE --publish</code>
              </p>
            </Empty>
          ) : (
            <Versions id={id} versions={all} entityType={policy.value?.entityType ?? ""} />
          )
        }
      </Loaded>
    </Page>
  );
}

const views: readonly (readonly [View, string])[] = [
  ["fields", "Fields"],
  ["differences", "Differences"],
  ["evaluate", "Evaluate an entity"],
];

function Versions({ id, versions, entityType }: { id: string; versions: readonly Policy[]; entityType: string }) {
  const [{ version, view, beside }, setQuery] = useQuery({ version: "", view: "fields", beside: "" });
  const curl = useCurl();
  const newest = versions.find((v) => v.status === "Published") ?? versions[0]!;
  const number = Number(version) || newest.versionNumber || 1;
  const before = Number(beside) || versions.find((v) => (v.versionNumber ?? 0) < number)?.versionNumber || 0;
  const options = versions.map(
    (v) =>
      [
        String(v.versionNumber),
        `${v.versionNumber} · ${v.status}${v.status === "Draft" ? ` in ${visible(v.workspaceId ?? "")}` : ""}`,
      ] as const,
  );
  const chosen = versions.find((v) => v.versionNumber === number);
  const versionOf = (n: number) => shellQuote(`${entityType || id}@${n}`);
  return (
    <>
      <div class="filters">
        <SelectField
          label="Version"
          value={String(number)}
          onValue={(value) => setQuery({ version: value }, { push: true })}
          options={options}
        />
        <SelectField
          label="Show"
          value={view}
          onValue={(value) => setQuery({ view: value }, { push: true })}
          options={views}
        />
        {view === "differences" && (
          <SelectField
            label="Compared with"
            value={String(before)}
            onValue={(value) => setQuery({ beside: value }, { push: true })}
            options={[["0", "nothing"], ...options]}
          />
        )}
      </div>
      {chosen?.archiveReason && <p class="aside">Archived: {visible(chosen.archiveReason)}</p>}
      {chosen?.versionNotes && <p>{visible(chosen.versionNotes)}</p>}
      {view === "fields" && <FieldTable policyId={id} version={number} />}
      {view === "differences" && <Differences policyId={id} version={number} before={before} />}
      {view === "evaluate" && <Evaluation policyId={id} version={number} />}
      {view === "fields" && (
        <Commands
          cli={`sluice policy export ${versionOf(number)}`}
          curl={curl("POST", `/policyquery/api/v4/policies/${id}/version/${number}/fields`, {
            data: { pageSize: 100 },
          })}
        />
      )}
      {view === "differences" && (
        <Commands
          cli={before > 0 ? `sluice policy diff ${versionOf(before)} ${versionOf(number)}` : undefined}
          curl={[before, number]
            .filter((n) => n > 0)
            .map((n) =>
              curl("POST", `/policyquery/api/v4/policies/${id}/version/${n}/fields`, { data: { pageSize: 100 } }),
            )
            .join("\n")}
        />
      )}
    </>
  );
}
