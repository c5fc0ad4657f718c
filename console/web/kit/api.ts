// Requests to the service, by way of the command, which adds the token; and to the command itself. The types are those
// of the description of the interface.

import type { components, paths } from "sluice/api";
import { noteLimit } from "./limits.ts";

/** Schemas are the types of the interface by their names, for example Schemas["BatchStatus"]. */
export type Schemas = components["schemas"];

type Method = "get" | "post" | "put" | "patch" | "delete";
type PathsOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths];
type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;
type ContentOf<T> = T extends { content: infer C } ? C[keyof C] : undefined;
/** Answer is the content of an operation's answer of success. */
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R }
    ? { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? ContentOf<R[S]> : never }[keyof R]
    : never;
type ParametersOf<P extends keyof paths, M extends Method, In extends "path" | "query"> =
  Operation<P, M> extends { parameters: { [K in In]?: infer V } } ? V : undefined;
type BodyOf<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { requestBody?: infer B } ? ContentOf<B> : undefined;

/** RequestOptions are what a request to an operation may have. */
export interface RequestOptions<P extends keyof paths, M extends Method> {
  /** path has the values of the path's parameters. */
  path?: ParametersOf<P, M, "path">;
  query?: ParametersOf<P, M, "query">;
  body?: BodyOf<P, M>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** ApiError is an answer that is not one of success, or that there was none (status 0). */
export class ApiError extends Error {
  constructor(
    /** status is the status of HTTP; 0 if the service or the command did not answer. */
    readonly status: number,
    /** title says what is wrong, for a person. */
    readonly title: string,
    /** details are further sentences, one each. */
    readonly details: string[],
    /** requestId identifies the request in the service's logs; "" if the service was not reached. */
    readonly requestId: string,
    /** retryAfter is the number of seconds to wait before asking again; 0 if the answer names none. */
    readonly retryAfter: number,
    /** body is the answer as it came, parsed if it is JSON. */
    readonly body: unknown,
  ) {
    super(title);
  }
}

/** request asks an operation of the service and returns the content of its answer. It throws an ApiError. */
export async function request<M extends Method, P extends PathsOf<M>>(
  method: M,
  path: P,
  options: RequestOptions<P, M> = {},
): Promise<Answer<P, M>> {
  const url = "/api" + addressOf(path as string, options.path as Values, options.query as Values);
  return (await send(method, url, { ...options, operation: `${method.toUpperCase()} ${path as string}` })) as Answer<
    P,
    M
  >;
}

/** get reads from the service. */
export function get<P extends PathsOf<"get">>(
  path: P,
  options: RequestOptions<P, "get"> = {},
): Promise<Answer<P, "get">> {
  return request("get", path, options);
}

/** post writes to the service, or asks it a question that has a body. */
export function post<P extends PathsOf<"post">>(
  path: P,
  options: RequestOptions<P, "post"> = {},
): Promise<Answer<P, "post">> {
  return request("post", path, options);
}

/** put replaces something at the service. */
export function put<P extends PathsOf<"put">>(
  path: P,
  options: RequestOptions<P, "put"> = {},
): Promise<Answer<P, "put">> {
  return request("put", path, options);
}

type Values = Record<string, unknown> | undefined;

/**
 * addressOf fills in the parameters of a path and appends the query; undefined and empty values of the query are left
 * out.
 */
export function addressOf(path: string, parameters?: Values, query?: Values): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters?.[name] ?? "")));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") search.append(key, String(one));
    }
  }
  const text = search.toString();
  return filled + (text && "?" + text);
}

interface SendOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /**
   * operation is the method and path of the service's operation, with the names of parameters; by it limits are noted.
   */
  operation?: string;
}

/**
 * send sends a request to the command and returns the parsed content. A body that is a Blob is sent as it is, any other
 * as JSON. It throws an ApiError; if the signal ends the request, the browser's AbortError.
 */
export async function send(method: string, url: string, options: SendOptions = {}): Promise<unknown> {
  return parse(await sendForText(method, url, options));
}

/** sendForText is send with the content as it came, for answers whose numbers must keep their digits. */
export async function sendForText(
  method: string,
  url: string,
  { body, headers = {}, signal, operation }: SendOptions = {},
): Promise<string> {
  const isFile = body instanceof Blob;
  const init: RequestInit = {
    method: method.toUpperCase(),
    headers: { ...headers, "Sluice-Console": "1" },
    cache: "no-store",
  };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.body = isFile ? body : JSON.stringify(body);
    if (!isFile) (init.headers as Record<string, string>)["Content-Type"] = "application/json";
  }
  let answer: Response;
  try {
    answer = await fetch(url, init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw noAnswer(cause);
  }
  if (operation) noteLimit(operation, answer.status, answer.headers);
  const text = await answer.text();
  if (answer.ok) return text;
  const { status, statusText, headers: given } = answer;
  throw failure({ status, statusText, get: (name) => given.get(name) }, text);
}

/**
 * sendFile puts a file to a path of the command and tells how many bytes of it have gone, which fetch does not. It throws an
 * ApiError.
 */
export function sendFile(
  url: string,
  file: Blob,
  headers: Record<string, string>,
  onSent: (bytes: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const [name, value] of Object.entries({ ...headers, "Sluice-Console": "1" }))
      request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onerror = () => reject(noAnswer(undefined));
    request.onload = () => {
      const { status, statusText, responseText } = request;
      if (status >= 200 && status < 300) resolve();
      else reject(failure({ status, statusText, get: (name) => request.getResponseHeader(name) }, responseText));
    };
    request.send(file);
  });
}

/** noAnswer is the error of a request to which nobody has answered. */
function noAnswer(cause: unknown): ApiError {
  const hint = "Is it still running in its terminal? Start it again with: sluice console";
  return new ApiError(0, "The console's command does not answer.", [hint], "", 0, cause);
}

/** AnswerHead is what is needed of an answer beside its content. */
interface AnswerHead {
  status: number;
  statusText: string;
  /** get returns a header; null if the answer does not have it. */
  get: (header: string) => string | null;
}

/** failure is the error of an answer that is not one of success. */
function failure(head: AnswerHead, text: string): ApiError {
  const content = parse(text);
  return new ApiError(
    head.status,
    ...describe(head, content),
    head.get("X-Request-Id") ?? "",
    Number(head.get("Retry-After")) || 0,
    content,
  );
}

function parse(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** describe makes sentences of the bodies that the service's errors have (docs/errors.md). */
function describe(answer: AnswerHead, content: unknown): [string, string[]] {
  const fallback = `The service answered ${answer.status}${answer.statusText && " " + answer.statusText}.`;
  if (typeof content !== "object" || content === null) return [fallback, []];
  const body = content as Record<string, unknown>;
  if (Array.isArray(body.messages)) {
    const failures = Array.isArray(body.data) ? body.data : [];
    const texts = [...body.messages, ...failures].map((m) => sentenceOf(m)).filter(Boolean);
    return [texts[0] ?? fallback, texts.slice(1)];
  }
  if (Array.isArray(body.detail)) {
    const texts = body.detail.map((d) => sentenceOf(d)).filter(Boolean);
    return [texts[0] ?? fallback, texts.slice(1)];
  }
  if (typeof body.title === "string") {
    const reasons = Array.isArray(body.errors) ? body.errors.map((e) => sentenceOf(e)).filter(Boolean) : [];
    return [body.title, [typeof body.detail === "string" ? body.detail : "", ...reasons].filter(Boolean)];
  }
  const first = [body.error_description, body.error_message, body.message, body.detail, body.error].find(
    (t) => typeof t === "string",
  );
  return [typeof first === "string" ? first : fallback, []];
}

/** sentenceOf returns the text of one entry of an error, with the place that it names. */
function sentenceOf(entry: unknown): string {
  if (typeof entry === "string") return entry;
  if (typeof entry !== "object" || entry === null) return "";
  const e = entry as Record<string, unknown>;
  const text = [e.message, e.msg, e.detail, e.text, e.description, e.errorMessage].find(
    (t) => typeof t === "string",
  ) as string | undefined;
  const named = [e.field, e.propertyName].find((p) => typeof p === "string" && p !== "body") as string | undefined;
  const place = Array.isArray(e.loc) ? e.loc.filter((p) => p !== "body").join(".") : named;
  return text === undefined ? "" : place && !text.includes(place) ? `${place}: ${text}` : text;
}
