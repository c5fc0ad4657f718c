// Scores of matches: 0 to 100, with one digit.

import type { ComponentChildren } from "preact";
import type { Schemas } from "../../kit/api.ts";
import { unknown } from "../../kit/format.tsx";
import { visible } from "../../kit/safe.ts";

const oneDigit = new Intl.NumberFormat(navigator.language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** formatScore writes a score; a dash if a provider gives none. */
export function formatScore(score: number | null | undefined): string {
  return score === null || score === undefined ? unknown : oneDigit.format(score);
}

/** Score shows a score. */
export function Score({ value }: { value: number | null | undefined }) {
  return <span class="tabular">{formatScore(value)}</span>;
}

/** MatchHeading is the name of an entry with its score and what else is told of the match. */
export function MatchHeading({ data, children }: { data: Schemas["MatchData"]; children?: ComponentChildren }) {
  return (
    <header class="match-head">
      <h2 dir="auto">{visible(data.name)}</h2>
      <p>
        Score{" "}
        <b>
          <Score value={data.matchScore} />
        </b>
      </p>
      {children}
    </header>
  );
}
