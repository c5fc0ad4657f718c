// What the threshold means: how much is missed, and how much is found in vain, at each.

import { formatCount } from "../../kit/format.tsx";

/** measured is what docs/screening.md says of the lists of the United Nations and of the United States Treasury. */
const measured: readonly (readonly [threshold: number, missed: number, inVain: number])[] = [
  [60, 2.9, 1632],
  [65, 2.9, 753],
  [70, 2.9, 364],
  [75, 4.4, 138],
  [80, 4.4, 73],
  [85, 4.4, 61],
  [90, 5.8, 61],
  [95, 13.1, 24],
];

/** Threshold explains the threshold; current is the one that is used, if it is known. */
export function Threshold({ current }: { current: number | undefined }) {
  return (
    <details class="commands">
      <summary>What the threshold{current !== undefined && ` (now ${current})`} means</summary>
      <p>
        An entry is a hit if its score reaches the threshold. A score is 100 if all words met in the same form; words
        that are missing, differ or are only alike take from it, and so do other dates of birth, countries and genders
        where both sides have them. A lower threshold misses less and finds more in vain:
      </p>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Misses and false hits by threshold">
        <table class="threshold-table">
          <thead>
            <tr>
              <th scope="col" class="end">
                Threshold
              </th>
              <th scope="col" class="end">
                Missed of 1,000 names that are on a list
              </th>
              <th scope="col" class="end">
                False hits of 100,000 names that are not
              </th>
            </tr>
          </thead>
          <tbody>
            {measured.map(([threshold, missed, inVain], i) => {
              const isCurrent =
                current !== undefined && current >= threshold && current < (measured[i + 1]?.[0] ?? 101);
              return (
                <tr key={threshold} class={isCurrent ? "is-current" : undefined}>
                  <td class="end">
                    {threshold}
                    {isCurrent && <span class="visually-hidden"> (near the one in use)</span>}
                  </td>
                  <td class="end">{missed}</td>
                  <td class="end">{formatCount(inVain)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="aside">
        Measured with the consolidated list of the United Nations (February 2026) and the list of the United States
        Treasury (July 2021): docs/screening.md.
      </p>
    </details>
  );
}
