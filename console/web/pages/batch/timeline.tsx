// The life of a batch as a timeline: when each stage began, and how long it took.

import { formatDuration, Time, useNow, zone } from "../../kit/format.tsx";
import { describeBatchState } from "../../kit/status.tsx";
import { type BatchRecord, type BatchReply, hasStatus, isOpen } from "../batches/record.tsx";
import { endOf, type Stage, stagesOf } from "./stages.ts";

/**
 * Timeline shows the stages of a batch below each other, each with a bar where it was in the time since the file was
 * received.
 */
export function Timeline({ id, reply, listed }: { id: string; reply: BatchReply; listed: BatchRecord | undefined }) {
  const open = isOpen({ status: hasStatus(reply) ? reply.status : null });
  const now = useNow(open ? 1000 : 0);
  const stages = stagesOf(id, reply, listed);
  const end = endOf(reply);
  // The upload may take hours, so the bars begin with what follows it.
  const start = stages.find((stage) => stage.key !== "upload" && stage.from)?.from;
  const until = end ?? now;
  return (
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">Life of the batch</h2>
      <table class="timeline">
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">Began</th>
            <th scope="col" class="end">
              Took
            </th>
            <th aria-hidden="true" class="timeline-bars" />
          </tr>
        </thead>
        <tbody>
          {stages.map((stage) => (
            <StageRow key={stage.key} stage={stage} start={start} until={until} open={open} />
          ))}
          {hasStatus(reply) && end && (
            <tr class="timeline-end">
              <th scope="row">{describeBatchState(reply.status).text}</th>
              <td>
                <Time at={end.toISOString()} form="time" />
              </td>
              <td class="end" data-volatile>
                {start && <span class="aside">{formatDuration(end.getTime() - start.getTime())} in all</span>}
              </td>
              <td aria-hidden="true" class="timeline-bars" />
            </tr>
          )}
        </tbody>
      </table>
      <p class="aside">Times are in {zone}.</p>
      {hasStatus(reply) && <History reply={reply} />}
    </section>
  );
}

function StageRow({
  stage,
  start,
  until,
  open,
}: {
  stage: Stage;
  start: Date | undefined;
  until: Date;
  open: boolean;
}) {
  const { title, means, from, to } = stage;
  const isNow = open && from !== undefined && to === undefined;
  const whole = start ? Math.max(1, until.getTime() - start.getTime()) : 1;
  const last = to ?? until;
  const shown = start && from && stage.key !== "upload";
  return (
    <tr class={isNow ? "is-now" : from ? "" : "is-next"} aria-current={isNow ? "step" : undefined}>
      <th scope="row" title={means}>
        {title}
      </th>
      <td>{from ? <Time at={from.toISOString()} form="time" /> : <span class="aside">not begun</span>}</td>
      <td class="end tabular" data-volatile>
        {from
          ? isNow
            ? `${formatDuration(last.getTime() - from.getTime())} so far`
            : formatDuration(last.getTime() - from.getTime())
          : ""}
      </td>
      <td aria-hidden="true" class="timeline-bars" data-volatile>
        {shown && (
          <span
            class="timeline-bar"
            style={{
              marginInlineStart: `${(100 * Math.max(0, from.getTime() - start.getTime())) / whole}%`,
              width: `${(100 * Math.max(0, last.getTime() - from.getTime())) / whole}%`,
            }}
          />
        )}
      </td>
    </tr>
  );
}

/** History lists the statuses as the service has them, with times in UTC beside. */
function History({ reply }: { reply: Extract<BatchReply, { status: unknown }> }) {
  return (
    <details class="history">
      <summary>Statuses with times in UTC</summary>
      <ul class="plain">
        <li>
          <span>Created</span> <Time at={reply.created_at} form="both" />
        </li>
        {reply.received_at && (
          <li>
            <span>Received</span> <Time at={reply.received_at} form="both" />
          </li>
        )}
        {reply.history.map(({ status, at }) => (
          <li key={status}>
            <code>{status}</code> <Time at={at} form="both" />
          </li>
        ))}
      </ul>
    </details>
  );
}
