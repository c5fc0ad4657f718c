// What the screening of a batch's names found.

import { get } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Loaded, Notice } from "../../kit/feedback.tsx";
import { counted, Time } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { useResource } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";

/**
 * Screening says how many names of unknown entities were compared with which lists, and how many were like an entry.
 */
export function Screening({ id, names, hits }: { id: string; names: number; hits: number | null }) {
  const curl = useCurl();
  const result = useResource(`screening ${id}`, (signal) =>
    get("/tm/realtime/api/transactions/batch/screening-result/{batch_id}", { path: { batch_id: id }, signal }),
  );
  return (
    <section class="panel" aria-labelledby="screening">
      <h2 id="screening">Screening of names</h2>
      <p>
        {counted(names, "distinct name")} of unknown entities were compared with watchlists:{" "}
        {hits ? <b>{counted(hits, "hit")}</b> : "no hits"}.
      </p>
      <Loaded resource={result} lines={3}>
        {(value) => (
          <>
            <ul class="plain">
              {value.lists.map(({ list, version, source_date: date }) => (
                <li key={list}>
                  <b>{visible(list)}</b>{" "}
                  <span class="aside">
                    of <Time at={date} form="short" />, version{" "}
                    <code data-volatile title={version}>
                      {version.slice(0, 12)}
                    </code>
                  </span>
                </li>
              ))}
            </ul>
            {"alerts_complete" in value && value.alerts_complete === false && (
              <Notice kind="warn">
                <p>The file of hits is not complete: it passed its limit.</p>
              </Notice>
            )}
            {"alerts_file_url" in value && value.alerts_file_url && (
              <p>
                <a class="button" href={`/console/batches/${id}/download/alerts`} download>
                  <Icon name="download" />
                  Download the hits
                </a>
              </p>
            )}
          </>
        )}
      </Loaded>
      <Commands curl={curl("GET", `/tm/realtime/api/transactions/batch/screening-result/${id}`)} />
    </section>
  );
}
