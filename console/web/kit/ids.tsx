// Identifiers in narrow places.

import { visible } from "./safe.ts";

/**
 * Id shows an ID on one line. Where there is no room for all of it, its beginning is left out, because IDs that are
 * made one after another begin alike; the title has all of it.
 */
export function Id({ id }: { id: string }) {
  const shown = visible(id);
  return (
    <span class="mono id" title={shown}>
      <bdi dir="ltr">{shown}</bdi>
    </span>
  );
}
