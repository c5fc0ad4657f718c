// Scores of matches: 0 to 100, with one digit.

import { unknown } from "../../kit/format.tsx";

const oneDigit = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** formatScore writes a score; a dash if a provider gives none. */
export function formatScore(score: number | null | undefined): string {
  return score === null || score === undefined ? unknown : oneDigit.format(score);
}

/** Score shows a score. */
export function Score({ value }: { value: number | null | undefined }) {
  return <span class="tabular">{formatScore(value)}</span>;
}
