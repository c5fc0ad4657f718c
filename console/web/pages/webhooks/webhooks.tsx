// The webhooks of the tenant: where its events are delivered, and whether they arrive.

import { useState } from "preact/hooks";
import { get, post, type Schemas } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Empty, ErrorNotice, Loaded, Notice } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { Age } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useAction, useResource } from "../../kit/resource.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";
import { Listener } from "./listener.tsx";
import { WebhookState } from "./state.tsx";

export type Webhook = Schemas["Webhook"];

/** WebhooksPage lists the webhooks, creates one, and listens to events on this machine. */
export default function WebhooksPage() {
  const webhooks = useResource("webhooks", (signal) => get("/v1/webhooks", { signal }), { every: 10_000 });
  const [creating, setCreating] = useState(false);
  const curl = useCurl();
  return (
    <Page
      title="Webhooks"
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create a webhook
        </button>
      }
    >
      <Loaded resource={webhooks} lines={5}>
        {({ webHooks }) =>
          webHooks.length === 0 ? (
            <Empty title="No webhook yet">
              <p>
                A webhook is an https address of yours to which events are delivered, signed: batches that end, entities
                that are verified, screenings.
              </p>
              <p>Create one, or listen on this machine below. A receiver in three languages is in docs/webhooks.md.</p>
            </Empty>
          ) : (
            <SmallTable label="Webhooks" columns={columns} rows={webHooks} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
      <Commands cli="sluice webhooks list" curl={curl("GET", "/v1/webhooks")} />
      <Listener />
      <CreateDialog open={creating} onClose={() => setCreating(false)} onCreated={webhooks.reload} />
    </Page>
  );
}

const columns: readonly SmallColumn<Webhook>[] = [
  { title: "Name", cell: ({ id, name }) => <Link to={pathTo("webhooks", id)}>{visible(name) || "No name"}</Link> },
  { title: "Address", anywhere: true, cell: ({ url }) => visible(url) },
  {
    title: "Events",
    cell: ({ eventTypes }) =>
      eventTypes.map((type) => <div key={type}>{type === "*" ? "All events" : visible(type)}</div>),
  },
  { title: "State", cell: (webhook) => <WebhookState webhook={webhook} /> },
  { title: "Created", cell: ({ createdAt }) => <Age at={createdAt} isSentence /> },
];

interface CreateDialogProps {
  open: boolean;
  onClose: () => void;
  onCreated: () => void;
}

/** CreateDialog asks for an address and events. The secret that the service makes is shown once. */
function CreateDialog({ open, onClose, onCreated }: CreateDialogProps) {
  const [url, setUrl] = useState("https://");
  const [name, setName] = useState("");
  const [types, setTypes] = useState("*");
  const [secret, setSecret] = useState("");
  const curl = useCurl();
  const body = {
    url: url.trim(),
    name: name.trim() || null,
    enabled: true,
    eventTypes: types.split(/[\s,]+/).filter(Boolean),
  };
  const create = useAction(async () => {
    const created = await post("/v1/webhooks", { body });
    setSecret(created.secret ?? "");
    onCreated();
  });
  const close = () => {
    setSecret("");
    create.clear();
    onClose();
  };
  return (
    <Dialog title="Create a webhook" open={open} onClose={close}>
      {secret ? (
        <>
          <Notice kind="ok">
            <p class="notice-title">The webhook is created.</p>
            <p>Its secret is shown this once. Give it to the receiver, which verifies deliveries with it.</p>
          </Notice>
          <pre class="excerpt" tabIndex={0} aria-label="Secret">
            {secret}
          </pre>
          <div class="buttons">
            <button type="button" class="primary" onClick={close}>
              I have stored it
            </button>
          </div>
        </>
      ) : (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void create.run();
          }}
        >
          <TextField
            label="Address"
            value={url}
            onValue={setUrl}
            type="url"
            required
            maxLength={2048}
            hint="It begins with https:// and must be reachable for the service."
            autofocus
          />
          <TextField label="Name" value={name} onValue={setName} maxLength={128} />
          <TextField
            label="Events"
            value={types}
            onValue={setTypes}
            required
            hint="* for all, or the types of docs/contract/events.md, separated by spaces."
          />
          {create.error && <ErrorNotice error={create.error} />}
          <div class="buttons">
            <button type="button" onClick={close}>
              Go back
            </button>
            <button type="submit" class="primary" disabled={create.running}>
              Create the webhook
            </button>
          </div>
          <Commands cli={commandOf(body)} curl={curl("POST", "/v1/webhooks", body)} />
        </form>
      )}
    </Dialog>
  );
}

/** commandOf writes the command line that makes a webhook. */
function commandOf({ url, name, eventTypes }: { url: string; name: string | null; eventTypes: string[] }): string {
  const words = ["sluice webhooks create", shellQuote(url)];
  if (name) words.push("--name", shellQuote(name));
  for (const type of eventTypes) if (type !== "*") words.push("--event", shellQuote(type));
  return words.join(" ");
}
