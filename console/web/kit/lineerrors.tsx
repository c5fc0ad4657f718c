// What is wrong with the lines of a file or a batch, page by page, each with its place in the line, as the command
// indexes the report.

import { useState } from "preact/hooks";
import { addressOf, send } from "./api.ts";
import { Empty, Loaded } from "./feedback.tsx";
import { TextField } from "./fields.tsx";
import { counted, formatCount } from "./format.tsx";
import { Icon } from "./icons.tsx";
import { useResource } from "./resource.ts";

/** LineError is one error of one line. */
interface LineError {
  line: number;
  transaction_external_id: string | null;
  modification_external_id: string | null;
  code: string;
  field: string;
  message: string;
  reason?: string;
  hint?: string;
  offset: number | null;
  excerpt?: string;
  column: number;
  other_lines?: number[];
  other_lines_total?: number;
}

interface ErrorPage {
  errors: LineError[];
  total: number;
  next: number | null;
}

interface LineErrorsProps {
  /** from is the path of the errors at the command: /console/files/ID/errors. */
  from: string;
  /** code limits them to one code; "" means all. */
  code: string;
  /** field limits them to one field, a JSON pointer, "" for the line itself; undefined means all. */
  field?: string | undefined;
  /** line is the first line whose errors are shown; "" means the first one of the file. */
  line: string;
  /** offset is how many errors are left out. */
  offset: string;
  onChange: (change: { code?: string; line?: string; offset?: string }) => void;
}

/** pageSize is how many errors a page shows. */
const pageSize = 25;

/** LineErrors shows a page of errors with what leads to others. */
export function LineErrors({ from, code, field, line, offset, onChange }: LineErrorsProps) {
  const query = addressOf(from, undefined, { code, line, offset, limit: pageSize });
  const address = field === undefined ? query : `${query}&field=${encodeURIComponent(field)}`;
  const page = useResource(address, async (signal) => (await send("get", address, { signal })) as ErrorPage);
  const first = Number(offset) || 0;
  return (
    <section class="stack" aria-label="Errors of lines">
      <div class="line-errors-head">
        <h3>
          {code ? (
            <>
              Errors: <code>{code}</code>
              {field !== undefined && (
                <>
                  {" "}
                  in <code>{field || "the line itself"}</code>
                </>
              )}
            </>
          ) : (
            "All errors"
          )}
        </h3>
        {code && (
          <button type="button" class="link" onClick={() => onChange({ code: "", offset: "" })}>
            Show all errors
          </button>
        )}
        <GoToLine line={line} onLine={(wanted) => onChange({ line: wanted, offset: "" })} />
      </div>
      <Loaded resource={page} lines={12}>
        {({ errors, total, next }) =>
          errors.length === 0 ? (
            <Empty
              title={line ? `No such error from line ${formatCount(Number(line))} on.` : "There is no such error."}
            />
          ) : (
            <>
              <ol class="boxes" start={first + 1}>
                {errors.map((error, i) => (
                  <li key={i}>
                    <OneError error={error} />
                  </li>
                ))}
              </ol>
              <nav class="buttons" aria-label="Pages of errors">
                <button
                  type="button"
                  disabled={first === 0}
                  onClick={() => onChange({ offset: first > pageSize ? String(first - pageSize) : "" })}
                >
                  <Icon name="previous" /> Previous
                </button>
                <span class="tabular" aria-live="polite">
                  {formatCount(first + 1)} to {formatCount(first + errors.length)} of {counted(total, "error")}
                </span>
                <button type="button" disabled={next === null} onClick={() => onChange({ offset: String(next) })}>
                  Next <Icon name="next" />
                </button>
              </nav>
            </>
          )
        }
      </Loaded>
    </section>
  );
}

/** GoToLine asks for the line from which on errors are shown. */
function GoToLine({ line, onLine }: { line: string; onLine: (line: string) => void }) {
  const [typed, setTyped] = useState(line);
  return (
    <form
      class="go-to-line"
      onSubmit={(event) => {
        event.preventDefault();
        onLine(Number(typed) >= 1 ? String(Math.floor(Number(typed))) : "");
      }}
    >
      <TextField label="From line" type="number" min={1} inputMode="numeric" value={typed} onValue={setTyped} />
      <button type="submit">Go</button>
    </form>
  );
}

/** OneError shows an error with its place in the line. */
function OneError({ error }: { error: LineError }) {
  const { line, code, field, message, excerpt, column, reason, hint, transaction_external_id: transaction } = error;
  return (
    <article class="record" aria-label={`Line ${formatCount(line)}, ${code}`}>
      <header class="record-head">
        <span class="line-error-line tabular">Line {formatCount(line)}</span>
        <code class="line-error-code">{code}</code>
        {field && <code class="aside">{field}</code>}
        {transaction && (
          <span class="aside">
            transaction <code>{transaction}</code>
          </span>
        )}
      </header>
      <p>{message || "The report has only the code of this error, because it has so many before it."}</p>
      {error.other_lines_total ? <p class="aside">It shares its ID with {sharedWith(error)}.</p> : null}
      {excerpt && <Excerpt text={excerpt} column={column} />}
      {(reason || hint) && (
        <p class="hint">
          {reason} <b>What to do:</b> {hint}
        </p>
      )}
    </article>
  );
}

function sharedWith({ other_lines: lines = [], other_lines_total: total = 0 }: LineError): string {
  const more = total - lines.length;
  const others = more > 0 ? ` and ${counted(more, "other")}` : "";
  return `${total === 1 ? "line" : "lines"} ${lines.map(formatCount).join(", ")}${others}`;
}

/** Excerpt shows the part of a line around an error, with a caret below the character where it is. */
export function Excerpt({ text, column }: { text: string; column: number }) {
  const characters = Array.from(text);
  return (
    <pre class="excerpt" tabIndex={0} aria-label="The line, around the error">
      <code>
        {characters.slice(0, column).join("")}
        <mark class="caret">{characters[column] ?? " "}</mark>
        {characters.slice(column + 1).join("")}
      </code>
    </pre>
  );
}
