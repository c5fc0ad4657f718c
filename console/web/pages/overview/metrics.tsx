// What a local cloud has measured: how fast its steps are, and what was refused or failed.

import { Commands } from "../../kit/commands.tsx";
import { Loaded } from "../../kit/feedback.tsx";
import { counted, formatBytes, formatCount, formatDuration } from "../../kit/format.tsx";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { type Metrics, useMetrics } from "./load.ts";

/** MetricsPanel shows throttles, queues and speeds of a local cloud, of all its tenants together. */
export function MetricsPanel() {
  const metrics = useMetrics();
  return (
    <section class="panel" aria-labelledby="metrics" data-volatile>
      <h2 id="metrics">This local cloud</h2>
      <Loaded resource={metrics} lines={8}>
        {(value) => <Content metrics={value} />}
      </Loaded>
      <Commands cli="sluice metrics --watch" />
    </section>
  );
}

const stepColumns: readonly SmallColumn<Metrics["steps"][number]>[] = [
  { title: "Step", isName: true, cell: ({ step }) => step },
  { title: "Runs", align: "end", cell: ({ runs }) => formatCount(runs) },
  {
    title: "Lines a second",
    align: "end",
    cell: (step) => (step.lines > 0 ? formatCount(step.lines_per_second) : ""),
  },
  {
    title: "Bytes a second",
    align: "end",
    cell: (step) => (step.bytes > 0 ? `${formatBytes(Math.round(step.bytes_per_second))}/s` : ""),
  },
  { title: "Median", align: "end", cell: (step) => formatDuration(step.p50_ms) },
];

function Content({ metrics: { functions, steps, stages, requests } }: { metrics: Metrics }) {
  const throttled = functions.reduce((sum, f) => sum + f.throttled, 0);
  const failed = functions.reduce((sum, f) => sum + f.failed, 0);
  const worked = steps.filter((step) => step.lines > 0 || step.bytes > 0);
  return (
    <>
      <dl class="figures">
        <div>
          <dt>Throttled calls</dt>
          <dd class={throttled > 0 ? "figure is-bad" : "figure"}>{formatCount(throttled)}</dd>
        </div>
        <div>
          <dt>Failed calls</dt>
          <dd class={failed > 0 ? "figure is-bad" : "figure"}>{formatCount(failed)}</dd>
        </div>
        <div>
          <dt>Requests</dt>
          <dd class="figure">{formatCount(requests.count)}</dd>
        </div>
        <div>
          <dt>Median</dt>
          <dd class="figure">{formatDuration(requests.p50_ms)}</dd>
        </div>
      </dl>
      {(stages ?? []).map(({ stage, waiting, used_slots: used }) => (
        <p key={stage} class="aside">
          {counted(waiting, "batch waits", "batches wait")} for {stage}, {counted(used, "slot is", "slots are")} in use.
        </p>
      ))}
      {worked.length > 0 && (
        <SmallTable label="Speed of steps" columns={stepColumns} rows={worked} rowKey={(step) => step.step} />
      )}
      <p class="aside">Of all tenants together, since this cloud began to log.</p>
    </>
  );
}
