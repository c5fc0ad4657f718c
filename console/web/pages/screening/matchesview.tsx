// The matches of an entity, or of all entities, that a filter shows, with the selected one beside them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { Empty, ErrorNotice, Live, Skeleton } from "../../kit/feedback.tsx";
import { SearchField, SelectField, TextField } from "../../kit/fields.tsx";
import { counted, formatCount } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { useKeys } from "../../kit/keys.tsx";
import { readAddress } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
import type { Batch, Entity, Match } from "./batch.ts";
import { asCSV, asJSON, save } from "./export.ts";
import { filterRows, listsOf, type MatchStore, type Row, rowsOf } from "./matches.ts";
import { MatchPanel } from "./matchpanel.tsx";
import { type Choice, keyOfStatus } from "./resolveform.tsx";
import { ResolveAll } from "./resolveall.tsx";
import { Score } from "./score.tsx";
import { infoOf } from "./sides.tsx";
import { MatchBadge, matchStatuses } from "./statuses.tsx";
import type { Change, Fields } from "./workbench.tsx";

interface MatchesViewProps {
  batch: Batch;
  /** scope are the entities whose matches are shown. */
  scope: readonly Entity[];
  store: MatchStore;
  fields: Fields;
  change: Change;
}

const columns: readonly Column<Row>[] = [
  {
    key: "score",
    title: "Score",
    width: "3.25rem",
    align: "end",
    cell: ({ match }) => <Score value={match.matchData.matchScore} />,
  },
  {
    key: "name",
    title: "Name",
    width: "minmax(5rem, 1fr)",
    cell: ({ match: { matchData } }) => (
      <span dir="auto" title={visible(matchData.name)}>
        {visible(infoOf(matchData, "Matched name") || matchData.name)}
      </span>
    ),
  },
  {
    key: "list",
    title: "List",
    width: "minmax(2.5rem, 4.5rem)",
    narrow: false,
    cell: ({ match }) => visible(match.matchData.providerSourceName),
  },
  { key: "status", title: "Status", width: "5.75rem", cell: ({ match }) => <MatchBadge status={match.status} /> },
];

const entityColumn: Column<Row> = {
  key: "entity",
  title: "Entity",
  width: "minmax(4rem, 0.7fr)",
  narrow: false,
  cell: ({ entity }) => <span dir="auto">{visible(entity.entityName)}</span>,
};

/** columnsOf leaves the list out where entities take the place: the filter and the panel have it. */
function columnsOf(scope: string, entities: number): readonly Column<Row>[] {
  const shown =
    entities === 1 || matchMedia("(min-width: 100rem)").matches ? columns : columns.filter(({ key }) => key !== "list");
  return scope === "all" ? [...shown.slice(0, 2), entityColumn, ...shown.slice(2)] : shown;
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
      `${visible(match.matchData.name)}: ${match.status}. ${left === 0 ? "All matches here are resolved." : `${counted(left, "match", "matches")} left unresolved.`}`,
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
          <ExportButtons batch={batch} rows={rows} missing={missing} />
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
        <div class="try-name">
          <Table
            label="Matches"
            columns={columnsOf(fields.scope, batch.entities.length)}
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
        onClose={() => {
          setResolving(undefined);
          focusMatches();
        }}
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

function Filters({
  all,
  fields,
  change,
  several,
}: {
  all: readonly Row[];
  fields: Fields;
  change: Change;
  several: boolean;
}) {
  const lists = listsOf(all);
  const options = fields.list !== "" && !lists.includes(fields.list) ? [...lists, fields.list] : lists;
  return (
    <div class="filters" role="search" aria-label="Which matches are shown">
      <SearchField label="Name or entry" value={fields.find} onValue={(find) => change({ find })} />
      <SelectField
        label="Status"
        value={fields.status}
        onValue={(status) => change({ status })}
        options={[["", "All"], ...matchStatuses.map((one) => [one, one] as const)]}
      />
      <SelectField
        label="List"
        value={fields.list}
        onValue={(list) => change({ list })}
        options={[["", "All"], ...options.map((list) => [list, visible(list)] as const)]}
      />
      <TextField
        label="Score from"
        type="number"
        min={0}
        max={100}
        step="any"
        inputMode="decimal"
        value={fields.min}
        onValue={(min) => change({ min })}
      />
      {several && (
        <SelectField
          label="Of"
          value={fields.scope}
          onValue={(scope) => change({ scope })}
          options={[
            ["entity", "this entity"],
            ["all", "all entities"],
          ]}
        />
      )}
    </div>
  );
}

function NoMatches({ all, change }: { all: number; change: Change }) {
  if (all > 0) {
    return (
      <Empty title="The filter shows no match">
        <button type="button" onClick={() => change({ status: "", list: "", min: "", find: "" })}>
          Show all {counted(all, "match", "matches")}
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No match">
      <p>
        No provider has found an entry that resembles this entity. Whether a search is under way or has failed is said
        above.
      </p>
    </Empty>
  );
}

function ExportButtons({ batch, rows, missing }: { batch: Batch; rows: readonly Row[]; missing: string }) {
  const exported = () => ({ batchId: batch.id, filter: readAddress().query.toString(), missing });
  const name = `screening-${batch.id}${missing && "-partial"}`;
  return (
    <>
      <button
        type="button"
        disabled={rows.length === 0}
        onClick={() => save(`${name}.csv`, "text/csv;charset=utf-8", "\ufeff" + asCSV(rows, exported()))}
      >
        <Icon name="download" />
        CSV{missing && " (partial)"}
      </button>
      <button
        type="button"
        disabled={rows.length === 0}
        onClick={() => save(`${name}.json`, "application/json", asJSON(rows, exported()))}
      >
        <Icon name="download" />
        JSON{missing && " (partial)"}
      </button>
      {missing && rows.length > 0 && <span class="aside">{missing}</span>}
    </>
  );
}
