// How fast a batch is, as charts while it runs and as averages of its stages.

import { LineChart } from "../../kit/chart.tsx";
import { formatBytes, formatCompact, formatCount, Time } from "../../kit/format.tsx";
import { type BatchReply, hasStatus, isOpen } from "../batches/record.tsx";
import type { Speed } from "./speed.ts";
import { type Stage, stagesOf } from "./stages.ts";

const bytesPerSecond = (n: number) => `${formatBytes(Math.round(n))}/s`;

/** SpeedPanel shows the charts that this page has measured, and the averages of the stages that are over. */
export function SpeedPanel({ id, reply, speed }: { id: string; reply: BatchReply; speed: Speed }) {
  const open = isOpen({ status: hasStatus(reply) ? reply.status : null });
  const stages = stagesOf(id, reply).filter((stage) => stage.from && stage.to && (stage.lines || stage.bytes));
  const hasChart = speed.bytes.length > 1;
  return (
    <section class="panel" aria-labelledby="speed">
      <h2 id="speed">Speed</h2>
      {hasChart && <LineChart label="Bytes a second" points={speed.bytes} format={bytesPerSecond} height={96} />}
      {speed.lines.length > 1 && (
        <LineChart label="Lines stored a second" points={speed.lines} format={formatCompact} height={96} />
      )}
      {hasChart && speed.since && (
        <p class="aside">
          Measured by this page since <Time at={speed.since.toISOString()} form="time" />. A reload begins anew.
        </p>
      )}
      {!hasChart && open && (
        <p class="aside chart-waits">
          The chart begins when lines are worked on. It is measured by this page, so a reload begins anew.
        </p>
      )}
      {stages.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">On average</th>
              <th scope="col" class="end">
                Lines a second
              </th>
              <th scope="col" class="end">
                Bytes a second
              </th>
            </tr>
          </thead>
          <tbody>
            {stages.map((stage) => (
              <Average key={stage.key} stage={stage} />
            ))}
          </tbody>
        </table>
      )}
      {!open && stages.length === 0 && <p class="aside">No lines were worked on.</p>}
    </section>
  );
}

function Average({ stage: { title, from, to, lines, bytes } }: { stage: Stage }) {
  const seconds = Math.max(1, to!.getTime() - from!.getTime()) / 1000;
  return (
    <tr>
      <th scope="row">{title}</th>
      <td class="end" data-volatile>
        {lines ? formatCount(Math.round(lines / seconds)) : ""}
      </td>
      <td class="end" data-volatile>
        {bytes ? bytesPerSecond(bytes / seconds) : ""}
      </td>
    </tr>
  );
}
