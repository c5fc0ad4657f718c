// The list of a transaction's modifications, in which two are chosen to be compared.

import { formatCount, Time } from "../../kit/format.tsx";
import { Link, pathTo } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
import type { Modification } from "./stored.ts";

interface ModificationsProps {
  items: readonly Modification[];
  /** left and right are the IDs of the chosen ones; left is undefined if there is one only. */
  left: string | undefined;
  right: string;
  onChoose: (side: "left" | "right", id: string) => void;
  onEnd: (() => void) | undefined;
}

/** Modifications lists modifications, the latest first. With one alone there is nothing to choose. */
export function Modifications({ items, left, right, onChoose, onEnd }: ModificationsProps) {
  if (left === undefined) return null;
  const choice = (side: "left" | "right", chosen: string): Column<Modification> => ({
    key: side,
    title: side === "left" ? "Left" : "Right",
    width: "2.75rem",
    cell: (m) => (
      <input
        type="radio"
        name={`choose-${side}`}
        checked={m.id === chosen}
        disabled={m.id === (side === "left" ? right : left)}
        aria-label={`${visible(m.id)} on the ${side}`}
        onClick={(event) => {
          // Not onChange: the row is drawn anew by a click, which takes the choice back before there is a change.
          event.stopPropagation();
          onChoose(side, m.id);
        }}
      />
    ),
  });
  const columns: readonly Column<Modification>[] = [
    choice("left", left),
    choice("right", right),
    {
      key: "id",
      title: "Modification",
      width: "minmax(8rem, 2fr)",
      cell: (m) => (
        <bdi class="mono" title={visible(m.id)}>
          {visible(m.id)}
        </bdi>
      ),
    },
    { key: "type", title: "Type", width: "6.5rem", narrow: false, cell: (m) => <bdi>{visible(m.type)}</bdi> },
    {
      key: "amount",
      title: "Amount",
      width: "minmax(7rem, 1fr)",
      align: "end",
      cell: (m) => (
        <span title={`${visible(m.amount)} ${visible(m.currency)}`}>
          {visible(m.amount)} {visible(m.currency)}
        </span>
      ),
    },
    {
      key: "received",
      title: "Received",
      width: "8rem",
      narrow: false,
      cell: (m) => <Time at={m.receivedAt} form="short" />,
    },
    {
      key: "batch",
      title: "Batch and line",
      width: "10rem",
      narrow: false,
      cell: (m) =>
        m.batchId ? (
          <>
            <Link to={pathTo("batches", m.batchId)}>
              <span class="mono">{m.batchId.slice(0, 8)}</span>
            </Link>{" "}
            {m.line && formatCount(Number(m.line))}
          </>
        ) : (
          "sent singly"
        ),
    },
  ];
  return (
    <section class={items.length < 12 ? "modifications is-short" : "modifications"} aria-label="Modifications">
      <Table label="Modifications" columns={columns} rows={items} rowKey={(m) => m.id} onEnd={onEnd} />
    </section>
  );
}
