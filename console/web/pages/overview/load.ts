// What the overview asks the service for.

import { get, type Schemas, send } from "../../kit/api.ts";
import { type Resource, useResource } from "../../kit/resource.ts";
import { allBatchStates, isFinal } from "../../kit/status.tsx";
import { type BatchRecord, isOpen } from "../batches/record.tsx";

/** latestCount is how many of the newest batches the overview looks at. */
export const latestCount = 100;

/** inspectedCount is how many batches the service looks at for one request. */
export const inspectedCount = 1000;

/** openCount is how many batches that have not ended are asked for beside the newest ones. */
const openCount = 200;

/** Latest are the batches that the overview shows. */
export interface Latest {
  /** batches are the newest ones. */
  batches: BatchRecord[];
  /** open are those that have not ended, older ones among them. */
  open: BatchRecord[];
  /** isPart means that there may be more open ones. */
  isPart: boolean;
}

/** useLatest loads the newest batches, more often while some run: lists are limited to 60 requests a minute. */
export function useLatest(): Resource<Latest> {
  return useResource("overview batches", loadLatest, {
    every: (latest) => (latest?.open.length ? (latest.isPart ? 8000 : 4000) : 10_000),
  });
}

/** loadLatest asks for older batches that have not ended only if there are older ones. */
async function loadLatest(signal: AbortSignal): Promise<Latest> {
  const path = "/tm/realtime/api/transactions/batch";
  const page = await get(path, { query: { limit: latestCount }, signal });
  const open = page.batches.filter(isOpen);
  if (page.next === null) return { batches: page.batches, open, isPart: false };
  const query = { status: allBatchStates.filter((status) => !isFinal(status)), limit: openCount };
  const older = await get(path, { query, signal });
  const known = new Set(page.batches.map((batch) => batch.batch_id));
  return {
    batches: page.batches,
    open: [...open, ...older.batches.filter((batch) => !known.has(batch.batch_id))],
    isPart: true,
  };
}

/** Day is what became of the transactions of a day in UTC. */
export interface Day {
  /** date is YYYY-MM-DD. */
  date: string;
  stored: number;
  failed: number;
}

/** maxSummaryPages bounds what one answer may take: a page reads up to 5,000 batches. */
const maxSummaryPages = 20;

/** useDays loads what became of the transactions of the latest days, the newest first, with the days that have none. */
export function useDays(count: number): Resource<Day[]> {
  const today = new Date().toISOString().slice(0, 10);
  return useResource(
    `overview days ${count} ${today}`,
    async (signal) => {
      const dates = Array.from({ length: count }, (_, i) =>
        new Date(Date.parse(today) - i * 86_400_000).toISOString().slice(0, 10),
      );
      const days = new Map(dates.map((date) => [date, { date, stored: 0, failed: 0 }]));
      let next: string | null = null;
      for (let page = 0; page < maxSummaryPages && (page === 0 || next !== null); page++) {
        const answer: Schemas["TransactionSummary"] = await get("/tm/observability/api/v1/transactions/summary", {
          query: { start_date: dates.at(-1)!, end_date: today, ...(next !== null && { next }) },
          signal,
        });
        for (const [date, counts] of Object.entries(answer.data)) {
          const day = days.get(date);
          if (!day) continue;
          day.stored += counts.succeeded_request_count;
          day.failed += counts.failed_request_count;
        }
        next = answer.metadata.next;
      }
      return [...days.values()];
    },
    { every: 30_000 },
  );
}

/** CodeCount is how many errors with a code some batches have. */
export interface CodeCount {
  code: string;
  count: number;
}

/** useErrorCodes adds up the errors of batches by code, the most frequent first. */
export function useErrorCodes(ids: readonly string[]): Resource<CodeCount[]> {
  return useResource(ids.length > 0 ? `overview codes ${ids.join(" ")}` : "", async (signal) => {
    const results = await Promise.all(
      ids.map((id) =>
        get("/tm/realtime/api/transactions/batch/validation-result/{batch_id}", { path: { batch_id: id }, signal }),
      ),
    );
    const counts = new Map<string, number>();
    for (const result of results) {
      if (!("summary" in result)) continue;
      for (const { code, count } of result.summary ?? []) counts.set(code, (counts.get(code) ?? 0) + count);
    }
    return [...counts].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count);
  });
}

/** Metrics are what sluice metrics shows of a local cloud. */
export interface Metrics {
  from?: string;
  to?: string;
  ended_batches: Record<string, number> | null;
  stages: { stage: string; waiting: number; oldest_seconds: number; used_slots: number }[] | null;
  steps: {
    step: string;
    runs: number;
    outcomes: Record<string, number> | null;
    lines: number;
    bytes: number;
    lines_per_second: number;
    bytes_per_second: number;
    p50_ms: number;
    p99_ms: number;
  }[];
  functions: { function: string; calls: number; failed: number; throttled: number; p50_ms: number; p99_ms: number }[];
  requests: { count: number; by_status: Record<string, number> | null; p50_ms: number; p99_ms: number };
}

/** useMetrics loads the metrics of a local cloud. */
export function useMetrics(): Resource<Metrics> {
  return useResource(
    "overview metrics",
    async (signal) => (await send("get", "/console/metrics", { signal })) as Metrics,
    { every: 5000 },
  );
}
