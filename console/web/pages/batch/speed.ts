// How fast a batch is worked on, measured by the answers to polling.

import { useRef } from "preact/hooks";
import type { Point } from "../../kit/chart.tsx";
import { type BatchReply, hasStatus, isRunning } from "../batches/record.tsx";

/** Speed is what was measured since the page was loaded. */
export interface Speed {
  /** bytes are bytes a second, in both passes; lines are stored lines a second. */
  bytes: readonly Point[];
  lines: readonly Point[];
  /** since is when measuring began; undefined if the batch has not been seen to run. */
  since: Date | undefined;
}

interface Measured {
  speed: Speed;
  /** last is the answer before, of the same pass. */
  last?: { at: number; pass: string; bytes: number; lines: number } | undefined;
  at?: Date | undefined;
}

/** maxPoints bounds what a long batch leaves in memory: beyond it, every second point is dropped. */
const maxPoints = 1000;

/** useSpeed adds what each answer says to the measurement. at is when the answer came. */
export function useSpeed(reply: BatchReply, at: Date | undefined): Speed {
  const kept = useRef<Measured>({ speed: { bytes: [], lines: [], since: undefined } });
  const measured = kept.current;
  if (at !== undefined && at !== measured.at) kept.current = measure({ ...measured, at }, reply, at.getTime());
  return kept.current.speed;
}

function measure(measured: Measured, reply: BatchReply, at: number): Measured {
  if (!hasStatus(reply) || !isRunning(reply)) return { ...measured, last: undefined };
  const pass = reply.status === "VALIDATION_STARTED" ? "validation" : "ingestion";
  const now = { at, pass, bytes: reply.bytes_done, lines: reply.counts.ingested ?? 0 };
  const { last, speed } = measured;
  const since = speed.since ?? new Date(at);
  if (!last || last.pass !== pass || at <= last.at) return { ...measured, last: now, speed: { ...speed, since } };
  const perSecond = (amount: number) => Math.max(0, (amount * 1000) / (at - last.at));
  return {
    ...measured,
    last: now,
    speed: {
      since,
      bytes: add(speed.bytes, { at, value: perSecond(now.bytes - last.bytes) }),
      lines: pass === "ingestion" ? add(speed.lines, { at, value: perSecond(now.lines - last.lines) }) : speed.lines,
    },
  };
}

function add(points: readonly Point[], point: Point): readonly Point[] {
  const some = points.length < maxPoints ? points : points.filter((_, i) => i % 2 === 1);
  return [...some, point];
}
