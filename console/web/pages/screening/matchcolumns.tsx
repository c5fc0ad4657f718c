// The columns of the table of matches.

import { visible } from "../../kit/safe.ts";
import type { Column } from "../../kit/table.tsx";
import type { Row } from "./matches.ts";
import { Score } from "./score.tsx";
import { infoOf } from "./sides.tsx";
import { MatchBadge } from "./statuses.tsx";

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
    cell: ({ match: { matchData } }) => (
      <span title={visible(matchData.providerSourceName)}>{visible(matchData.providerSourceName)}</span>
    ),
  },
  { key: "status", title: "Status", width: "6rem", cell: ({ match }) => <MatchBadge status={match.status} /> },
];

const entityColumn: Column<Row> = {
  key: "entity",
  title: "Entity",
  width: "minmax(4rem, 0.7fr)",
  narrow: false,
  cell: ({ entity }) => (
    <span dir="auto" title={visible(entity.entityName)}>
      {visible(entity.entityName)}
    </span>
  ),
};

const withEntity = [...columns.slice(0, 2), entityColumn, ...columns.slice(2)];

/** columnsOf returns the columns for the matches of one entity, or of all. */
export function columnsOf(scope: string): readonly Column<Row>[] {
  return scope === "all" ? withEntity : columns;
}
