// Stored transactions as they were sent: numbers keep their digits, since the answer is not read by JSON.parse.

import { addressOf, ApiError, sendForText } from "../../kit/api.ts";
import { type JsonNode, leavesOf, memberOf, parseJson, textOf } from "../../kit/jsontext.ts";
import { type Field } from "../../kit/compare.tsx";

/** Modification is the newest version of one modification of a transaction. */
export interface Modification {
  id: string;
  /** batchId is "" for a transaction that was sent singly, and line undefined. */
  batchId: string;
  line: string | undefined;
  receivedAt: string;
  /** role and entityId name the entity for which the transaction is monitored; "" if there is none. */
  role: string;
  entityId: string;
  type: string;
  /** amount and currency are as they were sent; "" if they are missing. */
  amount: string;
  currency: string;
  createdAt: string;
  /** fields are all values of the line with their paths. */
  fields: readonly Field[];
  /** text is the line as it was sent. */
  text: string;
}

/** StoredPage is a page of the modifications of a transaction. */
export interface StoredPage {
  transactionId: string;
  items: readonly Modification[];
  next: string | undefined;
}

/** addressOfStored returns the path of the interface for a transaction, which for some IDs is another one. */
export function addressOfStored(id: string, after?: string): string {
  const prefix = "/tm/realtime/api/transactions";
  if (id === "." || id === ".." || id === "batch") return addressOf(prefix, {}, { transaction_external_id: id, after });
  return addressOf(prefix + "/{id}", { id }, { after });
}

/** pageOfTransaction returns the console's address of a transaction. The paths . and .. lead elsewhere in a browser. */
export function pageOfTransaction(id: string): string {
  return id === "." || id === ".."
    ? `/transactions/dots?${new URLSearchParams({ id })}`
    : `/transactions/${encodeURIComponent(id)}`;
}

/** readStored reads a page of a transaction; after is the next of the page before. */
export async function readStored(id: string, after: string | undefined, signal: AbortSignal): Promise<StoredPage> {
  const text = await sendForText("get", "/api" + addressOfStored(id, after), { signal });
  let root: JsonNode;
  try {
    root = parseJson(text);
  } catch (cause) {
    throw new ApiError(0, "The service's answer is not JSON.", [String(cause)], "", 0, cause);
  }
  const modifications = memberOf(root, "modifications");
  return {
    transactionId: textOf(memberOf(root, "transaction_external_id")) ?? id,
    items: modifications?.kind === "array" ? modifications.items.map((node) => modificationOf(node, text)) : [],
    next: textOf(memberOf(root, "next_after")),
  };
}

function modificationOf(node: JsonNode, text: string): Modification {
  const line = memberOf(node, "transaction");
  const modification = memberOf(line, "modification");
  const main = memberOf(node, "main_entity");
  const of = (from: JsonNode | undefined, key: string) => textOf(memberOf(from, key)) ?? "";
  return {
    id: of(node, "modification_external_id"),
    batchId: of(node, "batch_id"),
    line: textOf(memberOf(node, "line")),
    receivedAt: of(node, "received_at"),
    role: of(main, "role"),
    entityId: of(main, "by_external_id"),
    type: of(modification, "type"),
    amount: of(modification, "amount"),
    currency: of(modification, "currency"),
    createdAt: of(modification, "created_at"),
    fields: line ? leavesOf(line) : [],
    text: line ? text.slice(line.start, line.end) : "",
  };
}

/** timeOf reads a time of a line: without an offset it is one of UTC. Undefined if the text is none. */
export function timeOf(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/i.test(text)) return undefined;
  const withOffset = /(?:z|[+-]\d{2}:\d{2})$/i.test(text) ? text : text + "Z";
  return Number.isNaN(Date.parse(withOffset)) ? undefined : withOffset;
}
