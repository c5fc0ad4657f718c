// What a batch was begun with.

import type { Schemas } from "../../kit/api.ts";
import { formatBytes, Time } from "../../kit/format.tsx";
import { visible } from "../../kit/safe.ts";
import { useSession } from "../../kit/session.ts";
import { type BatchRecord, type BatchReply, createdAt } from "../batches/record.tsx";

/** Known is what is known of a batch; undefined while that is little. */
type Known = BatchRecord | Schemas["BatchStatus"];

/** Facts shows the name, the options and the metadata of a batch. */
export function Facts({ id, reply, batch }: { id: string; reply: BatchReply; batch: Known | undefined }) {
  const { client_id: own } = useSession();
  const metadata = Object.entries(reply.metadata ?? {});
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 id="facts">Options of the upload</h2>
      <dl class="facts">
        <div>
          <dt>Name</dt>
          <dd>{reply.name ? <bdi>{visible(reply.name)}</bdi> : "none"}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={batch?.created_at ?? createdAt(id)} />
          </dd>
        </div>
        {batch && (
          <>
            <div>
              <dt>Client</dt>
              <dd>
                <code data-volatile>{visible(batch.client_id)}</code>
                {batch.client_id === own && <span class="aside"> (this one)</span>}
              </dd>
            </div>
            <div>
              <dt>Invalid lines</dt>
              <dd>{ruleOf(batch)}</dd>
            </div>
            <div>
              <dt>Dry run</dt>
              <dd>{batch.validate_only ? "yes: nothing is stored" : "no: what is accepted is stored"}</dd>
            </div>
            <div>
              <dt>File</dt>
              <dd>
                {batch.bytes_total === null ? "not uploaded yet" : formatBytes(batch.bytes_total)}
                {packingOf(batch.content_encoding)}
              </dd>
            </div>
          </>
        )}
      </dl>
      <h3>Metadata</h3>
      {metadata.length === 0 ? (
        <p class="aside">none</p>
      ) : (
        <dl class="facts">
          {metadata.map(([key, value]) => (
            <div key={key}>
              <dt>{visible(key)}</dt>
              <dd>
                <bdi>{visible(value)}</bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function packingOf(encoding: string | null): string {
  if (encoding === null) return "";
  return encoding === "identity" ? ", not packed" : `, packed with ${encoding}`;
}

/** ruleOf says what becomes of a batch that has invalid lines. */
function ruleOf({
  reject_on_invalid: rejects,
  max_rejected: most,
}: {
  reject_on_invalid: boolean;
  max_rejected: number | string | null;
}): string {
  if (most !== null) return `up to ${most} are dropped; more reject the batch`;
  return rejects ? "one rejects the whole batch" : "dropped; the others are stored";
}
