// Matches as files, made in the page.

import { infoOf, nameOf } from "./sides.tsx";
import type { Filter, Row } from "./matches.ts";

/** Exported says what a file holds beside the matches. */
export interface Exported {
  batchId: string;
  /** filter says by what the matches were chosen; a condition that is "" does not restrict them. */
  filter: Filter;
  /** missing says what is not in the file although the filter would show it; "" if nothing is missing. */
  missing: string;
}

/** asJSON writes matches as the interface has them, with what the file holds. */
export function asJSON(rows: readonly Row[], { batchId, filter, missing }: Exported): string {
  const matches = rows.map(({ entity, match }) => ({
    entityId: entity.id,
    entityName: entity.entityName,
    searchCriteria: entity.searchCriteria,
    ...match,
  }));
  return (
    JSON.stringify(
      {
        batchId,
        exportedAt: new Date().toISOString(),
        filter: Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== "")),
        complete: missing === "",
        missing: missing || null,
        matches,
      },
      null,
      2,
    ) + "\n"
  );
}

type Cell = string | number | null | undefined;

const columns: readonly (readonly [title: string, cell: (row: Row) => Cell])[] = [
  ["entity_id", ({ entity }) => entity.id],
  ["entity_name", ({ entity }) => entity.entityName],
  ["asked_for", ({ entity }) => nameOf(entity.searchCriteria)],
  ["asked_date_of_birth", ({ entity }) => entity.searchCriteria.dateOfBirth],
  ["match_id", ({ match }) => match.id],
  ["entry_id", ({ match }) => match.entityUniqueId],
  ["list", ({ match }) => match.matchData.providerSourceName],
  ["list_version", ({ match }) => infoOf(match.matchData, "List version")],
  ["entry_name", ({ match }) => match.matchData.name],
  ["matched_name", ({ match }) => infoOf(match.matchData, "Matched name")],
  ["entry_dates_of_birth", ({ match }) => match.matchData.dateOfBirthList.join(" or ")],
  ["entry_country", ({ match }) => match.matchData.country],
  ["score", ({ match }) => match.matchData.matchScore],
  ["status", ({ match }) => match.status],
  ["reason", ({ match }) => match.reason],
  ["comments", ({ match }) => match.comments],
  ["actioned_by", ({ match }) => match.lastActionedBy?.id],
  ["actioned_on", ({ match }) => match.lastActionedBy?.actionedOn],
  ["explanation", ({ match }) => infoOf(match.matchData, "Explanation")],
];

/**
 * asCSV writes matches as CSV (RFC 4180) that spreadsheets open without running anything that is in it. Each line says
 * whether all that the filter shows is there.
 */
export function asCSV(rows: readonly Row[], { batchId, missing }: Exported): string {
  const extent = missing === "" ? "complete" : "partial";
  const lines = [
    ["batch_id", ...columns.map(([title]) => title), "export"],
    ...rows.map((row) => [batchId, ...columns.map(([, cell]) => cell(row)), extent]),
  ];
  return lines.map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/**
 * csvCell writes a cell. A text that begins as a formula does gets an apostrophe before it, by which spreadsheets take
 * it as text. Numbers are written as they are.
 */
export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

/** save has the browser store a text as a file. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
