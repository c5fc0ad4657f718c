// The columns of lists of batches.

import { Age, formatBytes, formatCount } from "../../kit/format.tsx";
import { Id } from "../../kit/ids.tsx";
import { Meter } from "../../kit/meter.tsx";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Badge } from "../../kit/status.tsx";
import type { Column } from "../../kit/table.tsx";
import { type BatchRecord, progressOf, StateBadge } from "./record.tsx";

/** columnsOf returns the columns of the list of batches, as a client sees it. */
export function columnsOf(clientId: string): readonly Column<BatchRecord>[] {
  return [
    { key: "name", title: "Batch", width: "minmax(9rem, 4fr)", cell: (row) => <BatchName batch={row} /> },
    { key: "state", title: "State", width: "minmax(6.5rem, 8.25rem)", cell: (row) => <StateBadge batch={row} /> },
    { key: "progress", title: "Progress", width: "6.5rem", cell: (row) => <Progress batch={row} />, narrow: false },
    {
      key: "lines",
      title: "Lines",
      width: "5.5rem",
      align: "end",
      cell: (row) => formatCount(row.counts.total),
      narrow: false,
    },
    {
      key: "rejected",
      title: "Invalid",
      width: "5rem",
      align: "end",
      cell: (row) => <Invalid count={row.counts.invalid} />,
      narrow: false,
    },
    {
      key: "size",
      title: "Size",
      width: "4.5rem",
      align: "end",
      cell: (row) => formatBytes(row.bytes_total),
      narrow: false,
    },
    { key: "age", title: "Age", width: "3.5rem", align: "end", cell: (row) => <Age at={row.created_at} /> },
    {
      key: "client",
      title: "Client",
      width: "5rem",
      narrow: false,
      cell: (row) => (
        <span title={visible(row.client_id)}>
          {row.client_id === clientId ? "this one" : <Id id={row.client_id} />}
        </span>
      ),
    },
  ];
}

/** BatchName shows what a batch is called, or else its ID, and marks what is special about it. */
export function BatchName({ batch }: { batch: BatchRecord }) {
  const { batch_id: id, name } = batch;
  return (
    <span class="batch-name">
      <Link to={pathTo("batches", id)} title={name ? `${visible(name)} · ${id}` : id}>
        {name ? (
          <bdi>{visible(name)}</bdi>
        ) : (
          <span data-volatile>
            <Id id={id} />
          </span>
        )}
      </Link>
      {batch.validate_only && (
        <span title="Validated only: nothing of it is stored.">
          <Badge kind="quiet">Dry run</Badge>
        </span>
      )}
      {batch.duplicate_of && (
        <span title={`Another batch has the same file: ${batch.duplicate_of}.`}>
          <Badge kind="warn">Duplicate</Badge>
        </span>
      )}
    </span>
  );
}

function Progress({ batch }: { batch: BatchRecord }) {
  const { share, text } = progressOf(batch);
  if (share === undefined) return <span class="aside">{text}</span>;
  return (
    <span class="list-progress">
      <Meter label="Progress" value={share} of={1} />
      <span class="aside tabular">{text}</span>
    </span>
  );
}

function Invalid({ count }: { count: number | null }) {
  return count ? <span class="is-bad">{formatCount(count)}</span> : <span class="aside">{formatCount(count)}</span>;
}
