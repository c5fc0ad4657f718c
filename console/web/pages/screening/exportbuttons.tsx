// The buttons that store the matches which are shown as files.

import { Icon } from "../../kit/icons.tsx";
import type { Batch } from "./batch.ts";
import { asCSV, asJSON, save } from "./export.ts";
import type { Filter, Row } from "./matches.ts";

interface ExportButtonsProps {
  batch: Batch;
  /** rows are the matches that the filter shows. */
  rows: readonly Row[];
  filter: Filter;
  /** missing says which matches are not among them although the filter would show them; "" if there are none. */
  missing: string;
}

/** ExportButtons store rows as CSV or JSON. */
export function ExportButtons({ batch, rows, filter: { status, list, min, find }, missing }: ExportButtonsProps) {
  const exported = { batchId: batch.id, filter: { status, list, min, find }, missing };
  const name = `screening-${batch.id}${missing && "-partial"}`;
  return (
    <>
      <button
        type="button"
        disabled={rows.length === 0}
        onClick={() => save(`${name}.csv`, "text/csv;charset=utf-8", "\ufeff" + asCSV(rows, exported))}
      >
        <Icon name="download" />
        CSV{missing && " (partial)"}
      </button>
      <button
        type="button"
        disabled={rows.length === 0}
        onClick={() => save(`${name}.json`, "application/json", asJSON(rows, exported))}
      >
        <Icon name="download" />
        JSON{missing && " (partial)"}
      </button>
      {missing && rows.length > 0 && <span class="aside">{missing}</span>}
    </>
  );
}
