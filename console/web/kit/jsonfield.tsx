// A field for JSON that a person writes: what is wrong with it is shown at its place, whether the browser or the
// service has found it.

import { useMemo, useState } from "preact/hooks";
import type { ApiError } from "./api.ts";
import { TextArea } from "./fields.tsx";
import { counted } from "./format.tsx";
import { findPath, JsonProblem, parseJson, placeOf } from "./jsontext.ts";
import { visible } from "./safe.ts";

/** Json is a text that should be JSON. */
export interface Json {
  text: string;
  setText: (text: string) => void;
  /** problem is what the last check found; undefined after a change. */
  problem: JsonProblem | undefined;
  /** check reports whether the text is JSON, and keeps the problem if it is not. */
  check: () => boolean;
}

/** useJson holds the text of a JsonField. */
export function useJson(initial: string): Json {
  const [state, setState] = useState<{ text: string; problem?: JsonProblem }>({ text: initial });
  return {
    text: state.text,
    setText: (text) => setState({ text }),
    problem: state.problem,
    check: () => {
      try {
        parseJson(state.text);
        return true;
      } catch (cause) {
        if (!(cause instanceof JsonProblem)) throw cause;
        setState({ text: state.text, problem: cause });
        return false;
      }
    },
  };
}

interface JsonFieldProps {
  label: string;
  json: Json;
  hint?: string;
  rows?: number;
  /** failure is the service's answer to the text as it is. */
  failure?: ApiError | undefined;
  /** within is the path of the text in the request: "properties" if the text is the value of that member. */
  within?: string;
}

interface Found {
  message: string;
  start: number;
  end: number;
}

/** JsonField is a field for JSON with a list of what is wrong; each entry leads to its place in the text. */
export function JsonField({ label, json, hint, rows = 12, failure, within = "" }: JsonFieldProps) {
  // The answer is about the text that was sent: what is found in it is kept with it.
  const found = useMemo(() => failure && failuresIn(failure, json.text, within), [failure]);
  const [judged, setJudged] = useState<{ failure: ApiError | undefined; text: string }>({ failure, text: json.text });
  if (judged.failure !== failure) setJudged({ failure, text: json.text });
  const isOld = found !== undefined && judged.text !== json.text;
  const problems = json.problem
    ? [{ message: json.problem.message, start: json.problem.offset, end: json.problem.offset + 1 }]
    : (found ?? []);
  const goTo = (button: HTMLElement, { start, end }: Found) => {
    const area = button.closest(".json-field")?.querySelector("textarea");
    if (!area) return;
    area.focus();
    area.setSelectionRange(start, Math.min(end, json.text.length));
    const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight) || 18;
    area.scrollTop = Math.max(0, (placeOf(json.text, start).line - 3) * lineHeight);
  };
  return (
    <div class="json-field stack">
      <TextArea
        label={label}
        hint={hint}
        rows={rows}
        value={json.text}
        onValue={json.setText}
        error={
          problems.length === 0
            ? undefined
            : `${counted(problems.length, "problem")}, below${isOld ? "; the text was changed since" : ""}.`
        }
      />
      {problems.length > 0 && (
        <div role="alert">
          <ol class="json-problems">
            {problems.map((problem) => {
              const text = isOld ? judged.text : json.text;
              const { line, column, excerpt } = placeOf(text, problem.start);
              return (
                <li key={`${problem.start} ${problem.message}`}>
                  <p>
                    <button type="button" class="link" onClick={(event) => goTo(event.currentTarget, problem)}>
                      Line {line}, column {column}
                    </button>
                    : {visible(problem.message)}
                  </p>
                  <Excerpt line={excerpt} column={column} />
                </li>
              );
            })}
          </ol>
        </div>
      )}
    </div>
  );
}

/** excerptWidth is how many characters of a line are shown around a place. */
const excerptWidth = 72;

function Excerpt({ line, column }: { line: string; column: number }) {
  const start = Math.max(0, column - 1 - excerptWidth / 2);
  const part = line.slice(start, start + excerptWidth);
  // Each character is one column wide but for marks that visible writes out.
  const before = visible(line.slice(start, column - 1));
  return (
    <pre class="excerpt" aria-hidden="true">
      {visible(part)}
      {"\n" + " ".repeat([...before].length) + "^"}
    </pre>
  );
}

/** failuresIn finds the places in a text of what the service's answer names. */
function failuresIn(failure: ApiError, text: string, within: string): Found[] {
  let root;
  try {
    root = parseJson(text);
  } catch {
    return [];
  }
  return failuresOf(failure).map(({ path, message }) => {
    const below = within && path.startsWith(within + ".") ? path.slice(within.length + 1) : path === within ? "" : path;
    return { ...findPath(root, below), message: path ? `${path}: ${message}` : message };
  });
}

/** hasPlaces reports whether a JsonField shows what an answer says, so that it need not be shown again. */
export function hasPlaces(failure: ApiError | undefined): boolean {
  return failure !== undefined && failuresOf(failure).length > 0;
}

/**
 * failuresOf returns what an answer 400 of the platform says of each property: as a list, or as sentences of one
 * message.
 */
function failuresOf(failure: ApiError): { path: string; message: string }[] {
  if (failure.status !== 400 || typeof failure.body !== "object" || failure.body === null) return [];
  const { data, messages } = failure.body as { data?: unknown; messages?: { message?: unknown }[] };
  if (Array.isArray(data)) {
    return data.map((entry: { propertyName?: unknown; errorMessage?: unknown }) => ({
      path: String(entry.propertyName ?? ""),
      message: String(entry.errorMessage ?? ""),
    }));
  }
  const whole = String(messages?.[0]?.message ?? "");
  const parts = whole
    .replace(/^The request is not valid\.\s*/, "")
    .split(/ (?=(?:properties|version|data|journeyId|dataConflictResolutions)[.:])/);
  return parts.filter(Boolean).map((part) => {
    const [, path = "", message = part] =
      /^((?:properties|version|data|journeyId|dataConflictResolutions)(?:\..*?)?): (.*)$/s.exec(part) ?? [];
    return { path, message };
  });
}
