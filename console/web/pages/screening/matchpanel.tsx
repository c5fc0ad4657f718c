// One match: both sides beside each other, how the names met, and the decision.

import { useState } from "preact/hooks";
import { visible } from "../../kit/safe.ts";
import type { Batch, Match } from "./batch.ts";
import { Documents } from "./documents.tsx";
import type { Row } from "./matches.ts";
import { type Choice, Decision, ResolveForm } from "./resolveform.tsx";
import { MatchHeading } from "./score.tsx";
import { infoOf, nameOf, Sides, Source } from "./sides.tsx";
import { MatchBadge } from "./statuses.tsx";
import { Words } from "./words.tsx";

interface MatchPanelProps {
  batch: Batch;
  row: Row;
  choice: Choice | undefined;
  onResolved: (match: Match) => void;
  onLeave: () => void;
}

/** MatchPanel shows a match. */
export function MatchPanel({ batch, row, choice, onResolved, onLeave }: MatchPanelProps) {
  const { match, entity } = row;
  const [withDocuments, setWithDocuments] = useState(false);
  const data = match.matchData;
  const explanation = infoOf(data, "Explanation");
  const byAlias = entity.entityAliases.filter((alias) => match.entityAliasIds.includes(alias.id));
  return (
    <section class="panel match-panel" aria-label="The selected match">
      <MatchHeading data={data}>
        <MatchBadge status={match.status} />
        <span class="aside">{visible(match.entityUniqueId)}</span>
      </MatchHeading>{" "}
      <Decision match={match} />
      {batch.status === "Open" ? (
        <ResolveForm batchId={batch.id} row={row} choice={choice} onResolved={onResolved} onLeave={onLeave} />
      ) : (
        <p class="aside">The batch is {batch.status.toLowerCase()}: its decisions stay as they are.</p>
      )}
      <div class="match-body">
        <div class="stack">
          <h3>Word by word</h3>
          {explanation ? (
            <Words explanation={explanation} />
          ) : (
            <p class="aside">The provider {visible(data.providerId)} does not explain its matches.</p>
          )}
          {byAlias.length > 0 && !match.entityAliasIds.includes("PrimaryName") && (
            <p class="aside">
              Found by another name of the entity, not by its main one: {visible(byAlias.map(nameOf).join(", "))}
            </p>
          )}
        </div>
        <div class="stack">
          {" "}
          <h3>Both sides</h3>
          <Sides asked={entity.searchCriteria} aliases={entity.entityAliases} data={data} />
          <Source data={data} />
          <details
            class="commands"
            onToggle={(event) => {
              if (event.currentTarget.open) setWithDocuments(true);
            }}
          >
            <summary>Documents of this match</summary>
            {withDocuments && (
              <Documents
                place={{ batchId: batch.id, entityId: entity.id, matchId: match.id }}
                open={batch.status === "Open"}
              />
            )}
          </details>
        </div>
      </div>
    </section>
  );
}
