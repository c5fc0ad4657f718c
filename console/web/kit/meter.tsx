// How much of a whole is done.

import { formatShare } from "./format.tsx";
import { Badge } from "./status.tsx";

/** Meter shows how much of a whole is done. of is 0 while it is not known. */
export function Meter({ label, value, of }: { label: string; value: number; of: number }) {
  const share = of > 0 ? Math.min(1, value / of) : 0;
  return (
    <div
      class="meter"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
    >
      <span style={{ width: `${share * 100}%` }} />
    </div>
  );
}

/** Sending shows how much of a file has been sent, in bytes. what names the file for screen readers. */
export function Sending({ what, sent, size }: { what: string; sent: number; size: number }) {
  return (
    <div class="sending">
      <Badge kind="info">Sending</Badge>
      <Meter label={`Sent of ${what}`} value={sent} of={size} />
      <span class="aside tabular">{formatShare(sent, size)}</span>
    </div>
  );
}
