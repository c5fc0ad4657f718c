// A document: what is known of it, its scan, and what can be done with it.

import { useEffect, useState } from "preact/hooks";
import { addressOf, get } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { FieldTable } from "../../kit/compare.tsx";
import { Loaded, Notice } from "../../kit/feedback.tsx";
import { Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link, type Parameters, pathTo } from "../../kit/router.tsx";
import { safeHref, visible } from "../../kit/safe.ts";
import { fieldsOf } from "../entities/fields.ts";
import { DocumentActions } from "./actions.tsx";
import { Download } from "./download.tsx";
import { describeDocumentStatus, type Document, DocumentBadge } from "./state.tsx";

const path = "/documentmanagementquery/api/documentmanagement/{id}";

/** DocumentPage shows the document of the address, and follows it while its file is scanned. */
export default function DocumentPage({ parameters }: { parameters: Parameters }) {
  const id = parameters.id!;
  const curl = useCurl();
  const [isScanned, setScanned] = useState(true);
  const document = useResource(`document ${id}`, async (signal) => (await get(path, { path: { id }, signal })).data, {
    every: isScanned ? 30_000 : 1_500,
  });
  const value = document.value;
  useEffect(() => setScanned(value !== undefined && value.status !== "Processing"), [value?.status]);
  return (
    <Page title={value ? (value.fileName ?? id) : id} beside={value && <DocumentBadge status={value.status} />}>
      <Loaded resource={document} lines={14}>
        {(d) => (
          <>
            {!d.hasRequiredAccessLayers && (
              <Notice kind="warn">
                The access layers of this client do not reach the document. Its name and content are not shown, and it
                cannot be changed.
              </Notice>
            )}
            <Outcome document={d} />
            <Download document={d} />
            <Facts document={d} />
            <DocumentActions document={d} onChange={document.reload} />
            <Properties document={d} />
          </>
        )}
      </Loaded>
      <Commands cli={`sluice document show ${shellQuote(id)}`} curl={curl("GET", addressOf(path, { id }))} />
    </Page>
  );
}

/** Outcome says what the status means, and why it is one of failure. */
function Outcome({ document: d }: { document: Document }) {
  const { means, kind } = describeDocumentStatus(d.status);
  return (
    <div role="status" class={`notice notice-${kind === "quiet" ? "info" : kind}`}>
      <div>
        <p>
          {d.status}: {means}
        </p>
        {(d.errorCode || d.errorMessage) && <p>{visible([d.errorCode, d.errorMessage].filter(Boolean).join(": "))}</p>}
        {d.explanation && <p>{visible(d.explanation)}</p>}
        {d.archivalReason && (
          <p>
            Archived because: <bdi>{visible(d.archivalReason)}</bdi>
          </p>
        )}
      </div>
    </div>
  );
}

function Facts({ document: d }: { document: Document }) {
  const address = d.documentURL === null ? undefined : safeHref(d.documentURL);
  const text = (value: string | null | undefined) => (value ? <bdi>{visible(value)}</bdi> : "–");
  return (
    <section class="panel" aria-label="Facts">
      <dl class="facts">
        <div>
          <dt>ID</dt>
          <dd class="mono">{d.id}</dd>
        </div>
        <div>
          <dt>{d.documentEntityType.name}</dt>
          <dd class="mono">
            {d.documentEntityType.name === "Entity" ? (
              <Link to={pathTo("entities", d.entityId)}>{visible(d.entityId)}</Link>
            ) : (
              visible(d.entityId)
            )}
          </dd>
        </div>
        <div>
          <dt>Journey</dt>
          <dd class="mono">{text(d.journeyId)}</dd>
        </div>
        <div>
          <dt>Type of document</dt>
          <dd>{text(d.documentType)}</dd>
        </div>
        <div>
          <dt>Friendly name</dt>
          <dd>{text(d.friendlyName)}</dd>
        </div>
        <div>
          <dt>Data key</dt>
          <dd>{text(d.documentDataKey)}</dd>
        </div>
        {d.documentRequirementIds.length > 0 && (
          <div>
            <dt>Requirements</dt>
            <dd>{text(d.documentRequirementIds.join(", "))}</dd>
          </div>
        )}
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={d.uploadedOn} form="both" />
            <div class="aside">by {visible(d.uploadedByUserName)}</div>
          </dd>
        </div>
        <div>
          <dt>Changed</dt>
          <dd>
            <Time at={d.lastUpdatedOn} form="both" />
            <div class="aside">by {visible(d.lastUpdatedBy)}</div>
          </dd>
        </div>
        <div>
          <dt>Access layers</dt>
          <dd>{visible([...d.accessLayers.geographic, ...d.accessLayers.businessRelated].join(", "))}</dd>
        </div>
        {d.clonedFromDocumentModelId && (
          <div>
            <dt>Cloned from</dt>
            <dd class="mono">
              <Link to={pathTo("documents", d.clonedFromDocumentModelId)}>{d.clonedFromDocumentModelId}</Link>
            </dd>
          </div>
        )}
        {d.documentURL && (
          <div>
            <dt>Address</dt>
            <dd>
              {address ? (
                <a href={address} target="_blank" rel="noopener noreferrer">
                  {visible(d.documentURL)}
                </a>
              ) : (
                visible(d.documentURL)
              )}
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Properties({ document: d }: { document: Document }) {
  const fields = [
    ...fieldsOf(d.properties ?? {}),
    ...Object.entries(d.metadata ?? {}).map(([key, value]) => ({ path: `metadata.${key}`, text: String(value) })),
  ];
  if (fields.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="properties">
      <h2 id="properties">Properties and metadata</h2>
      <FieldTable label="Values of properties and metadata" fields={fields} />
    </section>
  );
}
