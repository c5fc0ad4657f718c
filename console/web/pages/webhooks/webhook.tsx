// One webhook: what it is, whether deliveries arrive, and sending them again.

import { useState } from "preact/hooks";
import { get, post, put, request, type Schemas } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { ErrorNotice, Loaded, Notice } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { counted, Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useAction, useResource } from "../../kit/resource.ts";
import { BackLink, navigate, type Parameters } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Deliveries } from "./deliveries.tsx";
import { WebhookState } from "./state.tsx";

type Webhook = Schemas["Webhook"];

/** WebhookPage shows a webhook and its deliveries. */
export default function WebhookPage({ parameters }: { parameters: Parameters }) {
  const id = parameters.id!;
  const webhook = useResource(id, (signal) => get("/v1/webhooks/{webhookId}", { path: { webhookId: id }, signal }), {
    every: 10_000,
  });
  const [version, setVersion] = useState(0);
  const onChange = () => {
    webhook.reload();
    setVersion((n) => n + 1);
  };
  return (
    <Page title={webhook.value?.name || "Webhook"} beside={<BackLink to="/webhooks">All webhooks</BackLink>}>
      <Loaded resource={webhook} lines={10}>
        {(value) => (
          <>
            <Facts webhook={value} />
            <Actions webhook={value} onChange={onChange} />
            <Deliveries webhookId={id} version={version} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  return (
    <dl class="facts panel">
      <div>
        <dt>State</dt>
        <dd>
          <WebhookState webhook={webhook} />
        </dd>
      </div>
      <div>
        <dt>Address</dt>
        <dd>{visible(webhook.url)}</dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd>{webhook.eventTypes.map((type) => (type === "*" ? "All events" : visible(type))).join(", ")}</dd>
      </div>
      <div>
        <dt>Delivered</dt>
        <dd>{webhook.type === "Single" ? "one by one" : `up to ${counted(webhook.batchSize, "event")} at once`}</dd>
      </div>
      <div>
        <dt>Told by e-mail</dt>
        <dd>{webhook.emailAddresses.map(visible).join(", ") || "Nobody"}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={webhook.createdAt} form="both" />
        </dd>
      </div>
      {webhook.previousSecretUntil && (
        <div>
          <dt>Old secret signs until</dt>
          <dd>
            <Time at={webhook.previousSecretUntil} form="both" />
          </dd>
        </div>
      )}
      <div>
        <dt>ID</dt>
        <dd class="mono">{webhook.id}</dd>
      </div>
    </dl>
  );
}

/** Actions tests, enables, disables and deletes a webhook, and sends again what has failed. */
function Actions({ webhook, onChange }: { webhook: Webhook; onChange: () => void }) {
  const path = { webhookId: webhook.id };
  const [asked, setAsked] = useState<"" | "delete">("");
  const [since, setSince] = useState("");
  const [said, setSaid] = useState("");
  const curl = useCurl();
  const test = useAction(async () => {
    const delivery = await post("/v1/webhooks/{webhookId}/test", { path });
    setSaid(
      delivery.outcome === "Successful"
        ? "The test event was delivered."
        : "A test event is on its way; it is the first of the deliveries below.",
    );
    onChange();
  });
  const toggle = useAction(async () => {
    await put("/v1/webhooks/{webhookId}", { path, body: { ...bodyOf(webhook), enabled: !webhook.enabled } });
    setSaid(webhook.enabled ? "The webhook is disabled." : "The webhook is enabled.");
    onChange();
  });
  const resend = useAction(async () => {
    let sent = 0;
    for (let next: string | null = null; ;) {
      const body: Schemas["Resend"] = { since: sinceUTC(since), ...(next && { next }) };
      const answer: Schemas["Resent"] = await post("/v1/webhooks/{webhookId}/resend", { path, body });
      sent += answer.resent;
      next = answer.next;
      setSaid(`${counted(sent, "delivery", "deliveries")} sent again${next ? " so far" : ""}.`);
      if (!next) break;
    }
    onChange();
  });
  const remove = useAction(async () => {
    await request("delete", "/v1/webhooks/{webhookId}", { path });
    navigate("/webhooks");
  });
  const error = test.error ?? toggle.error ?? resend.error;
  const base = `/v1/webhooks/${webhook.id}`;
  return (
    <section class="stack" aria-label="Actions">
      <div class="buttons">
        <button type="button" onClick={() => void test.run()} disabled={test.running}>
          Send a test event
        </button>
        <button type="button" onClick={() => void toggle.run()} disabled={toggle.running}>
          {webhook.enabled ? "Disable the webhook" : "Enable the webhook"}
        </button>
        <button type="button" class="danger" onClick={() => setAsked("delete")}>
          Delete the webhook
        </button>
      </div>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void resend.run();
        }}
      >
        <TextField
          label="Send again what failed since"
          type="datetime-local"
          value={since}
          onValue={setSince}
          required
        />
        <button type="submit" disabled={resend.running || since === ""}>
          Send again
        </button>
      </form>
      {said && <Notice kind="ok">{said}</Notice>}
      {error && <ErrorNotice error={error} />}
      <Commands
        cli={[
          `sluice webhooks test ${webhook.id}`,
          `sluice webhooks update ${webhook.id} ${webhook.enabled ? "--disable" : "--enable"}`,
          ...(since ? [`sluice webhooks resend ${webhook.id} --since ${sinceUTC(since)}`] : []),
          `sluice webhooks deliveries ${webhook.id}`,
        ].join("\n")}
        curl={[
          curl("POST", base + "/test"),
          curl("PUT", base, { ...bodyOf(webhook), enabled: !webhook.enabled }),
          ...(since ? [curl("POST", base + "/resend", { since: sinceUTC(since) })] : []),
          curl("GET", base + "/deliveries"),
        ].join("\n")}
      />
      <Confirm
        title="Delete the webhook?"
        open={asked === "delete"}
        action="Delete the webhook"
        running={remove.running}
        error={remove.error}
        onConfirm={() => void remove.run()}
        onClose={() => setAsked("")}
      >
        <p>Events are not delivered to {visible(webhook.url)} any more, and what has not arrived yet is lost.</p>
        <Commands cli={`sluice webhooks delete ${webhook.id}`} curl={curl("DELETE", base)} />
      </Confirm>
    </section>
  );
}

/** bodyOf returns what a webhook is replaced by that stays as it is. */
function bodyOf({ url, name, eventTypes, emailAddresses, type, batchSize }: Webhook) {
  return { url, name, eventTypes, emailAddresses, type, batchSize };
}

/** sinceUTC writes the value of a field for local times in UTC. */
function sinceUTC(text: string): string {
  return new Date(text).toISOString();
}
