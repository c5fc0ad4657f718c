// Numbers, sizes and times as a person reads them: by the viewer's locale and zone, with UTC beside.

import { useEffect, useState } from "preact/hooks";

const whole = new Intl.NumberFormat(navigator.language, { maximumFractionDigits: 0 });
const oneDigit = new Intl.NumberFormat(navigator.language, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(navigator.language, { style: "percent", maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(navigator.language, { notation: "compact", maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat(navigator.language, { dateStyle: "medium", timeStyle: "medium" });
const timeOnly = new Intl.DateTimeFormat(navigator.language, { timeStyle: "medium" });
const shortDateTime = new Intl.DateTimeFormat(navigator.language, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

/** zone is the name of the viewer's zone: Europe/Amsterdam. */
export const zone = dateTime.resolvedOptions().timeZone;

/** unknown stands where a number is not known yet. */
export const unknown = "–";

/** formatCount writes a whole number; null and undefined as a dash. */
export function formatCount(n: number | null | undefined): string {
  return n === null || n === undefined ? unknown : whole.format(n);
}

/** formatCompact writes a number in few characters, for axes: 1.8M. */
export function formatCompact(n: number): string {
  return compact.format(n);
}

/** formatShare writes a part of a whole as a percentage; a part that is not 0 is never written as 0. */
export function formatShare(part: number, of: number): string {
  if (of === 0) return unknown;
  const share = part / of;
  if (part > 0 && share < 0.001) return "< " + percent.format(0.001);
  return percent.format(share);
}

/** counted writes a number with its noun: counted(1, "line") is "1 line". */
export function counted(n: number, noun: string, plural = noun + "s"): string {
  return `${formatCount(n)} ${n === 1 ? noun : plural}`;
}

/** formatBytes writes a size in decimal units: 2.1 GB. */
export function formatBytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return unknown;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = n;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${(size < 10 && unit > 0 ? oneDigit : whole).format(size)} ${units[unit]}`;
}

/** formatDuration writes milliseconds in the two largest units: 1 h 4 min, 9.5 s, 40 ms. */
export function formatDuration(ms: number): string {
  const s = ms / 1000;
  if (s < 0.95) return `${whole.format(Math.max(0, ms))} ms`;
  if (s < 10) return `${oneDigit.format(Math.max(0, s))} s`;
  const minutes = Math.floor(s / 60);
  if (minutes === 0) return `${whole.format(s)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours === 0) return `${minutes} min ${whole.format(Math.floor(s % 60))} s`;
  const days = Math.floor(hours / 24);
  return days === 0 ? `${hours} h ${minutes % 60} min` : `${days} d ${hours % 24} h`;
}

/** formatTime writes a time of this day. */
export function formatTime(at: Date): string {
  return timeOnly.format(at);
}

/** utc writes a time in UTC, to the second: 2026-01-31 23:59:59 UTC. */
function utc(at: Date): string {
  return at.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

interface TimeProps {
  /** at is a time of RFC 3339; null shows a dash. */
  at: string | null | undefined;
  /** form says how much is shown: all, short (for tables), time (of the day), both (local time and UTC beside). */
  form?: "all" | "short" | "time" | "both";
}

/** Time shows a time in the viewer's zone; its title has it in UTC. */
export function Time({ at, form = "all" }: TimeProps) {
  const time = at ? new Date(at) : undefined;
  if (!time || Number.isNaN(time.getTime())) return <span>{unknown}</span>;
  const format = form === "short" ? shortDateTime : form === "time" ? timeOnly : dateTime;
  return (
    <time dateTime={at!} title={`${dateTime.format(time)} · ${utc(time)}`} class="tabular">
      {format.format(time)}
      {form === "both" && <span class="aside"> {utc(time)}</span>}
    </time>
  );
}

/** useNow returns the time and renders again every so many milliseconds; 0 does not. */
export function useNow(every: number): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    if (every === 0) return;
    const timer = setInterval(() => setNow(new Date()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** Age shows how old something is, and keeps up with it. Where no heading says that it is an age, isSentence adds "ago". */
export function Age({ at, isSentence = false }: { at: string | null | undefined; isSentence?: boolean }) {
  const now = useNow(at ? 10_000 : 0);
  if (!at) return <span>{unknown}</span>;
  const time = new Date(at);
  return (
    <time dateTime={at} title={`${dateTime.format(time)} · ${utc(time)}`} class="tabular">
      {formatAge(now.getTime() - time.getTime())}
      {isSentence && " ago"}
    </time>
  );
}

/** formatAge writes an age in one unit. */
function formatAge(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}
