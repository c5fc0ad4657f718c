// The screening batches that were opened last in this browser.

import { useState } from "preact/hooks";
import { ApiError } from "../../kit/api.ts";
import { Empty, ErrorNotice } from "../../kit/feedback.tsx";
import { Age, formatCount } from "../../kit/format.tsx";
import { useResource } from "../../kit/resource.ts";
import { Link } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { useSession } from "../../kit/session.ts";
import { SmallTable } from "../../kit/smalltable.tsx";
import { type Found, readFound } from "./found.ts";
import { forget, readRecent } from "./recent.ts";
import { BatchLink, ScreeningBadge } from "./statuses.tsx";

/** shownInFull is of how many of the batches the state is read. */
const shownInFull = 8;

/** Opened shows the batches that were opened last. */
export function Opened() {
  const { tenant_id } = useSession();
  const [recent, setRecent] = useState(() => readRecent(tenant_id));
  const states = useResource(recent.map(({ id }) => id).join(), async (signal) => {
    const read = new Map<string, Found>();
    for (const { id } of recent.slice(0, shownInFull)) {
      try {
        read.set(id, await readFound(id, signal));
      } catch (cause) {
        if (!(cause instanceof ApiError) || ![404, 413].includes(cause.status)) throw cause;
      }
    }
    return read;
  });
  if (recent.length === 0) {
    return (
      <Empty title="No batch was opened in this browser yet">
        <p>
          Find one by an ID above, or screen an entity now. Batches that you open are listed here; the service has no
          list of all of them.
        </p>
        <p>
          <Link to="/webhooks">Webhooks</Link> tell your systems the IDs of new batches.
        </p>
      </Empty>
    );
  }
  const stateOf = (id: string) => states.value?.get(id);
  return (
    <section class="stack" aria-label="Opened last">
      <h2>Opened last in this browser</h2>
      {states.error && <ErrorNotice error={states.error} retry={states.reload} />}
      <SmallTable
        label="Batches opened last"
        columns={[
          { title: "About", anywhere: true, cell: ({ id }) => <bdi>{visible(stateOf(id)?.about ?? "")}</bdi> },
          { title: "Batch", cell: ({ id }) => <BatchLink id={id} /> },
          {
            title: "Status",
            cell: ({ id }) => {
              const state = stateOf(id);
              return state && <ScreeningBadge status={state.status} />;
            },
          },
          {
            title: "True matches",
            align: "end",
            cell: ({ id }) => {
              const state = stateOf(id);
              return state && formatCount(state.trueMatches);
            },
          },
          { title: "Opened", cell: ({ at }) => <Age at={at} /> },
        ]}
        rows={recent}
        rowKey={({ id }) => id}
      />
      <div class="buttons">
        <p class="aside">
          The service has no list of all batches. This browser keeps the IDs of those that you have opened, and nothing
          else of them.
        </p>
        <button
          type="button"
          onClick={() => {
            forget(tenant_id);
            setRecent([]);
          }}
        >
          Forget them
        </button>
      </div>
    </section>
  );
}
