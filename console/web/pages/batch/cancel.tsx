// Cancelling a batch.

import { useState } from "preact/hooks";
import { post } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { useAction } from "../../kit/resource.ts";
import type { BatchState } from "../../kit/status.tsx";
import { isCancellable } from "../batches/record.tsx";

/** CancelButton asks before it cancels a batch. It is there only while the service would cancel it. */
export function CancelButton({ id, status, onDone }: { id: string; status: BatchState | null; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  const curl = useCurl();
  const cancel = useAction(() =>
    post("/tm/realtime/api/transactions/batch/cancel/{batch_id}", { path: { batch_id: id } }),
  );
  const isTooLate = cancel.error?.status === 409;
  if (!isCancellable(status) && !open) return null;
  const close = () => {
    setOpen(false);
    cancel.clear();
  };
  const confirm = async () => {
    if (await cancel.run()) close();
    onDone();
  };
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        Cancel the batch
      </button>
      <Confirm
        title="Cancel this batch?"
        open={open}
        action="Cancel the batch"
        keep={isTooLate ? "Back to the batch" : "Let it go on"}
        running={cancel.running || isTooLate}
        error={cancel.error}
        onConfirm={() => void confirm()}
        onClose={close}
      >
        {isTooLate ? (
          <p>
            It is too late: a batch can be cancelled until its lines begin to be stored. It goes on, or has ended; this
            page shows how.
          </p>
        ) : (
          <p>
            It ends in an error, and nothing of it is stored. An upload that arrives later is refused. This cannot be
            taken back; the file can be uploaded again.
          </p>
        )}
        <Commands cli={`sluice cancel ${id}`} curl={curl("POST", `/tm/realtime/api/transactions/batch/cancel/${id}`)} />
      </Confirm>
    </>
  );
}
