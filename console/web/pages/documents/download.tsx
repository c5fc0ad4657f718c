// The download of a document's file: by a signed address of the storage, which the person opens.

import { useEffect, useState } from "preact/hooks";
import { addressOf, get } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice } from "../../kit/feedback.tsx";
import { Icon } from "../../kit/icons.tsx";
import { useAction } from "../../kit/resource.ts";
import { safeHref, visible } from "../../kit/safe.ts";
import type { Document } from "./state.tsx";

const path = "/documentmanagementquery/api/documentmanagement/signedurl/{id}";

/** shownFor is how long in milliseconds a link is shown: less than the service lets it live. */
const shownFor = 5 * 60_000;

/** Download asks for a link to the file and shows it. The page itself asks the storage for nothing. */
export function Download({ document: d }: { document: Document }) {
  const [link, setLink] = useState<string>();
  const [failed, setFailed] = useState(false);
  const curl = useCurl();
  useEffect(() => {
    if (!link) return;
    const timer = setTimeout(() => setLink(undefined), shownFor);
    return () => clearTimeout(timer);
  }, [link]);
  useEffect(() => setLink(undefined), [d.id, d.documentKey, d.status]);
  const ask = useAction(async () => {
    const { data } = await get(path, { path: { id: d.id } });
    setLink(safeHref(data));
    setFailed(!safeHref(data));
  });
  const isThere =
    !d.isVirtual && (d.status === "Completed" || (d.status === "Archived" && d.preArchivalStatus === "Completed"));
  if (!isThere) return null;
  return (
    <section class="stack" aria-label="Download">
      <div class="buttons" aria-live="polite">
        {link ? (
          <>
            <a class="button primary" href={link} target="_blank" rel="noopener noreferrer">
              <Icon name="download" />
              Download <bdi>{visible(d.fileName ?? "the file")}</bdi>
            </a>
            <span class="aside">The address is secret and good for some minutes. It opens at the storage.</span>
          </>
        ) : (
          <button type="button" onClick={() => void ask.run()} disabled={ask.running}>
            Make a download link
          </button>
        )}
      </div>
      {failed && <p role="alert">The service's answer is not an address of the web.</p>}
      {ask.error && <ErrorNotice error={ask.error} />}
      <Commands
        cli={`sluice document download ${d.id} -o ${shellQuote(d.fileName ?? "file")}`}
        curl={curl("GET", addressOf(path, { id: d.id }))}
      />
    </section>
  );
}
