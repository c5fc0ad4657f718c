// The deliveries of a webhook, newest first, and what happened at each attempt.

import { useEffect, useState } from "preact/hooks";
import { get, post, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Empty, ErrorNotice, Loaded, Notice } from "../../kit/feedback.tsx";
import { SelectField } from "../../kit/fields.tsx";
import { counted, formatDuration, Time } from "../../kit/format.tsx";
import { useAction, useResource } from "../../kit/resource.ts";
import { useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
import { OutcomeBadge } from "./state.tsx";

type Delivery = Schemas["Delivery"];
type Outcome = "Pending" | "Successful" | "Failed" | "TimedOut";

const columns: readonly Column<Delivery>[] = [
  { key: "at", title: "Created", width: "9rem", cell: (d) => <Time at={d.createdAt} form="short" /> },
  { key: "outcome", title: "Outcome", width: "7rem", cell: (d) => <OutcomeBadge outcome={d.outcome} /> },
  { key: "events", title: "Events", width: "minmax(12rem, 2fr)", cell: (d) => eventsOf(d) },
  { key: "attempts", title: "Attempts", width: "5rem", align: "end", narrow: false, cell: (d) => d.attemptCount },
  { key: "message", title: "Reason", width: "minmax(8rem, 2fr)", narrow: false, cell: (d) => visible(d.message ?? "") },
];

function eventsOf(delivery: Delivery): string {
  const types = [...new Set(delivery.events.map((event) => event.eventType))].map(visible).join(", ");
  return delivery.events.length === 1 ? types : `${counted(delivery.events.length, "event")}: ${types}`;
}

/** Deliveries lists deliveries by outcome; a row opens what happened. version changes when there may be new ones. */
export function Deliveries({ webhookId, version }: { webhookId: string; version: number }) {
  const [{ outcome, delivery }, setQuery] = useQuery({ outcome: "", delivery: "" });
  const first = useResource(
    `${webhookId} ${outcome} ${version}`,
    (signal) => load(webhookId, outcome, undefined, signal),
    { every: 5000 },
  );
  const [older, setOlder] = useState<{ of: string; rows: Delivery[]; next: string | null }>();
  const of = `${webhookId} ${outcome}`;
  useEffect(() => setOlder(undefined), [of]);
  const next = older ? older.next : (first.value?.next ?? null);
  const more = useAction(async () => {
    if (!next) return;
    const page = await load(webhookId, outcome, next);
    setOlder((old) => ({
      of,
      rows: [...(old?.of === of ? old.rows : (first.value?.deliveries ?? [])), ...page.deliveries],
      next: page.next,
    }));
  });
  return (
    <section class="stack" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <div class="filters">
        <SelectField
          label="Outcome"
          value={outcome}
          onValue={(value) => setQuery({ outcome: value }, { push: true })}
          options={[
            ["", "All"],
            ["Pending", "Pending"],
            ["Successful", "Delivered"],
            ["Failed", "Failed"],
            ["TimedOut", "Timed out"],
          ]}
        />
      </div>
      <Loaded resource={first} lines={8}>
        {(page) => {
          const rows = merge(page.deliveries, older?.rows ?? []);
          if (rows.length === 0) {
            return (
              <Empty title={outcome ? "No delivery has this outcome." : "Nothing has been delivered yet."}>
                <p>
                  Events are delivered when something happens: a batch ends, for example. A test event shows whether the
                  receiver is reached.
                </p>
              </Empty>
            );
          }
          return (
            <Table
              label="Deliveries"
              columns={columns}
              rows={rows}
              rowKey={(d) => d.id}
              open={(d) => setQuery({ delivery: d.id }, { push: true })}
              onEnd={() => void more.run()}
            />
          );
        }}
      </Loaded>
      {more.error && <ErrorNotice error={more.error} retry={() => void more.run()} />}
      <Dialog title="Delivery" open={delivery !== ""} onClose={() => setQuery({ delivery: "" }, { push: true })} wide>
        <DeliveryDetails webhookId={webhookId} id={delivery} />
      </Dialog>
    </section>
  );
}

function load(
  webhookId: string,
  outcome: string,
  next: string | undefined,
  signal?: AbortSignal,
): Promise<Schemas["Deliveries"]> {
  const query = { ...(outcome && { outcome: outcome as Outcome }), ...(next && { next }), limit: 100 };
  return get("/v1/webhooks/{webhookId}/deliveries", { path: { webhookId }, query, ...(signal && { signal }) });
}

/**
 * merge puts the newest page before what was loaded earlier; of a delivery that is in both, the newest answer counts.
 */
function merge(newest: readonly Delivery[], loaded: readonly Delivery[]): Delivery[] {
  const known = new Set(newest.map((d) => d.id));
  return [...newest, ...loaded.filter((d) => !known.has(d.id))];
}

function DeliveryDetails({ webhookId, id }: { webhookId: string; id: string }) {
  const path = { webhookId, deliveryId: id };
  const curl = useCurl();
  const delivery = useResource(
    id,
    (signal) => get("/v1/webhooks/{webhookId}/deliveries/{deliveryId}", { path, signal }),
    { every: 3000 },
  );
  const resend = useAction(async () => {
    await post("/v1/webhooks/{webhookId}/deliveries/{deliveryId}/resend", { path });
    delivery.reload();
  });
  return (
    <Loaded resource={delivery} lines={12}>
      {(d) => (
        <div class="stack">
          <dl class="facts">
            <div>
              <dt>Outcome</dt>
              <dd>
                <OutcomeBadge outcome={d.outcome} /> {d.code && <code>{d.code}</code>}
              </dd>
            </div>
            <div>
              <dt>Created</dt>
              <dd>
                <Time at={d.createdAt} form="both" />
              </dd>
            </div>
            <div>
              <dt>Ended</dt>
              <dd>
                <Time at={d.endedAt} form="both" />
              </dd>
            </div>
            {d.nextAttemptAt && (
              <div>
                <dt>Next attempt</dt>
                <dd>
                  <Time at={d.nextAttemptAt} form="both" />
                </dd>
              </div>
            )}
            <div>
              <dt>ID</dt>
              <dd class="mono">{d.id}</dd>
            </div>
          </dl>
          {d.message && <Notice kind={d.outcome === null ? "info" : "warn"}>{visible(d.message)}</Notice>}
          <h3>
            {counted(d.attemptCount, "attempt")}
            {d.run > 1 && `, sent again ${d.run - 1 === 1 ? "once" : `${d.run - 1} times`}`}
          </h3>
          <ol class="stack">
            {d.attempts.map((attempt) => (
              <li key={`${attempt.number} ${attempt.at}`}>
                <Time at={attempt.at} form="time" /> <OutcomeBadge outcome={attempt.outcome} />{" "}
                {attempt.status !== null && `status ${attempt.status} `}after {formatDuration(attempt.milliseconds)}
                {attempt.message && <p>{visible(attempt.message)}</p>}
                {attempt.answer && (
                  <pre class="excerpt" tabIndex={0} aria-label="Answer">
                    {attempt.answer}
                  </pre>
                )}
              </li>
            ))}
          </ol>
          <h3>What is sent</h3>
          <pre class="excerpt" tabIndex={0} aria-label="Payload">
            {JSON.stringify(d.payload, null, 2)}
          </pre>
          {resend.error && <ErrorNotice error={resend.error} />}
          <div class="buttons">
            <button type="button" disabled={resend.running || d.outcome === null} onClick={() => void resend.run()}>
              Send again
            </button>
          </div>
          <Commands
            cli={`sluice webhooks deliveries ${webhookId} ${id}\nsluice webhooks resend ${webhookId} ${id}`}
            curl={`${curl("GET", `/v1/webhooks/${webhookId}/deliveries/${id}`)}\n${curl("POST", `/v1/webhooks/${webhookId}/deliveries/${id}/resend`)}`}
          />
        </div>
      )}
    </Loaded>
  );
}
