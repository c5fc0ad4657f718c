// The limits of the tenant, as far as replies have told of them.

import { formatCount, Time, useNow } from "../../kit/format.tsx";
import { limitsSeen } from "../../kit/limits.ts";

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

/** LimitsPanel shows how many requests were left of each limit that this page has met. */
export function LimitsPanel() {
  useNow(3000);
  const limits = limitsSeen();
  return (
    <section class="panel" aria-labelledby="limits" data-volatile>
      <h2 id="limits">Limits</h2>
      {limits.length === 0 ? (
        <p class="aside">No reply has told of a limit yet; a tenant may have none.</p>
      ) : (
        <div class="scroll-x" role="region" aria-label="Requests that are left" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Requests</th>
                <th scope="col" class="end">
                  Left
                </th>
                <th scope="col" class="end">
                  At least
                </th>
                <th scope="col" class="end">
                  Refused
                </th>
                <th scope="col" class="end">
                  As of
                </th>
              </tr>
            </thead>
            <tbody>
              {limits.map((limit) => (
                <tr key={limit.operation}>
                  <th scope="row" title={limit.operation}>
                    {names[limit.operation] ?? <code>{limit.operation}</code>}
                  </th>
                  <td class="end">{formatCount(limit.remaining)}</td>
                  <td class="end">{formatCount(limit.least)}</td>
                  <td class="end">
                    {limit.refused > 0 ? <span class="is-bad">{formatCount(limit.refused)}</span> : "0"}
                  </td>
                  <td class="end">
                    <Time at={limit.at.toISOString()} form="time" />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="aside">
        As the replies to this page say since it was loaded: requests that are left in the tightest window of the
        tenant, of all its clients together.
      </p>
    </section>
  );
}
