// The state of a webhook and the outcome of a delivery, in words.

import type { Schemas } from "../../kit/api.ts";
import { Age, Time } from "../../kit/format.tsx";
import { Badge, type Kind } from "../../kit/status.tsx";

/** WebhookState says whether a webhook gets events, and if not, why. */
export function WebhookState({ webhook }: { webhook: Schemas["Webhook"] }) {
  if (webhook.disabledAt) {
    return (
      <>
        <Badge kind="bad">Disabled by the service</Badge>{" "}
        <span class="aside">
          {webhook.disabledReason === "gone" ? "the receiver answered 410 Gone" : "no delivery succeeded for days"},{" "}
          <Time at={webhook.disabledAt} form="short" />
        </span>
      </>
    );
  }
  if (!webhook.enabled) return <Badge kind="quiet">Disabled</Badge>;
  if (webhook.failingSince) {
    return (
      <>
        <Badge kind="warn">Failing</Badge>{" "}
        <span class="aside">
          for <Age at={webhook.failingSince} />
          {webhook.disablesAt && (
            <>
              ; may be disabled from <Time at={webhook.disablesAt} form="short" />
            </>
          )}
        </span>
      </>
    );
  }
  return <Badge kind="ok">Enabled</Badge>;
}

const outcomes: Record<string, { kind: Kind; text: string }> = {
  Successful: { kind: "ok", text: "Delivered" },
  Failed: { kind: "bad", text: "Failed" },
  TimedOut: { kind: "bad", text: "Timed out" },
};

/** OutcomeBadge shows how a delivery or an attempt ended; null is a delivery that is not over. */
export function OutcomeBadge({ outcome }: { outcome: string | null }) {
  const { kind, text } = outcomes[outcome ?? ""] ?? { kind: "info" as Kind, text: "Pending" };
  return <Badge kind={kind}>{text}</Badge>;
}
