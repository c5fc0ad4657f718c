// Screening batches, their searches and matches in words and colours.

import type { Schemas } from "../../kit/api.ts";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Badge, type Kind } from "../../kit/status.tsx";
import type { MatchStatus } from "./batch.ts";

const ofMatches: Record<MatchStatus, Kind> = { Match: "bad", "No Match": "ok", Unresolved: "warn" };

/** matchStatuses are the statuses of matches. */
export const matchStatuses: readonly MatchStatus[] = ["Match", "No Match", "Unresolved"];

/** MatchBadge shows the status of a match. */
export function MatchBadge({ status }: { status: MatchStatus }) {
  return <Badge kind={ofMatches[status] ?? "quiet"}>{status}</Badge>;
}

const ofBatches: Record<Schemas["ScreeningStatus"], readonly [kind: Kind, means: string]> = {
  Open: ["info", "Matches can be resolved."],
  Closed: ["ok", "It is decided and stays as it is."],
  Overridden: ["quiet", "A newer batch of the same journey and process has taken its place."],
};

/** ScreeningBadge shows the status of a screening batch. */
export function ScreeningBadge({ status }: { status: Schemas["ScreeningStatus"] }) {
  const [kind, means] = ofBatches[status] ?? ["quiet", ""];
  return (
    <Badge kind={kind} title={means}>
      {status}
    </Badge>
  );
}

/** BatchLink leads to a batch by its ID. */
export function BatchLink({ id }: { id: string }) {
  return (
    <span data-volatile class="one-line">
      <Link to={pathTo("screening", id)} class="mono">
        {id}
      </Link>
    </span>
  );
}

/** madeBy says what has made a batch of a type. */
export function madeBy(batchType: string | undefined): string {
  return batchType === "OngoingScreening" ? "change of a list" : "request";
}

const ofSearches: Record<Schemas["ScreeningProviderRun"]["status"], Kind> = {
  "Search In Progress": "info",
  "Search Complete": "ok",
  "Return Failed": "bad",
};

/** SearchBadge shows the status of the search of a provider. */
export function SearchBadge({ run }: { run: Schemas["ScreeningProviderRun"] }) {
  return (
    <span>
      {visible(run.id)} <Badge kind={ofSearches[run.status] ?? "quiet"}>{run.status}</Badge>
    </span>
  );
}

/** isSearching reports whether a provider has not ended its search. */
export function isSearching(batch: { providers: readonly Schemas["ScreeningProviderRun"][] }): boolean {
  return batch.providers.some((run) => run.status === "Search In Progress");
}

const ofMateriality: Record<Schemas["Materiality"], Kind> = { Material: "bad", Immaterial: "ok", None: "quiet" };

/** MaterialityBadge shows how much something matters; nothing if nobody has assessed it. */
export function MaterialityBadge({ status }: { status: Schemas["Materiality"] | undefined }) {
  return status ? (
    <Badge kind={ofMateriality[status] ?? "quiet"}>{status}</Badge>
  ) : (
    <span class="aside">not assessed</span>
  );
}
