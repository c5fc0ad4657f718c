// What this browser remembers for a person: the IDs of what was opened last, for each tenant. IDs only, no data.

import { useEffect, useState } from "preact/hooks";
import { useSession } from "./session.ts";

/** most is how many IDs of one kind are remembered. */
const most = 20;

/**
 * useRemembered returns the IDs of a kind that were remembered, the latest first, and what remembers and forgets one.
 */
export function useRemembered(kind: string): {
  ids: readonly string[];
  remember: (id: string) => void;
  forget: (id: string) => void;
} {
  const { tenant_id } = useSession();
  const key = `sluice-${kind}-${tenant_id}`;
  const [ids, setIds] = useState(() => read(key));
  useEffect(() => setIds(read(key)), [key]);
  const write = (change: (old: string[]) => string[]) => {
    const next = change(read(key)).slice(0, most);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // The browser stores nothing; then nothing is remembered.
    }
    setIds(next);
  };
  return {
    ids,
    remember: (id) => write((old) => [id, ...old.filter((one) => one !== id)]),
    forget: (id) => write((old) => old.filter((one) => one !== id)),
  };
}

function read(key: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string").slice(0, most) : [];
  } catch {
    return [];
  }
}
