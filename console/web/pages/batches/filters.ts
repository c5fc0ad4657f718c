// The filters of the list of batches: as they are in the address, as the service takes them, and as the command line
// does.

import { shellQuote } from "../../kit/commands.tsx";
import type { Query } from "../../kit/router.tsx";
import { allBatchStates } from "../../kit/status.tsx";
import { createdAt, isId } from "./record.tsx";

/** FilterKey is the key of a filter in the address of the page. */
type FilterKey = "search" | "state" | "status" | "after" | "before" | "client" | "metadata";

/** noFilters are the filters of an address that has none. */
export const noFilters: Query<FilterKey> = {
  search: "",
  state: "",
  status: "",
  after: "",
  before: "",
  client: "",
  metadata: "",
};

/** Filters are the values of all filters, as texts. */
export type Filters = Query<FilterKey>;

/** hasFilters reports whether any filter is set. */
export function hasFilters(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== "");
}

/** states are the values of the filter by state, with what people call them and what they mean. */
export const states = [
  { value: "awaiting_upload", text: "Awaiting upload", means: "The file has not come." },
  { value: "open", text: "Open", means: "The batch has not ended; batches that await their upload are among them." },
  { value: "ended", text: "Ended", means: "The batch was processed, was rejected or ended early." },
];

const stateValues = states.map(({ value }) => value);

/** chosenOf returns the values that a filter names, in the order of all; unknown ones are left out. */
function chosenOf(filter: string, all: readonly string[]): string[] {
  return all.filter((value) => isChosen(filter, value));
}

/** toggle adds a value to those of a filter, or takes it away; all are those that it may have. */
export function toggle(filter: string, value: string, all: readonly string[]): string {
  const others = chosenOf(filter, all).filter((other) => other !== value);
  return (isChosen(filter, value) ? others : [...others, value]).join(",");
}

/** isChosen reports whether a filter names a value. */
export function isChosen(filter: string, value: string): boolean {
  return filter.split(",").includes(value);
}

/** pairsOf splits the filter of metadata, KEY=VALUE; KEY=VALUE. */
export function pairsOf(filters: Filters): [key: string, value: string][] {
  return filters.metadata
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.indexOf("=") > 0)
    .map((pair) => [pair.slice(0, pair.indexOf("=")).trim(), pair.slice(pair.indexOf("=") + 1).trim()]);
}

/**
 * listQuery returns the query of the list. A search for an ID becomes one for the moment in which that batch was
 * created.
 */
export function listQuery(filters: Filters): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  const state = chosenOf(filters.state, stateValues);
  const status = chosenOf(filters.status, allBatchStates);
  if (state.length > 0) query.state = state;
  if (status.length > 0) query.status = status;
  if (filters.after) query.created_after = filters.after;
  if (filters.before) query.created_before = filters.before;
  if (filters.client) query.client_id = filters.client;
  for (const [key, value] of pairsOf(filters)) query[`metadata.${key}`] = value;
  const search = filters.search.trim();
  if (isId(search) && createdAt(search)) {
    const at = Date.parse(createdAt(search));
    query.created_after = new Date(at - 2000).toISOString();
    query.created_before = new Date(at + 2000).toISOString();
  } else if (search) {
    query.name = filters.search;
  }
  return query;
}

/** cliOf writes the same list as a command. */
export function cliOf(filters: Filters): string {
  const search = filters.search.trim();
  if (isId(search)) return `sluice status ${search}`;
  const words = ["sluice batches"];
  for (const state of chosenOf(filters.state, stateValues)) words.push(`--state ${state}`);
  for (const status of chosenOf(filters.status, allBatchStates)) words.push(`--status ${status}`);
  if (filters.after) words.push(`--created-after ${filters.after}`);
  if (filters.before) words.push(`--created-before ${filters.before}`);
  if (filters.client) words.push(`--client ${shellQuote(filters.client)}`);
  if (search) words.push(`--name ${shellQuote(filters.search)}`);
  for (const [key, value] of pairsOf(filters)) words.push(`--metadata ${shellQuote(`${key}=${value}`)}`);
  return words.join(" ");
}

/** toLocal writes a time of RFC 3339 as a field of type datetime-local takes it; "" if it is none. */
export function toLocal(at: string): string {
  const time = new Date(at);
  if (at === "" || Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** fromLocal reads the value of such a field as a time of RFC 3339; "" if it is not complete. */
export function fromLocal(text: string): string {
  const time = new Date(text);
  return text === "" || Number.isNaN(time.getTime()) ? "" : time.toISOString().replace(".000Z", "Z");
}
