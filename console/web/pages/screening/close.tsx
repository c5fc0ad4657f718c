// Closing a screening batch.

import { useState } from "preact/hooks";
import { put } from "../../kit/api.ts";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { Confirm } from "../../kit/dialog.tsx";
import { useAction } from "../../kit/resource.ts";
import type { Batch } from "./batch.ts";

const completePath = "/screeningcommand/api/v3/batch/{id}/complete";

/** CloseBatch closes a batch after a question. */
export function CloseBatch({ batch, reload }: { batch: Batch; reload: () => void }) {
  const [asking, setAsking] = useState(false);
  const close = useAction(async () => {
    await put(completePath, { path: { id: batch.id } });
    setAsking(false);
    reload();
  });
  const curl = useCurl();
  return (
    <>
      <button
        type="button"
        onClick={() => {
          close.clear();
          setAsking(true);
        }}
      >
        Close the batch
      </button>
      <Confirm
        title="Close the batch"
        open={asking}
        action="Close the batch"
        running={close.running}
        error={close.error}
        onConfirm={() => void close.run()}
        onClose={() => setAsking(false)}
      >
        <p>
          A closed batch never changes: its decisions and assessments become history. Every match must be resolved
          before.
        </p>
        <Commands curl={curl("PUT", completePath.replace("{id}", batch.id))} />
      </Confirm>
    </>
  );
}
