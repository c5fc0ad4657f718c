// The screening batches that were opened last in this browser, by their IDs only: whom they are about is not kept here.

/** Recent is a batch that was opened. */
export interface Recent {
  id: string;
  /** at is when it was last opened. */
  at: string;
}

/** kept is how many batches are remembered. */
const kept = 20;

function keyOf(tenantId: string): string {
  return `sluice-screenings:${tenantId}`;
}

/** readRecent returns the batches that were opened last, newest first. */
export function readRecent(tenantId: string): Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(tenantId)) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecent).slice(0, kept) : [];
  } catch {
    return [];
  }
}

function isRecent(value: unknown): value is Recent {
  const { id, at } = (value ?? {}) as Partial<Recent>;
  return typeof id === "string" && typeof at === "string" && isBatchId(id);
}

/** isBatchId reports whether a text has the form of the ID of a batch. */
export function isBatchId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** remember notes that a batch was opened. */
export function remember(tenantId: string, id: string): void {
  const others = readRecent(tenantId).filter((one) => one.id !== id);
  store(tenantId, [{ id, at: new Date().toISOString() }, ...others]);
}

/** forget removes what was remembered. */
export function forget(tenantId: string): void {
  store(tenantId, []);
}

function store(tenantId: string, recent: readonly Recent[]): void {
  try {
    localStorage.setItem(keyOf(tenantId), JSON.stringify(recent.slice(0, kept)));
  } catch {
    // Without storage nothing is remembered.
  }
}
