// How far a batch is, in figures.

import { formatBytes, formatCount, formatShare } from "../../kit/format.tsx";
import { Meter } from "../../kit/meter.tsx";
import { type BatchReply, hasStatus, isOpen, isRunning } from "../batches/record.tsx";

/** Progress shows the counters of a batch and, while it runs, how much of the pass is done. */
export function Progress({ reply }: { reply: BatchReply }) {
  const batch = hasStatus(reply) ? reply : undefined;
  const counts = batch?.counts;
  const running = batch !== undefined && isRunning(batch);
  const total = counts?.total ?? null;
  const isFirstPass = batch?.status === "VALIDATION_STARTED";
  const [done, of] = batch ? [batch.bytes_done, batch.bytes_total] : [0, 0];
  const isProcessed = batch?.status === "PROCESSED";
  const hasBar = !batch || isOpen(batch) || isProcessed; // how much was done says nothing of a batch that ended early
  return (
    <section class="panel" aria-label="Counters">
      <dl class="figures">
        <Figure name="Lines" value={formatCount(total)} />
        <Figure name="Accepted" value={formatCount(counts?.accepted)} share={shareOf(counts?.accepted, total)} />
        <Figure
          name="Invalid"
          value={formatCount(counts?.invalid)}
          share={shareOf(counts?.invalid, total)}
          bad={Boolean(counts?.invalid)}
        />
        <Figure name="Stored" value={formatCount(counts?.ingested)} share={shareOf(counts?.ingested, total)} />
        <Figure name="Size" value={batch ? formatBytes(batch.bytes_total) : formatBytes(null)} />
      </dl>
      {hasBar && (
        <div class="pass">
          <span>
            {running
              ? isFirstPass
                ? "Validating"
                : "Ingesting"
              : !batch
                ? "Not begun"
                : isProcessed
                  ? "Ended"
                  : "Waiting"}
          </span>
          <Meter
            label={isFirstPass ? "Validated" : "Ingested"}
            value={running ? done : isProcessed ? 1 : 0}
            of={running ? of : 1}
          />
          <span class="tabular">
            {running ? `${formatBytes(done)} of ${formatBytes(of)}, ${formatShare(done, of)}` : ""}
          </span>
        </div>
      )}
    </section>
  );
}

function shareOf(part: number | null | undefined, total: number | null): string {
  return part === null || part === undefined || !total ? "" : formatShare(part, total);
}

function Figure({
  name,
  value,
  share = "",
  bad = false,
}: {
  name: string;
  value: string;
  share?: string;
  bad?: boolean;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class={bad ? "figure is-bad" : "figure"}>{value}</span> <span class="aside tabular">{share}</span>
      </dd>
    </div>
  );
}
