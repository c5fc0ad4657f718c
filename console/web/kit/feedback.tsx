// What a page shows in place of, or beside, its content: an error, nothing yet, or that it is loading.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "./api.ts";
import { counted, formatTime } from "./format.tsx";
import { Icon } from "./icons.tsx";
import type { Resource } from "./resource.ts";

/** ErrorNotice says what went wrong, what to do and by which ID the service's operators find the request. */
export function ErrorNotice({
  error,
  retry,
  children,
}: {
  error: ApiError;
  retry?: (() => void) | undefined;
  children?: ComponentChildren;
}) {
  return (
    <div class="notice notice-bad" role="alert">
      <Icon name="error" />
      <div>
        <p class="notice-title">{error.title}</p>
        {error.details.length > 0 && (
          <ul>
            {error.details.slice(0, 20).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
        {error.details.length > 20 && <p>{counted(error.details.length - 20, "more problem")}.</p>}
        {error.retryAfter > 0 && <p>The service asks to wait {counted(error.retryAfter, "second")}.</p>}
        {error.status === 401 && (
          <p>
            The session is over. Open the address that the command printed, or start <code>sluice console</code> again.
          </p>
        )}
        {error.status === 403 && (
          <p>
            This client may not do that. An operator gives permissions: <code>sluice admin client</code>
          </p>
        )}
        {error.requestId && (
          <p class="aside">
            Request <code>{error.requestId}</code>
            {error.status > 0 && `, status ${error.status}`}
          </p>
        )}
        {children}
        {retry && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

const noticeIcons = { info: "info", ok: "done", warn: "warning", bad: "error" } as const;

/** Notice is a remark; with the kind bad, on something that has failed though no single request is to blame (ErrorNotice). */
export function Notice({ kind = "info", children }: { kind?: keyof typeof noticeIcons; children: ComponentChildren }) {
  return (
    <div class={`notice notice-${kind}`} role={kind === "bad" ? "alert" : "status"}>
      <Icon name={noticeIcons[kind]} />
      <div>{children}</div>
    </div>
  );
}

/** Empty stands where there is nothing yet, and says what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/**
 * Skeleton keeps the height of what will come, in lines of text. It draws nothing for the first 200 ms, so that quick
 * answers do not flicker.
 */
export function Skeleton({ lines, label = "Loading" }: { lines: number; label?: string }) {
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={visible ? "skeleton skeleton-visible" : "skeleton"} role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class={`skeleton-line skeleton-${i % 3}`} />
      ))}
    </div>
  );
}

/**
 * Loaded shows a resource: its content, kept while later attempts fail; a skeleton before the first answer; the error.
 * children makes the content of the value.
 */
export function Loaded<T>({
  resource,
  lines,
  children,
}: {
  resource: Resource<T>;
  lines: number;
  children: (value: T) => ComponentChildren;
}) {
  const { value, error, at } = resource;
  if (value === undefined)
    return error ? <ErrorNotice error={error} retry={resource.reload} /> : <Skeleton lines={lines} />;
  return (
    <>
      {error && <Stale at={at} error={error} retry={resource.reload} />}
      {children(value)}
    </>
  );
}

/** Stale says that what is shown is of an earlier time, because the service fails now. */
export function Stale({ at, error, retry }: { at: Date | undefined; error: ApiError; retry: () => void }) {
  return (
    <div class="notice notice-warn" role="status">
      <Icon name="warning" />
      <div>
        <p class="notice-title">Not up to date{at && `: as of ${formatTime(at)}`}</p>
        <p>
          {error.title} The page keeps trying.
          {error.requestId && (
            <span class="aside">
              {" "}
              Request <code>{error.requestId}</code>
            </span>
          )}
        </p>
        <button type="button" onClick={retry}>
          Try now
        </button>
      </div>
    </div>
  );
}

/** Live reads a text to screen readers when it changes, at most every few seconds. */
export function Live({ text }: { text: string }) {
  const [said, setSaid] = useState("");
  const last = useRef(0);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        last.current = Date.now();
        setSaid(text);
      },
      Math.max(0, last.current + 3000 - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="visually-hidden" aria-live="polite">
      {said}
    </div>
  );
}
