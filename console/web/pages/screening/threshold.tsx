// What the threshold means: how much is missed, and how much is found in vain, at each.

import { formatCount } from "../../kit/format.tsx";
import { type SmallColumn, SmallTable } from "../../kit/smalltable.tsx";

interface Measured {
  threshold: number;
  /** missed is how many of 1,000 names that are on a list are missed. */
  missed: number;
  /** inVain is how many of 100,000 names that are on none are found. */
  inVain: number;
}

/** measured is what docs/screening.md says of the lists of the United Nations and of the United States Treasury. */
const measured: readonly Measured[] = [
  { threshold: 60, missed: 2.9, inVain: 1632 },
  { threshold: 65, missed: 2.9, inVain: 753 },
  { threshold: 70, missed: 2.9, inVain: 364 },
  { threshold: 75, missed: 4.4, inVain: 138 },
  { threshold: 80, missed: 4.4, inVain: 73 },
  { threshold: 85, missed: 4.4, inVain: 61 },
  { threshold: 90, missed: 5.8, inVain: 61 },
  { threshold: 95, missed: 13.1, inVain: 24 },
];

const columns: readonly SmallColumn<Measured>[] = [
  { title: "Threshold", align: "end", cell: ({ threshold }) => threshold },
  { title: "Missed of 1,000 names that are on a list", align: "end", cell: ({ missed }) => missed },
  { title: "False hits of 100,000 names that are not", align: "end", cell: ({ inVain }) => formatCount(inVain) },
];

/** Threshold explains the threshold; current is the one that is used, if it is known. */
export function Threshold({ current }: { current: number | undefined }) {
  const near = measured.findLast(({ threshold }) => current !== undefined && current >= threshold);
  return (
    <details class="commands">
      <summary>What the threshold{current !== undefined && ` (now ${current})`} means</summary>
      <p>
        An entry is a hit if its score reaches the threshold. A score is 100 if all words met in the same form; words
        that are missing, differ or are only alike take from it, and so do other dates of birth, countries and genders
        where both sides have them. A lower threshold misses less and finds more in vain:
      </p>
      <div class="threshold-table">
        <SmallTable
          label="Misses and false hits by threshold"
          columns={columns}
          rows={measured}
          rowKey={({ threshold }) => String(threshold)}
          isChosen={(row) => row === near}
        />
      </div>
      <p class="aside">
        Measured with the consolidated list of the United Nations (February 2026) and the list of the United States
        Treasury (July 2021): docs/screening.md.
      </p>
    </details>
  );
}
