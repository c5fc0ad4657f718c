// The files of a batch: what there is to download, and why something is not there.

import { Commands, useCurl } from "../../kit/commands.tsx";
import { counted } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import type { Results } from "./results.ts";

interface DownloadsProps {
  id: string;
  /** results are undefined until the validation is complete. */
  results: Results | undefined;
  /** ended means that the batch has ended. */
  ended: boolean;
  /** reload looks again for files that are written later. */
  reload: () => void;
}

interface File {
  kind: string;
  title: string;
  about: string;
  /** missing says why the file is not there; "" if it is. */
  missing: string;
}

/**
 * Downloads offers the files that the service has, which the command fetches, so that their signed addresses stay with
 * it.
 */
export function Downloads({ id, results, ended, reload }: DownloadsProps) {
  const curl = useCurl();
  const files = filesOf(results, ended);
  return (
    <section class="panel" aria-labelledby="downloads">
      <h2 id="downloads">Downloads</h2>
      <ul class="plain downloads">
        {files.map(({ kind, title, about, missing }) => (
          <li key={kind}>
            {missing ? (
              <span class="download-none">{title}</span>
            ) : (
              <a href={`/console/batches/${id}/download/${kind}`} download>
                <Icon name="download" />
                {title}
              </a>
            )}
            <span class="aside">{missing || about}</span>
          </li>
        ))}
      </ul>
      {ended && results && !results.parquet_url && (
        <button type="button" class="link" onClick={reload}>
          Look again for files that are written later
        </button>
      )}
      <Commands
        cli={
          `sluice results ${id} --report errors.jsonl --csv errors.csv --rejected rejected.jsonl\n` +
          `sluice receipt ${id} > receipt.jose`
        }
        curl={["validation-result", "receipt"]
          .map((part) => curl("GET", `/tm/realtime/api/transactions/batch/${part}/${id}`))
          .join("\n")}
      />
    </section>
  );
}

function filesOf(results: Results | undefined, ended: boolean): File[] {
  const later = results ? "" : ended ? "none" : "when the validation is complete";
  const none = !results
    ? later
    : results.valid === null
      ? "none: the lines were not judged"
      : results.valid
        ? "none: every line is valid"
        : "not stored any more";
  const left = results?.rejected_left_out ?? 0;
  return [
    {
      kind: "report",
      title: "Report",
      about: "every error of every rejected line, JSON Lines",
      missing: results?.errors_file_url ? "" : none,
    },
    {
      kind: "csv",
      title: "Report as CSV",
      about: "a record for each error, for a spreadsheet",
      missing: results?.errors_csv_url ? "" : none,
    },
    {
      kind: "rejected",
      title: "Rejected lines",
      about:
        "as they were sent, to be mended and sent again" +
        (left > 0 ? `; without ${counted(left, "line")} of too great a length` : ""),
      missing: results?.rejected_file_url ? "" : none,
    },
    {
      kind: "receipt",
      title: "Receipt",
      about: "signed: what was received and accepted",
      missing: ended ? "" : "when the batch has ended",
    },
    {
      kind: "parquet",
      title: "Parquet",
      about: "the accepted lines, for analysis",
      missing: results?.parquet_url
        ? ""
        : !ended
          ? "when the batch is processed, if the tenant has it"
          : "none: off for this tenant, not written yet, or expired",
    },
  ];
}
