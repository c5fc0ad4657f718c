// The latest batches: their states, those that run or wait, and the newest ones.

import { Bars } from "../../kit/chart.tsx";
import { Age, counted, formatCount } from "../../kit/format.tsx";
import { Meter } from "../../kit/meter.tsx";
import { Link, navigate } from "../../kit/router.tsx";
import { allBatchStates, type BatchState, describeBatchState } from "../../kit/status.tsx";
import { BatchName } from "../batches/columns.tsx";
import { type BatchRecord, progressOf, StateBadge } from "../batches/record.tsx";
import { inspectedCount, latestCount } from "./load.ts";

/** shownBatches is how many batches a list of the overview has. */
const shownBatches = 8;

/** RunningBatches shows the batches that have not ended: first those that are worked on, then those that wait. */
export function RunningBatches({ open, isPart }: { open: BatchRecord[]; isPart: boolean }) {
  const waiting = open.filter((batch) => batch.queue_position !== null);
  const awaited = open.filter((batch) => batch.status === null && batch.message?.includes("uploaded"));
  const running = open.filter((batch) => !waiting.includes(batch) && !awaited.includes(batch));
  return (
    <section class="panel" aria-labelledby="running">
      <h2 id="running">Running now</h2>
      <dl class="figures">
        <div>
          <dt>In progress</dt>
          <dd class="figure">{formatCount(running.length)}</dd>
        </div>
        <div>
          <dt>In the queue</dt>
          <dd class="figure">{formatCount(waiting.length)}</dd>
        </div>
        <div>
          <dt>
            <Link to="/batches?state=awaiting_upload">Awaiting upload</Link>
          </dt>
          <dd class="figure">{formatCount(awaited.length)}</dd>
        </div>
      </dl>
      <BatchRows
        label="Batches that have not ended"
        batches={[...running, ...waiting.toSorted((a, b) => a.queue_position! - b.queue_position!)].slice(
          0,
          shownBatches,
        )}
      />
      {running.length + waiting.length > shownBatches && <Link to="/batches?state=open">All of them</Link>}
      {isPart && (
        <p class="aside">
          Counted among the latest {formatCount(inspectedCount)} batches; those whose validation has not begun, among
          the latest {formatCount(latestCount)}.
        </p>
      )}
    </section>
  );
}

/** BatchStates counts the latest batches by their status; a bar leads to the list of those. */
export function BatchStates({ batches }: { batches: BatchRecord[] }) {
  const counts = new Map<BatchState, number>();
  for (const { status } of batches) if (status !== null) counts.set(status, (counts.get(status) ?? 0) + 1);
  const bars = allBatchStates
    .filter((state) => counts.has(state))
    .map((state) => {
      const { text, kind } = describeBatchState(state);
      return { key: state, label: text, value: counts.get(state)!, kind: kind === "quiet" ? ("info" as const) : kind };
    });
  return (
    <section class="panel" aria-labelledby="states">
      <h2 id="states">
        States of the latest{" "}
        {batches.length < latestCount ? counted(batches.length, "batch", "batches") : `${latestCount} batches`}
      </h2>
      <Bars
        label="Batches by state"
        bars={bars}
        of={batches.length}
        onSelect={(state) => navigate(`/batches?status=${state}`)}
      />
    </section>
  );
}

/** LatestBatches lists the newest batches. */
export function LatestBatches({ batches }: { batches: BatchRecord[] }) {
  return (
    <section class="panel" aria-labelledby="latest">
      <h2 id="latest">Latest batches</h2>
      <BatchRows label="The latest batches" batches={batches.slice(0, shownBatches)} />
      <Link to="/batches">All batches</Link>
    </section>
  );
}

function BatchRows({ label, batches }: { label: string; batches: BatchRecord[] }) {
  if (batches.length === 0) return <p class="aside">None at the moment.</p>;
  return (
    <ul class="batch-rows" aria-label={label}>
      {batches.map((batch) => {
        const { share, text } = progressOf(batch);
        return (
          <li key={batch.batch_id}>
            <BatchName batch={batch} />
            <StateBadge batch={batch} />
            <span class="aside tabular batch-row-lines">
              {share !== undefined ? (
                <Meter label="Progress" value={share} of={1} />
              ) : (
                text || (batch.counts.total !== null && counted(batch.counts.total, "line"))
              )}
            </span>
            <span class="aside batch-row-age">
              <Age at={batch.created_at} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
