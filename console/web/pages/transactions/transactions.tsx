// Finding a transaction: by its ID, or among those that were opened in this browser.

import { useState } from "preact/hooks";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Empty } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { Page } from "../../kit/page.tsx";
import { useRemembered } from "../../kit/remembered.ts";
import { Link, navigate } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { addressOfStored, pageOfTransaction } from "./stored.ts";

/** TransactionsPage opens a transaction by its ID. */
export default function TransactionsPage() {
  const [id, setId] = useState("");
  const { ids, forget } = useRemembered("transactions");
  const curl = useCurl();
  const bytes = new TextEncoder().encode(id).length;
  const isTooLong = bytes > 255;
  return (
    <Page title="Transactions">
      <form
        class="open-transaction"
        onSubmit={(event) => {
          event.preventDefault();
          if (id !== "" && !isTooLong) navigate(pageOfTransaction(id));
        }}
      >
        <TextField
          label="Transaction ID (transaction_external_id, exactly as it was sent)"
          value={id}
          onValue={setId}
          required
          search
          error={isTooLong ? `An ID has 255 bytes at most; this one has ${bytes}.` : undefined}
        />
        <div class="buttons">
          <button type="submit" class="primary" disabled={id === "" || isTooLong}>
            Open the transaction
          </button>
        </div>
      </form>
      {ids.length === 0 ? (
        <Empty title="Open a transaction by its ID">
          <p>
            Stored transactions are read one by one. Those that you open are listed here, by their IDs, in this browser
            only.
          </p>
          <p>
            To store some, <Link to="/upload">upload a file</Link>, or send one with: <code>sluice send FILE</code>
          </p>
        </Empty>
      ) : (
        <section class="stack" aria-labelledby="latest">
          <h2 id="latest">Opened last in this browser</h2>
          <ul class="plain remembered">
            {ids.map((one) => (
              <li key={one}>
                <Link to={pageOfTransaction(one)} class="mono anywhere">
                  {visible(one)}
                </Link>
                <button type="button" class="link" aria-label={`Forget ${visible(one)}`} onClick={() => forget(one)}>
                  Forget
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Commands
        cli={`sluice transaction show ${shellQuote(id || "ID")}`}
        curl={curl("GET", addressOfStored(id || "ID"))}
      />
    </Page>
  );
}
