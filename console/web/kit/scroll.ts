// Where the page is scrolled to, for each entry of the browser's history. The browser's own way knows nothing of
// content that comes later.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { readAddress } from "./router.tsx";

/** patience is how long in milliseconds content is awaited that is high enough to be scrolled as it was. */
const patience = 10_000;

/** storedKey is the key of the place of the entry from which the page was reloaded. */
const storedKey = "sluice-scroll";

const tops = new Map<string, number>();

/** useScroll begins a page at its top, and puts one to which Back, Forward or a reload leads where it was. */
export function useScroll(entry: string, path: string): void {
  const before = useRef(path);
  useEffect(() => {
    history.scrollRestoration = "manual";
    const note = () => tops.set(readAddress().entry, scrollY);
    const store = () => sessionStorage.setItem(storedKey, JSON.stringify([readAddress().entry, scrollY]));
    addEventListener("scroll", note);
    addEventListener("pagehide", store);
    return () => {
      removeEventListener("scroll", note);
      removeEventListener("pagehide", store);
    };
  }, []);
  useLayoutEffect(() => {
    const isOther = before.current !== path;
    before.current = path;
    const top = tops.get(entry) ?? takeStored(entry);
    if (top !== undefined) return scrollAsSoonAsPossible(top);
    if (isOther) scrollTo(0, 0);
    tops.set(entry, scrollY);
    return undefined;
  }, [entry]);
}

function takeStored(entry: string): number | undefined {
  try {
    const [of, top] = JSON.parse(sessionStorage.getItem(storedKey) ?? "[]") as [string?, number?];
    sessionStorage.removeItem(storedKey);
    return of === entry ? top : undefined;
  } catch {
    return undefined;
  }
}

/** intents are the events by which a person begins to use the page; from then on nothing but the person scrolls it. */
const intents = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/**
 * scrollAsSoonAsPossible scrolls when the page is high enough, unless the person uses it before. It returns what ends
 * it.
 */
function scrollAsSoonAsPossible(top: number): () => void {
  const attempt = () => {
    scrollTo(0, top);
    if (Math.abs(scrollY - top) < 1) end();
  };
  const observer = new ResizeObserver(attempt);
  const end = () => {
    observer.disconnect();
    for (const intent of intents) removeEventListener(intent, end);
    clearTimeout(timer);
  };
  const timer = setTimeout(end, patience);
  for (const intent of intents) addEventListener(intent, end, { passive: true });
  observer.observe(document.body);
  attempt();
  return end;
}
