// A stored transaction: its modifications, and two of them beside each other with what changed between them.

import { useEffect, useMemo } from "preact/hooks";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { compare, Comparison, FieldTable } from "../../kit/compare.tsx";
import { Empty, ErrorNotice, Live, Skeleton } from "../../kit/feedback.tsx";
import { counted, Time } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { usePages } from "../../kit/pages.ts";
import { useRemembered } from "../../kit/remembered.ts";
import { Link, type Parameters, pathTo, useAddress, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { Modifications } from "./modifications.tsx";
import { addressOfStored, type Modification, readStored, timeOf } from "./stored.ts";

/** TransactionPage shows the transaction of the address. */
export default function TransactionPage({ parameters }: { parameters: Parameters }) {
  const { query } = useAddress();
  const id = (parameters.id === "dots" && query.get("id")) || parameters.id!;
  const curl = useCurl();
  const { remember, forget } = useRemembered("transactions");
  const pages = usePages(`transaction ${id}`, (after, signal) => readStored(id, after, signal));
  const { items, isComplete, error } = pages;
  const isThere = items !== undefined && items.length > 0;
  useEffect(() => {
    if (isThere) remember(id);
    else if (error?.status === 404) forget(id);
  }, [id, isThere, error]);
  const count = items && `${counted(items.length, "modification")}${isComplete ? "" : " so far"}`;
  return (
    <Page
      title={`Transaction ${id}`}
      beside={<span class="aside tabular">{count}</span>}
      actions={
        <button type="button" onClick={pages.reload}>
          Load again
        </button>
      }
    >
      {count && <Live text={count} />}
      {error &&
        (error.status === 404 ? (
          <Empty title="No transaction of this ID is stored.">
            <p>
              IDs are compared exactly. Lines of a batch are there once it is PROCESSED.{" "}
              <Link to="/transactions">Open another one</Link>
            </p>
          </Empty>
        ) : (
          <ErrorNotice error={error} retry={items ? pages.more : pages.reload} />
        ))}
      {!items ? !error && <Skeleton lines={12} /> : <Versions items={items} onEnd={error ? undefined : pages.more} />}
      <Commands cli={`sluice transaction show ${shellQuote(id)}`} curl={curl("GET", addressOfStored(id))} />
    </Page>
  );
}

/**
 * Versions shows the modifications, and the chosen two compared: unless others are chosen, the two that were received
 * last.
 */
function Versions({ items, onEnd }: { items: readonly Modification[]; onEnd: (() => void) | undefined }) {
  const [{ left, right }, setQuery] = useQuery({ left: "", right: "" });
  const newestFirst = useMemo(() => [...items].sort((a, b) => orderOf(b).localeCompare(orderOf(a))), [items]);
  const after = newestFirst.find((m) => m.id === right) ?? newestFirst.find((m) => m.id !== left) ?? newestFirst[0];
  const before =
    newestFirst.find((m) => m.id === left && m !== after) ??
    newestFirst[newestFirst.indexOf(after!) + 1] ??
    newestFirst.find((m) => m !== after);
  const rows = useMemo(() => (before && after ? compare(before.fields, after.fields) : []), [before, after]);
  if (!after) return null;
  return (
    <>
      <Modifications
        items={newestFirst}
        onEnd={onEnd}
        left={before?.id}
        right={after.id}
        onChoose={(side, id) => setQuery({ [side]: id })}
      />
      <section class="stack" aria-labelledby="fields">
        <h2 id="fields">{before ? "Two modifications beside each other" : "The line as it was sent"}</h2>
        {before ? (
          <div class="panels">
            <Origin title="Left" modification={before} />
            <Origin title="Right" modification={after} />
          </div>
        ) : (
          <Origin title="Modification" modification={after} />
        )}
        {before ? (
          <Comparison
            label="Two modifications"
            leftTitle={<bdi>{visible(before.id)}</bdi>}
            rightTitle={<bdi>{visible(after.id)}</bdi>}
            rows={rows}
            describe={describeField}
          />
        ) : (
          <FieldTable label="The line" fields={after.fields} describe={describeField} />
        )}
      </section>
    </>
  );
}

/** orderOf is what modifications are sorted by: when they were received, then when they happened. */
function orderOf(m: Modification): string {
  const sortable = (text: string) => {
    const time = timeOf(text);
    return time ? new Date(time).toISOString() : text;
  };
  return `${sortable(m.receivedAt)} ${sortable(m.createdAt)} ${(m.line ?? "").padStart(12, "0")}`;
}

/** describeField shows a time of a line in the viewer's zone and in UTC below the time as it was sent. */
function describeField(path: string, text: string) {
  const time = /(^|_)(at|date|time)$/.test(path) ? timeOf(text) : undefined;
  return (
    time && (
      <div class="aside">
        <Time at={time} form="both" />
      </div>
    )
  );
}

/** Origin says what a modification is and where it came from. */
function Origin({ title, modification: m }: { title: string; modification: Modification }) {
  return (
    <section class="panel" aria-label={title}>
      <h3 class="anywhere">
        <span class="aside">{title}</span> <bdi>{visible(m.id)}</bdi>
      </h3>
      <dl class="facts">
        <div>
          <dt>Type</dt>
          <dd>
            <bdi>{visible(m.type)}</bdi>
          </dd>
        </div>
        <div>
          <dt>Amount</dt>
          <dd class="figure">
            {visible(m.amount)} {visible(m.currency)}
          </dd>
        </div>
        <div>
          <dt>Happened</dt>
          <dd>{timeOf(m.createdAt) ? <Time at={timeOf(m.createdAt)} form="both" /> : visible(m.createdAt)}</dd>
        </div>
        <div>
          <dt>Received</dt>
          <dd>
            <Time at={m.receivedAt} form="both" />
          </dd>
        </div>
        <div>
          <dt>Came by</dt>
          <dd>
            {m.batchId ? (
              <>
                <Link to={pathTo("batches", m.batchId)}>
                  batch <span class="mono">{m.batchId.slice(0, 8)}</span>
                </Link>
                , line {m.line}
              </>
            ) : (
              "sent singly"
            )}
          </dd>
        </div>
        <div>
          <dt>Monitored for</dt>
          <dd>
            {m.entityId ? (
              <>
                <Link to={pathTo("entities", m.entityId)}>
                  <span class="mono">{visible(m.entityId)}</span>
                </Link>
                , {m.role}
              </>
            ) : (
              "–"
            )}
          </dd>
        </div>
      </dl>
      <details>
        <summary>The line, byte for byte</summary>
        <pre class="excerpt line-text" tabIndex={0} aria-label={`The line of ${visible(m.id)}`}>
          {m.text}
        </pre>
      </details>
    </section>
  );
}
