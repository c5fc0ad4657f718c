// The address of the page: its path names what is shown, its query holds filters, sorting and selection, so that
// reloading, Back, Forward and a copied address show the same.

import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";

/** Address is where the person is: a path and the query after it. */
export interface Address {
  path: string;
  query: URLSearchParams;
}

/** readKept returns what the entry of the browser's history that is shown keeps beside its address: values by their keys. */
function readKept(): Readonly<Record<string, unknown>> {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null ? (state as Record<string, unknown>) : {};
}

const changed = "sluice:address";

/** readAddress returns the address that the browser shows. */
export function readAddress(): Address {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/**
 * navigate shows another page of the console. With replace it takes the place of this one in the browser's history. What
 * useKept keeps goes with it while the path stays the same.
 */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === location.pathname + location.search) return;
  const state = to.split("?", 1)[0] === location.pathname ? history.state : null;
  if (replace) history.replaceState(state, "", to);
  else history.pushState(state, "", to);
  dispatchEvent(new Event(changed));
}

/** useAddress returns the address and renders again when it changes. */
export function useAddress(): Address {
  const [address, setAddress] = useState(readAddress);
  useEffect(() => {
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

/** Query is the query of the address as an object of single values; those that equal their default are not in the address. */
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
 * useKept is useQuery for what must not stand in the address, such as the name of a person, because addresses are listed
 * in the browser's history and copied. It is kept with the entry of the history instead: reloading, Back and Forward show
 * it again in this tab.
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
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={to} onClick={follow}>
      {children}
    </a>
  );
}
