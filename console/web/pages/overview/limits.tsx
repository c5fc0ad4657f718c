// The limits of the tenant, as far as replies have told of them.

import { formatCount, Time, useNow } from "../../kit/format.tsx";
import { type Limit, limitsSeen } from "../../kit/limits.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";

/** names are what people call the operations with limits. */
const names: Record<string, string> = {
  "GET /tm/realtime/api/transactions/batch/status/{batch_id}": "Status of a batch",
  "GET /tm/realtime/api/transactions/batch": "Lists of batches",
  "GET /tm/realtime/api/transactions/batch/validation-result/{batch_id}": "Results, hits and receipts",
  "GET /tm/realtime/api/transactions/batch/screening-result/{batch_id}": "Hits of names",
  "GET /tm/observability/api/v1/transactions/summary": "Counts by day",
  "POST /tm/realtime/api/transactions/batch/cancel/{batch_id}": "Cancelling",
  "POST /tm/realtime/api/transactions/batch/generate-upload-url": "Upload URLs",
};

const columns: readonly SmallColumn<Limit>[] = [
  {
    title: "Requests",
    isName: true,
    cell: ({ operation }) => <span title={operation}>{names[operation] ?? <code>{operation}</code>}</span>,
  },
  { title: "Left", align: "end", cell: (limit) => formatCount(limit.remaining) },
  { title: "At least", align: "end", cell: (limit) => formatCount(limit.least) },
  {
    title: "Refused",
    align: "end",
    cell: ({ refused }) => <span class={refused > 0 ? "is-bad" : undefined}>{formatCount(refused)}</span>,
  },
  { title: "As of", align: "end", cell: (limit) => <Time at={limit.at.toISOString()} form="time" /> },
];

/** LimitsPanel shows how many requests were left of each limit that this page has met. */
export function LimitsPanel() {
  useNow(3000);
  const limits = limitsSeen();
  return (
    <section class="panel" aria-labelledby="limits" data-volatile>
      <h2 id="limits">Limits</h2>
      {limits.length === 0 ? (
        <p class="aside">No limit is known yet: no reply so far named one, and a tenant may have none.</p>
      ) : (
        <>
          <SmallTable
            label="Requests that are left"
            columns={columns}
            rows={limits}
            rowKey={(limit) => limit.operation}
          />
          <p class="aside">
            As the replies to this page say since it was loaded: requests that are left in the tightest window of the
            tenant, of all its clients together.
          </p>
        </>
      )}
    </section>
  );
}
