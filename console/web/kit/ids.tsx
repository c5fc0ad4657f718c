// Identifiers in narrow places.

import { visible } from "./safe.ts";

/** tail is how many characters of an ID are always shown: IDs that are made one after another begin alike. */
const tail = 8;

/** Id shows an ID on one line. Where there is no room for all of it, its middle is left out, and the title has all. */
export function Id({ id }: { id: string }) {
  const shown = visible(id);
  const characters = Array.from(shown);
  if (characters.length <= 2 * tail) {
    return (
      <bdi class="mono" title={shown}>
        {shown}
      </bdi>
    );
  }
  return (
    <bdi class="mono id" title={shown}>
      <span class="id-start">{characters.slice(0, -tail).join("")}</span>
      {characters.slice(-tail).join("")}
    </bdi>
  );
}
