// The addresses of the console, and the module that shows each. A module is loaded when it is first needed.

import type { ComponentType } from "preact";
import type { Parameters } from "./kit/router.tsx";
import { matchPath } from "./kit/router.tsx";

/**
 * PageModule is a module whose default export shows a page; it gets the parts of the address that the pattern names.
 */
export interface PageModule {
  default: ComponentType<{ parameters: Parameters }>;
}

/** Route is a pattern of addresses with the module of their page. */
export interface Route {
  pattern: string;
  load: () => Promise<PageModule>;
}

export const routes: readonly Route[] = [
  { pattern: "/", load: () => import("./pages/overview/overview.tsx") },
  { pattern: "/batches", load: () => import("./pages/batches/batches.tsx") },
  { pattern: "/batches/:id", load: () => import("./pages/batch/batch.tsx") },
  { pattern: "/upload", load: () => import("./pages/upload/upload.tsx") },
  { pattern: "/transactions", load: () => import("./pages/transactions/transactions.tsx") },
  { pattern: "/transactions/:id", load: () => import("./pages/transactions/transaction.tsx") },
  { pattern: "/entities", load: () => import("./pages/entities/entities.tsx") },
  { pattern: "/entities/:id", load: () => import("./pages/entities/entity.tsx") },
  { pattern: "/documents", load: () => import("./pages/documents/documents.tsx") },
  { pattern: "/documents/:id", load: () => import("./pages/documents/document.tsx") },
  { pattern: "/screening", load: () => import("./pages/screening/screenings.tsx") },
  { pattern: "/screening/name", load: () => import("./pages/screening/name.tsx") },
  { pattern: "/screening/:id", load: () => import("./pages/screening/workbench.tsx") },
  { pattern: "/policies", load: () => import("./pages/policies/policies.tsx") },
  { pattern: "/policies/:id", load: () => import("./pages/policies/policy.tsx") },
  { pattern: "/webhooks", load: () => import("./pages/webhooks/webhooks.tsx") },
  { pattern: "/webhooks/:id", load: () => import("./pages/webhooks/webhook.tsx") },
  { pattern: "/operator", load: () => import("./pages/operator/operator.tsx") },
];

/** findRoute returns the route of a path and the path's parameters; undefined if there is no such page. */
export function findRoute(path: string): { route: Route; parameters: Parameters } | undefined {
  for (const route of routes) {
    const parameters = matchPath(route.pattern, path);
    if (parameters) return { route, parameters };
  }
  return undefined;
}
