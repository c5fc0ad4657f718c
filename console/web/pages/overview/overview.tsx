// The overview: what was done today and before, what runs now, and what is close to a limit.

import { Commands } from "../../kit/commands.tsx";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { Icon } from "../../kit/icons.tsx";
import { Page } from "../../kit/page.tsx";
import { Link } from "../../kit/router.tsx";
import { useSession } from "../../kit/session.ts";
import { BatchStates, LatestBatches, RunningBatches } from "./batches.tsx";
import { DaysPanel } from "./days.tsx";
import { ErrorCodes } from "./errorcodes.tsx";
import { LimitsPanel } from "./limits.tsx";
import { useLatest } from "./load.ts";
import { MetricsPanel } from "./metrics.tsx";

export default function OverviewPage() {
  const { metrics } = useSession();
  const latest = useLatest();
  return (
    <Page
      title="Overview"
      actions={
        <Link to="/upload" class="button primary">
          <Icon name="upload" />
          Upload a file
        </Link>
      }
    >
      <Loaded resource={latest} lines={16}>
        {({ batches, open, isPart }) => (
          <>
            {batches.length === 0 && <FirstSteps />}
            <DaysPanel isNew={batches.length === 0} />
            <div class="panels">
              <div class="stack">
                {batches.length > 0 && (
                  <>
                    <RunningBatches open={open} isPart={isPart} />
                    <LatestBatches batches={batches} />
                  </>
                )}
                <LimitsPanel />
              </div>
              <div class="stack">
                {batches.length > 0 && (
                  <>
                    <BatchStates batches={batches} />
                    <ErrorCodes batches={batches} />
                  </>
                )}
                {metrics && <MetricsPanel />}
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** FirstSteps says what to do where nothing has been uploaded yet. */
function FirstSteps() {
  return (
    <Empty title="Nothing has been uploaded yet.">
      <ol class="first-steps">
        <li>
          Have the entities onboarded that your transactions name, or send them as unknown: see{" "}
          <Link to="/entities">Entities</Link>.
        </li>
        <li>
          Drop a file on <Link to="/upload">Upload</Link>. It is checked on this machine before anything is sent;
          validate only tries it without storing anything.
        </li>
        <li>
          Follow the batch under <Link to="/batches">Batches</Link>, and find stored lines under{" "}
          <Link to="/transactions">Transactions</Link>.
        </li>
      </ol>
      <Commands
        does="try it with generated transactions"
        cli={"sluice generate --lines 1000 -o trial.jsonl\nsluice upload trial.jsonl --max-rejected 100%"}
      />
    </Empty>
  );
}
