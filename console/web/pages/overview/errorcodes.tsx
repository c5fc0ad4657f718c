// The errors of the latest batches that have any, by code.

import { useMemo, useRef } from "preact/hooks";
import { Bars } from "../../kit/chart.tsx";
import { Loaded } from "../../kit/feedback.tsx";
import { counted } from "../../kit/format.tsx";
import type { BatchRecord } from "../batches/record.tsx";
import { useErrorCodes } from "./load.ts";

/** lookedAt is how many batches are looked at: results are limited to 120 requests a minute. */
const lookedAt = 5;
const shownCodes = 8;

/** ErrorCodes adds up the errors of the latest batches with invalid lines. */
export function ErrorCodes({ batches }: { batches: BatchRecord[] }) {
  const ids = useMemo(
    () =>
      batches
        .filter((batch) => batch.counts.invalid)
        .slice(0, lookedAt)
        .map((batch) => batch.batch_id),
    [batches],
  );
  const codes = useErrorCodes(ids);
  const last = useRef(codes.value); // those of the batches before, until the new ones are added up
  if (codes.value) last.current = codes.value;
  return (
    <section class="panel" aria-labelledby="codes">
      <h2 id="codes">Error codes</h2>
      {ids.length === 0 ? (
        <p class="aside">None of the latest batches has invalid lines.</p>
      ) : (
        <Loaded resource={{ ...codes, value: codes.value ?? last.current }} lines={6}>
          {(value) => (
            <>
              <p class="aside">Of the latest {counted(ids.length, "batch", "batches")} with invalid lines</p>
              <Bars
                label="Errors by code"
                bars={value
                  .slice(0, shownCodes)
                  .map(({ code, count }) => ({ key: code, label: code, value: count, kind: "bad" }))}
              />
              {value.length > shownCodes && <p class="aside">and {counted(value.length - shownCodes, "other code")}</p>}
            </>
          )}
        </Loaded>
      )}
    </section>
  );
}
