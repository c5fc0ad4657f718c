// The statuses of entities and drafts in words and colours.

import type { Schemas } from "../../kit/api.ts";
import { Badge, type Kind } from "../../kit/status.tsx";

export type Entity = Schemas["Entity"];
export type Draft = Schemas["EntityDraft"];
type LifecycleStatus = Schemas["LifecycleStatus"];

const statuses: Record<LifecycleStatus, { kind: Kind; text: string; isOnboarded: boolean }> = {
  Unknown: { kind: "quiet", text: "Unknown", isOnboarded: false },
  OnboardingInProgress: { kind: "info", text: "Onboarding", isOnboarded: false },
  MaintenanceInProgress: { kind: "info", text: "In maintenance", isOnboarded: true },
  Compliant: { kind: "ok", text: "Compliant", isOnboarded: true },
  ReviewInProgress: { kind: "info", text: "In review", isOnboarded: true },
  PendingOffboarding: { kind: "warn", text: "To be offboarded", isOnboarded: true },
  ClientOffboarded: { kind: "bad", text: "Offboarded", isOnboarded: false },
};

/** statusOptions are the choices of a filter by status. */
export const statusOptions: readonly (readonly [string, string])[] = [
  ["", "Any"],
  ...Object.entries(statuses).map(([status, { text }]) => [status, text] as const),
];

/** EntityBadge shows the status of an entity; its title says whether transactions may name the entity. */
export function EntityBadge({ status }: { status: LifecycleStatus }) {
  const known = statuses[status] ?? { kind: "quiet", text: status, isOnboarded: false };
  return (
    <Badge kind={known.kind} title={`${status}: ${onboardedText(status)}`}>
      {known.text}
    </Badge>
  );
}

/** onboardedText says what a status means for transactions. */
export function onboardedText(status: LifecycleStatus): string {
  return statuses[status]?.isOnboarded ? "Transactions may name the entity." : "Transactions may not name the entity.";
}

const draftStatuses: Record<Draft["status"], { kind: Kind; text: string }> = {
  InProgress: { kind: "info", text: "In progress" },
  Verified: { kind: "ok", text: "Verified" },
  Rejected: { kind: "bad", text: "Rejected" },
};

/** DraftBadge shows the status of a draft. */
export function DraftBadge({ status }: { status: Draft["status"] }) {
  const known = draftStatuses[status] ?? { kind: "quiet", text: status };
  return (
    <Badge kind={known.kind} title={status}>
      {known.text}
    </Badge>
  );
}

/** nameOf returns what an entity or draft is called by its properties; "" if it has no name. */
export function nameOf(properties: Schemas["Properties"]): string {
  const value = (key: string) => {
    const property = properties[key];
    return property?.type === "Single" ? (property.value ?? "") : "";
  };
  return (
    value("legalEntityName") ||
    value("fullName") ||
    value("name") ||
    [value("firstName"), value("lastName")].filter(Boolean).join(" ")
  );
}
