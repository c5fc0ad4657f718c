// One batch: its life, how far it is, what is wrong with its lines, and what can be done with it.

import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, ErrorNotice, Live, Loaded } from "../../kit/feedback.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { BackLink, Link, type Parameters } from "../../kit/router.tsx";
import { describeBatchState } from "../../kit/status.tsx";
import { type BatchReply, findListed, hasStatus, isId, isOpen, readStatus, StateBadge } from "../batches/record.tsx";
import { CancelButton } from "./cancel.tsx";
import { Downloads } from "./downloads.tsx";
import { BatchErrors } from "./errors.tsx";
import { Facts } from "./facts.tsx";
import { Progress } from "./progress.tsx";
import { Remarks } from "./remarks.tsx";
import { useResults } from "./results.ts";
import { Screening } from "./screening.tsx";
import { useSpeed } from "./speed.ts";
import { SpeedPanel } from "./speedpanel.tsx";
import { Timeline } from "./timeline.tsx";

export default function BatchPage({ parameters }: { parameters: Parameters }) {
  const id = parameters.id!.toLowerCase();
  if (!isId(id)) {
    return (
      <Page title="Batch">
        <Empty title="This is not the ID of a batch.">
          <Link to="/batches">Go to the batches</Link>
        </Empty>
      </Page>
    );
  }
  return <BatchOf key={id} id={id} />;
}

function BatchOf({ id }: { id: string }) {
  // Every second while it runs, and never again when it has ended.
  const status = useResource(`batch ${id}`, (signal) => readStatus(id, signal), {
    every: (reply) => (reply && !isOpen(recordOf(reply)) ? 0 : 1000),
  });
  const reply = status.value;
  const record = reply && recordOf(reply);
  return (
    <Page
      title={record?.name || "Batch"}
      beside={record && <StateBadge batch={record} />}
      actions={record && <CancelButton id={id} status={record.status} onDone={status.reload} />}
    >
      <p class="batch-id">
        <BackLink to="/batches">Batches</BackLink> <span aria-hidden="true">/</span> <code data-volatile>{id}</code>
      </p>
      {!reply && status.error?.status === 404 ? (
        <ErrorNotice error={status.error} retry={status.reload}>
          <p>This tenant has no batch with this ID. Batches that were never uploaded are removed after a while.</p>
        </ErrorNotice>
      ) : (
        <Loaded resource={status} lines={14}>
          {(value) => <Content id={id} reply={value} at={status.at} />}
        </Loaded>
      )}
    </Page>
  );
}

/** recordOf returns what lists and pages show of a reply. */
function recordOf(reply: BatchReply) {
  return hasStatus(reply)
    ? { status: reply.status, error_message: reply.error_message, message: undefined, name: reply.name }
    : { status: null, error_message: "", message: reply.message, name: reply.name ?? null };
}

function Content({ id, reply, at }: { id: string; reply: BatchReply; at: Date | undefined }) {
  const speed = useSpeed(reply, at);
  const results = useResults(id, reply);
  const curl = useCurl();
  const open = isOpen(recordOf(reply));
  // A batch without a status is known to the list alone; it is asked once for each step.
  const listed = useResource(
    hasStatus(reply) ? "" : `listed ${id} ${reply.message}`,
    (signal) => findListed(id, signal),
    { every: (found) => (found ? 0 : 5000) },
  ).value;
  const known = hasStatus(reply) ? reply : listed;
  return (
    <>
      <Remarks reply={reply} />
      <Progress reply={reply} />
      <div class="panels">
        <Timeline id={id} reply={reply} listed={listed} />
        <SpeedPanel id={id} reply={reply} speed={speed} />
      </div>
      <div class="panels">
        <Downloads id={id} results={results.value} ended={!open} reload={results.reload} />
        <Facts id={id} reply={reply} batch={known} />
      </div>
      <Commands
        cli={open ? `sluice status ${id} --follow` : `sluice status ${id}\nsluice results ${id}`}
        curl={curl("GET", `/tm/realtime/api/transactions/batch/status/${id}`)}
      />
      {hasStatus(reply) && reply.names_screened !== null && (
        <Screening id={id} hits={reply.hits} names={reply.names_screened} />
      )}
      {hasStatus(reply) && reply.status !== "VALIDATION_STARTED" && <BatchErrors id={id} results={results} />}
      <Live
        text={
          hasStatus(reply)
            ? `${describeBatchState(reply.status).text}. ${describeBatchState(reply.status).means}`
            : reply.message
        }
      />
    </>
  );
}
