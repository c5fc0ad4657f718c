// What the service's replies say of the limits of the tenant, as far as the page has seen any since it was loaded.

/** Limit is what is known of the limit of one operation. */
export interface Limit {
  /** operation is the method and the path of the operation, with the names of parameters. */
  operation: string;
  /**
   * remaining is how many requests were left when the last reply came, and reset in how many seconds there are more.
   */
  remaining: number;
  reset: number;
  /** least is the smallest number of requests that were left at any time, and most the greatest. */
  least: number;
  most: number;
  /** refused is how many requests were answered with 429. */
  refused: number;
  /** at is when the last reply came. */
  at: Date;
}

const seen = new Map<string, Limit>();

/** noteLimit notes what a reply says of the limit of its operation. */
export function noteLimit(operation: string, status: number, headers: Headers): void {
  const remaining = headers.get("X-Rate-Limit-Remaining");
  if (remaining === null && status !== 429) return;
  const left = Number(remaining ?? 0);
  const old = seen.get(operation);
  seen.set(operation, {
    operation,
    remaining: left,
    reset: Number(headers.get("X-Rate-Limit-Reset") ?? headers.get("Retry-After") ?? 0),
    least: Math.min(left, old?.least ?? left),
    most: Math.max(left, old?.most ?? left),
    refused: (old?.refused ?? 0) + (status === 429 ? 1 : 0),
    at: new Date(),
  });
}

/** limitsSeen returns the limits that were seen, those first of which the smallest part is left. */
export function limitsSeen(): Limit[] {
  return [...seen.values()].sort((a, b) => a.least / (a.most || 1) - b.least / (b.most || 1));
}
