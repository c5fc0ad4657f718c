// The address of the page: its path names what is shown, its query holds filters, sorting and selection, so that
// reloading, Back, Forward and a copied address show the same.

import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { useCallback, useLayoutEffect, useMemo, useState } from "preact/hooks";

/** Address is where the person is: a path and the query after it. */
export interface Address {
  path: string;
  query: URLSearchParams;
  /** entry names the entry of the browser's history; Back and Forward lead to the same one again. */
  entry: string;
}

/** EntryState is what the browser keeps with an entry of its history; beside it are the values that useKept keeps. */
interface EntryState {
  entry: string;
  /** from is the address of the page that led to this one; "" if this one is the first of its tab. */
  from: string;
  /** steps is how many entries it lies behind. */
  steps: number;
}

/**
 * readKept returns what the entry of the browser's history that is shown keeps beside its address: values by their
 * keys.
 */
function readKept(): Readonly<Record<string, unknown>> {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null ? (state as Record<string, unknown>) : {};
}

const changed = "sluice:address";

/** readAddress returns the address that the browser shows. */
export function readAddress(): Address {
  return { path: location.pathname, query: new URLSearchParams(location.search), entry: readState().entry };
}

/** readState returns the state of the entry that the browser shows. */
function readState(): EntryState {
  const kept = readKept();
  if (typeof kept.entry === "string") return kept as unknown as EntryState;
  const first = { ...kept, entry: crypto.randomUUID(), from: "", steps: 0 };
  history.replaceState(first, "");
  return first;
}

/**
 * navigate shows another page of the console. With replace it takes the place of this one in the browser's history.
 * What useKept keeps goes with it while the path stays the same.
 */
export function navigate(to: string, { replace = false } = {}): void {
  const now = location.pathname + location.search;
  if (to === now) return;
  const { entry, from, steps } = readState();
  const isSamePage = to.split("?", 1)[0] === location.pathname;
  const kept = isSamePage ? readKept() : {};
  if (replace) history.replaceState({ ...kept, entry, from, steps }, "", to);
  else {
    const behind = isSamePage ? { from, steps: steps + 1 } : { from: now, steps: 1 };
    history.pushState({ ...kept, entry: crypto.randomUUID(), ...behind }, "", to);
  }
  dispatchEvent(new Event(changed));
}

/** useAddress returns the address and renders again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(readAddress);
  // Before anything else can happen: an address that changed between rendering and a later effect would be missed.
  useLayoutEffect(() => {
    const update = () => setAddress(readAddress());
    addEventListener("popstate", update);
    addEventListener(changed, update);
    return () => {
      removeEventListener("popstate", update);
      removeEventListener(changed, update);
    };
  }, []);
  return address;
}

/**
 * Query is the query of the address as an object of single values; those that equal their default are not in the
 * address.
 */
export type Query<Keys extends string> = Record<Keys, string>;

/**
 * useQuery returns the values of the named keys of the address's query and a function that changes some of them. Typing
 * into a field replaces the address; a choice that a person may want to take back by Back adds one (push).
 */
export function useQuery<Keys extends string>(
  defaults: Query<Keys>,
): [Query<Keys>, (change: Partial<Query<Keys>>, options?: { push?: boolean }) => void] {
  const { query } = useAddress();
  const text = query.toString();
  // The defaults are constants of the page, so the values change with the address alone.
  const values = useMemo(() => {
    const read = { ...defaults };
    for (const key of Object.keys(defaults) as Keys[]) read[key] = query.get(key) ?? defaults[key];
    return read;
  }, [text]);
  const change = useCallback((some: Partial<Query<Keys>>, { push = false } = {}) => {
    const { path, query } = readAddress();
    for (const [key, value] of Object.entries(some) as [Keys, string][]) {
      if (value === defaults[key]) query.delete(key);
      else query.set(key, value);
    }
    const text = query.toString();
    navigate(path + (text && "?" + text), { replace: !push });
  }, []);
  return [values, change];
}

/**
 * useKept is useQuery for what must not stand in the address, such as the name of a person, because addresses are
 * listed in the browser's history and copied. It is kept with the entry of the history instead: reloading, Back and
 * Forward show it again in this tab.
 */
export function useKept<Keys extends string>(
  defaults: Query<Keys>,
): [Query<Keys>, (change: Partial<Query<Keys>>) => void] {
  useAddress();
  const kept = readKept();
  const text = JSON.stringify(Object.keys(defaults).map((key) => kept[key]));
  const values = useMemo(() => {
    const read = { ...defaults };
    for (const key of Object.keys(defaults) as Keys[]) {
      const value = kept[key];
      if (typeof value === "string") read[key] = value;
    }
    return read;
  }, [text]);
  const change = useCallback((some: Partial<Query<Keys>>) => {
    history.replaceState({ ...readKept(), ...some }, "");
    dispatchEvent(new Event(changed));
  }, []);
  return [values, change];
}

/** Parameters are the parts of a path that a pattern names by a colon, decoded. */
export type Parameters = Record<string, string>;

/** matchPath compares a path with a pattern such as /batches/:id. It returns undefined if they differ. */
export function matchPath(pattern: string, path: string): Parameters | undefined {
  const wanted = pattern.split("/");
  const given = path.replace(/(.)\/$/, "$1").split("/");
  if (wanted.length !== given.length) return undefined;
  const parameters: Parameters = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i]!;
    if (!part.startsWith(":")) {
      if (part !== value) return undefined;
      continue;
    }
    try {
      parameters[part.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
    if (value === "") return undefined;
  }
  return parameters;
}

/** pathTo builds an address from parts, each encoded: pathTo("batches", id). */
export function pathTo(...parts: string[]): string {
  return "/" + parts.map(encodeURIComponent).join("/");
}

/**
 * BackLink leads up to a list. If the person came from there, it goes back to it, so that filters, the selected row
 * and what was scrolled to are as they were.
 */
export function BackLink({ to, children }: { to: string; children: ComponentChildren }) {
  const { from, steps } = readState();
  const cameFromList = from === to || from.startsWith(to + "?");
  return (
    <a
      href={cameFromList ? from : to}
      onClick={(event) => {
        if (!isPlainClick(event)) return;
        event.preventDefault();
        if (cameFromList) history.go(-steps);
        else navigate(to);
      }}
    >
      {children}
    </a>
  );
}

/**
 * isPlainClick reports whether a click is for this window: with other buttons and keys the browser opens another one.
 */
function isPlainClick(event: TargetedMouseEvent<HTMLAnchorElement>): boolean {
  const isModified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  return !event.defaultPrevented && event.button === 0 && !isModified;
}

interface LinkProps {
  /** to is an address of the console; it begins with a slash. */
  to: string;
  class?: string;
  title?: string;
  "aria-label"?: string;
  "aria-current"?: "page" | undefined;
  children: ComponentChildren;
}

/** Link leads to another page of the console without loading the whole anew. */
export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={to} onClick={follow}>
      {children}
    </a>
  );
}
