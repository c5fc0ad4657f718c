// The matches of an entity, or of all entities, that a filter shows, with the selected one beside them.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ErrorNotice, Live, Skeleton } from "../../kit/feedback.tsx";
import { counted, formatCount } from "../../kit/format.tsx";
import { useKeys } from "../../kit/keys.tsx";
import { readAddress } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Table } from "../../kit/table.tsx";
import type { Batch, Entity, Match } from "./batch.ts";
import { ExportButtons } from "./exportbuttons.tsx";
import { columnsOf } from "./matchcolumns.tsx";
import { filterRows, type MatchStore, type Row, rowsOf } from "./matches.ts";
import { Filters, NoMatches } from "./matchfilters.tsx";
import { MatchPanel } from "./matchpanel.tsx";
import { ResolveAll } from "./resolveall.tsx";
import { type Choice, keyOfStatus } from "./resolveform.tsx";
import { matchStatuses } from "./statuses.tsx";
import type { Change, Fields } from "./fields.ts";

interface MatchesViewProps {
  batch: Batch;
  /** scope are the entities whose matches are shown. */
  scope: readonly Entity[];
  store: MatchStore;
  fields: Fields;
  change: Change;
}

/** MatchesView shows matches, their filter, and the selected match. */
export function MatchesView({ batch, scope, store, fields, change }: MatchesViewProps) {
  const all = useMemo(() => rowsOf(scope, store.parts), [scope, store.parts]);
  const rows = useMemo(() => filterRows(all, fields), [all, fields.status, fields.list, fields.min, fields.find]);
  const [resolving, setResolving] = useState<readonly Row[]>();
  const [said, setSaid] = useState("");
  const missing = missingOf(scope, store);
  const isReading = scope.some(({ id }) => !store.parts.get(id)?.complete && !store.parts.get(id)?.error);
  const failure = scope.map(({ id }) => store.parts.get(id)?.error).find(Boolean);
  const at = Math.max(
    0,
    rows.findIndex(({ match }) => match.id === fields.match),
  );
  const row = rows[at];
  const [choice, setChoice] = useState<Choice>();
  const select = (to: Row | undefined) => {
    if (!to) return;
    setChoice(undefined);
    change({ match: to.match.id, ...(fields.scope === "all" && { entity: to.entity.id }) });
  };
  // Keys may come faster than the page is drawn, so that they count from the address, which changes at once.
  const current = () =>
    Math.max(
      0,
      rows.findIndex(({ match }) => match.id === readAddress().query.get("match")),
    );
  useKeys({
    j: { does: "Next match", act: () => select(rows[current() + 1]) },
    k: { does: "Match before", act: () => select(rows[current() - 1]) },
    ...Object.fromEntries(
      matchStatuses.map((status) => [
        keyOfStatus[status],
        {
          does: `Decide: ${status}`,
          act: () => {
            const to = rows[current()];
            if (to && batch.status === "Open") setChoice({ matchId: to.match.id, status });
          },
        },
      ]),
    ),
    a: {
      does: "Resolve all that the filter shows",
      act: () => {
        if (batch.status === "Open" && rows.length > 0) setResolving(rows);
      },
    },
  });
  useEffect(() => setSaid(""), [fields.entity]);
  const wasResolving = useRef(false);
  useLayoutEffect(() => {
    if (wasResolving.current && !resolving) focusMatches(); // also if a button opened the dialog: it may be disabled now
    wasResolving.current = resolving !== undefined;
  }, [resolving]);

  const onResolved = (resolved: Row, match: Match) => {
    const later = rows
      .slice(at + 1)
      .concat(rows.slice(0, at))
      .find((other) => other.match.status === "Unresolved" && other !== resolved);
    store.replace(resolved.entity.id, match);
    select(later);
    const left =
      all.filter((other) => other.match.status === "Unresolved" && other.match.id !== match.id).length +
      (match.status === "Unresolved" ? 1 : 0);
    setSaid(
      `${visible(match.matchData.name)}: ${match.status}. ` +
        (left === 0 ? "All matches here are resolved." : `${counted(left, "match", "matches")} left unresolved.`),
    );
    focusMatches();
  };
  return (
    <>
      <Filters all={all} fields={fields} change={change} several={batch.entities.length > 1} />
      <div class="matches-head">
        <p class="tabular" data-matches-count>
          {rows.length === all.length
            ? counted(all.length, "match", "matches")
            : `${formatCount(rows.length)} of ${counted(all.length, "match", "matches")}`}
          , {formatCount(rows.filter(({ match }) => match.status === "Unresolved").length)} unresolved
          {isReading && " (reading)"}
        </p>
        <div class="buttons">
          {batch.status === "Open" && (
            <button type="button" disabled={rows.length === 0} onClick={() => setResolving(rows)}>
              Resolve all shown <kbd aria-hidden="true">a</kbd>
            </button>
          )}
          <ExportButtons batch={batch} rows={rows} filter={fields} missing={missing} />
        </div>
      </div>
      {said && (
        <p class="said" role="status">
          {said}
        </p>
      )}
      <Live text={isReading ? "Reading matches" : ""} />
      {failure && (
        <ErrorNotice error={failure} retry={() => store.readAgain()}>
          <p>{missing}</p>
        </ErrorNotice>
      )}
      {rows.length === 0 ? (
        isReading ? (
          <Skeleton lines={8} label="Reading matches" />
        ) : failure ? null : (
          <NoMatches all={all.length} change={change} />
        )
      ) : (
        <div class="list-and-detail">
          <Table
            label="Matches"
            columns={columnsOf(fields.scope)}
            rows={rows}
            rowKey={({ match }) => match.id}
            selected={row?.match.id}
            onSelect={select}
            open={() => document.querySelector<HTMLElement>(".resolve .choice")?.focus()}
          />
          {row && (
            <MatchPanel
              key={row.match.id}
              batch={batch}
              row={row}
              choice={choice}
              onResolved={(match) => onResolved(row, match)}
              onLeave={focusMatches}
            />
          )}
        </div>
      )}
      <ResolveAll
        batchId={batch.id}
        rows={resolving}
        missing={missing}
        onClose={() => setResolving(undefined)}
        onDone={(tried) => store.readAgain([...new Set(tried.map(({ entity }) => entity.id))])}
      />
    </>
  );
}

function focusMatches(): void {
  document.querySelector<HTMLElement>('[role="grid"][aria-label="Matches"]')?.focus();
}

/** missingOf says of how many entities matches are missing; "" if of none. */
function missingOf(scope: readonly Entity[], { parts }: MatchStore): string {
  const missing = scope.filter(({ id }) => !parts.get(id)?.complete).length;
  return missing === 0
    ? ""
    : `Matches of ${formatCount(missing)} of ${counted(scope.length, "entity", "entities")} are not all read.`;
}
