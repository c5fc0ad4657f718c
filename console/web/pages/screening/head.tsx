// What a screening batch is as a whole: its facts, and what its searches have come to.

import { post } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Fact, Facts } from "../../kit/facts.tsx";
import { ErrorNotice, Notice } from "../../kit/feedback.tsx";
import { counted, formatCount, Time } from "../../kit/format.tsx";
import { useAction } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import type { Batch } from "./batch.ts";
import { madeBy, SearchBadge } from "./statuses.tsx";

/** Head shows the batch, above its entities. */
export function Head({ batch, reload }: { batch: Batch; reload: () => void }) {
  const failed = batch.providers.filter((run) => run.status === "Return Failed");
  const found = batch.metadata?.totalMatchesForProvider;
  const several = batch.providers.length > 1;
  const matches = [
    found && formatCount(Object.values(found).reduce((sum, n) => sum + n, 0)),
    batch.trueMatchesCount !== undefined && `${formatCount(batch.trueMatchesCount)} true`,
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <>
      <Facts row>
        <Fact title="Batch">
          <span data-volatile>{batch.id}</span>
        </Fact>
        <Fact title="Journey">{batch.journeyId && visible(batch.journeyId)}</Fact>
        <Fact title="Process">{batch.processId && visible(batch.processId)}</Fact>
        <Fact title="Main entity">{batch.journeyMainLegalEntityId && visible(batch.journeyMainLegalEntityId)}</Fact>
        <Fact title="Made by">{batch.batchType === "OngoingScreening" && madeBy(batch.batchType)}</Fact>
        <Fact title="Created">{batch.createdDate && <Time at={batch.createdDate} />}</Fact>
        <Fact title="Closed">{batch.closedDate && <Time at={batch.closedDate} />}</Fact>
        <Fact title="Searches">
          {batch.providers.map((run) => (
            <div key={run.id}>
              <SearchBadge run={run} />
              {several && found?.[run.id] !== undefined && ` ${counted(found[run.id]!, "match", "matches")}`}
            </div>
          ))}
        </Fact>
        <Fact title="Matches">{matches}</Fact>
      </Facts>
      {batch.overriddenBatchIds?.map((id) => (
        <p key={id} class="aside">
          It has taken the place of <Link to={pathTo("screening", id)}>an earlier batch</Link>.
        </p>
      ))}
      {failed.map((run) => (
        <FailedSearch key={run.id} batch={batch} run={run} reload={reload} />
      ))}
      {batch.status === "Overridden" && (
        <Notice>
          <p>A newer batch of the same journey and process has taken the place of this one, which stays as it was.</p>
        </Notice>
      )}
    </>
  );
}

const rerunPath = "/screeningcommand/api/v3/batch/{id}/rerun";

function FailedSearch({ batch, run, reload }: { batch: Batch; run: Batch["providers"][number]; reload: () => void }) {
  const body = { data: { providerId: run.id } };
  const rerun = useAction(async () => {
    await post(rerunPath, { path: { id: batch.id }, body });
    reload();
  });
  const curl = useCurl();
  return (
    <Notice kind="warn">
      <p class="notice-title">The search of {visible(run.id)} has failed, so its matches are missing</p>
      {run.errorDetails && (
        <p>
          {visible(run.errorDetails.message)}{" "}
          <span class="aside">
            ({run.errorDetails.source}, {run.errorDetails.errorCode})
          </span>
        </p>
      )}
      {batch.status === "Open" && (
        <button type="button" disabled={rerun.running} onClick={() => void rerun.run()}>
          Run it again
        </button>
      )}
      {rerun.error && <ErrorNotice error={rerun.error} />}
      <Commands curl={curl("POST", rerunPath.replace("{id}", batch.id), body)} />
    </Notice>
  );
}
