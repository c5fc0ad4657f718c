// The list of batches: live, filtered by the address, loaded as it is scrolled.

import { useRef } from "preact/hooks";
import { addressOf } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Empty, ErrorNotice, Live, Skeleton, Stale } from "../../kit/feedback.tsx";
import { counted } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { Page } from "../../kit/page.tsx";
import { Link, pathTo, useQuery } from "../../kit/router.tsx";
import { useSession } from "../../kit/session.ts";
import { Table } from "../../kit/table.tsx";
import { columnsOf } from "./columns.tsx";
import { cliOf, type Filters, hasFilters, listQuery, noFilters } from "./filters.ts";
import { FilterForm } from "./filterform.tsx";
import { type Listing, useListing } from "./listing.ts";

export default function BatchesPage() {
  const [filters, setFilters] = useQuery(noFilters);
  const place = useRef<HTMLDivElement>(null);
  const listing = useListing(filters, () => isAtRest(place.current));
  const curl = useCurl();
  return (
    <Page
      title="Batches"
      actions={
        <Link to="/upload" class="button primary">
          <Icon name="upload" />
          Upload a file
        </Link>
      }
    >
      <FilterForm filters={filters} onChange={setFilters} />
      <div ref={place} class="stack">
        <Content listing={listing} filters={filters} clear={() => setFilters(noFilters, { push: true })} />
      </div>
      <Commands
        cli={cliOf(filters)}
        curl={curl(
          "GET",
          addressOf("/tm/realtime/api/transactions/batch", undefined, { ...listQuery(filters), limit: 200 }),
        )}
      />
    </Page>
  );
}

/**
 * isAtRest reports whether nobody uses the table: it shows its first rows, and neither the pointer nor the focus is in
 * it.
 */
function isAtRest(place: HTMLElement | null): boolean {
  const body = place?.querySelector(".table");
  return !body || (body.scrollTop === 0 && !place!.matches(":hover") && !place!.contains(document.activeElement));
}

function Content({ listing, filters, clear }: { listing: Listing; filters: Filters; clear: () => void }) {
  const { rows, error, fresh } = listing;
  const session = useSession();
  const columns = columnsOf(session.client_id);
  if (rows === undefined) return error ? <ErrorNotice error={error} retry={listing.reload} /> : <Skeleton lines={16} />;
  if (rows.length === 0 && listing.isComplete && !listing.loading) {
    return (
      <>
        {error && <Stale at={listing.at} error={error} retry={listing.reload} />}
        {hasFilters(filters) ? (
          <Empty title="No batch matches these filters.">
            <p>Names are found by how they begin, in the same case.</p>
            <button type="button" onClick={clear}>
              Clear the filters
            </button>
          </Empty>
        ) : (
          <FirstBatch />
        )}
      </>
    );
  }
  return (
    <>
      {error && <Stale at={listing.at} error={error} retry={listing.reload} />}
      <Table
        label="Batches"
        columns={columns}
        rows={rows}
        rowKey={(row) => row.batch_id}
        open={(row) => pathTo("batches", row.batch_id)}
        onEnd={listing.more}
      />
      <div class="list-foot">
        <span class="tabular">
          {counted(rows.length, "batch", "batches")}
          {footOf(listing)}
        </span>
        {listing.paused && (
          <button type="button" onClick={listing.more}>
            Search further back
          </button>
        )}
        {fresh.length > 0 && (
          <button
            type="button"
            onClick={(event) => {
              listing.showFresh();
              event.currentTarget.closest(".stack")?.querySelector(".table")?.scrollTo(0, 0);
            }}
          >
            Show {counted(fresh.length, "new batch", "new batches")}
          </button>
        )}
      </div>
      <Live text={fresh.length > 0 ? counted(fresh.length, "new batch", "new batches") : ""} />
    </>
  );
}

/** footOf says what follows the rows. */
function footOf({ loading, loadingMore, isComplete, paused }: Listing): string {
  if (loading || loadingMore) return ", loading";
  if (isComplete) return ": all of them";
  return paused ? ". The last 10,000 that were looked at do not match" : " loaded, scroll for more";
}

/** FirstBatch says what to do where there is no batch. */
function FirstBatch() {
  return (
    <Empty title="There are no batches yet.">
      <p>
        Upload a file of transactions, one JSON object a line. It is checked on this machine before anything is sent.
      </p>
      <Link to="/upload" class="button">
        <Icon name="upload" />
        Upload a file
      </Link>
      <Commands
        does="try it with generated transactions"
        cli={"sluice generate --lines 1000 -o trial.jsonl\nsluice upload trial.jsonl --max-rejected 100%"}
      />
    </Empty>
  );
}
