// What is wrong with the lines of a batch: how many errors of which kind, and the errors themselves.

import { useState } from "preact/hooks";
import type { Schemas } from "../../kit/api.ts";
import { Bars } from "../../kit/chart.tsx";
import { Loaded, Notice } from "../../kit/feedback.tsx";
import { counted } from "../../kit/format.tsx";
import { LineErrors } from "../../kit/lineerrors.tsx";
import type { Resource } from "../../kit/resource.ts";
import { useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import type { Results } from "./results.ts";

type Entry = Schemas["ErrorSummary"];

/** lineItself stands in the address for errors that belong to the line as a whole, whose field is "". */
const lineItself = "-";
/** firstBars is how many bars are shown until the person asks for all. */
const firstBars = 10;

/** BatchErrors shows the errors of a batch, from its summary down to single lines. The address says which ones. */
export function BatchErrors({ id, results }: { id: string; results: Resource<Results | undefined> }) {
  return (
    <section class="panel" aria-labelledby="errors">
      <h2 id="errors">Errors</h2>
      <Loaded resource={results} lines={6}>
        {(value) =>
          value ? (
            <Content id={id} results={value} />
          ) : (
            <p class="aside">They are listed when the validation is complete.</p>
          )
        }
      </Loaded>
    </section>
  );
}

function Content({ id, results }: { id: string; results: Results }) {
  const [query, setQuery] = useQuery({ code: "", field: "", line: "", offset: "" });
  const { summary, valid } = results;
  if (valid === null) return <p>The lines were not judged: {visible(results.message)}</p>;
  if (valid) return <p>Every line is valid.</p>;
  const field = query.field === "" ? undefined : query.field === lineItself ? "" : query.field;
  return (
    <>
      {results.report_complete === false && (
        <Notice kind="warn">
          <p>
            The report is not complete: it passed its limit, so that further lines have the codes of their errors only,
            without message and place.
          </p>
        </Notice>
      )}
      {summary && summary.length > 0 && (
        <div class="panels">
          <CodeBars
            summary={summary}
            code={query.code}
            onSelect={(code) =>
              setQuery({ code: code === query.code ? "" : code, field: "", offset: "" }, { push: true })
            }
          />
          <FieldBars
            summary={summary}
            code={query.code}
            field={field}
            onSelect={(code, field) => setQuery({ code, field, offset: "" }, { push: true })}
          />
        </div>
      )}
      {results.errors_file_url ? (
        <LineErrors
          from={`/console/batches/${id}/errors`}
          code={query.code}
          field={field}
          line={query.line}
          offset={query.offset}
          onChange={(change) => setQuery(change.code === "" ? { ...change, field: "" } : change, { push: true })}
        />
      ) : (
        <p>The report is not stored any more.</p>
      )}
    </>
  );
}

/** CodeBars counts errors by code; a bar shows only errors with its code, and all again. */
function CodeBars({
  summary,
  code,
  onSelect,
}: {
  summary: readonly Entry[];
  code: string;
  onSelect: (code: string) => void;
}) {
  const counts = new Map<string, number>();
  for (const entry of summary) counts.set(entry.code, (counts.get(entry.code) ?? 0) + entry.count);
  const bars = [...counts]
    .map(([key, value]) => ({ key, label: key, value, kind: "bad" as const }))
    .sort((a, b) => b.value - a.value);
  return (
    <div class="stack">
      <h3>By code</h3>
      <Some label="Errors by code" bars={bars} selected={code} onSelect={onSelect} />
    </div>
  );
}

/** FieldBars counts errors by field, of the code that is selected. */
function FieldBars({
  summary,
  code,
  field,
  onSelect,
}: {
  summary: readonly Entry[];
  code: string;
  field: string | undefined;
  onSelect: (code: string, field: string) => void;
}) {
  const entries = summary.filter((entry) => code === "" || entry.code === code).sort((a, b) => b.count - a.count);
  const keyOf = (entry: Entry) => `${entry.code} ${entry.field ?? "*"}`;
  const bars = entries.map((entry) => ({
    key: keyOf(entry),
    label:
      (entry.field === null ? "all other fields" : entry.field === "" ? "the line itself" : visible(entry.field)) +
      (code === "" ? ` · ${entry.code}` : ""),
    value: entry.count,
    kind: "bad" as const,
  }));
  const select = (key: string) => {
    const entry = entries.find((e) => keyOf(e) === key)!;
    const wanted = entry.field === null ? "" : entry.field || lineItself;
    onSelect(entry.code, field !== undefined && entry.field === field ? "" : wanted);
  };
  return (
    <div class="stack">
      <h3>By field{code && <span class="aside"> of {code}</span>}</h3>
      <Some
        label="Errors by field"
        bars={bars}
        selected={field === undefined ? "" : `${code} ${field}`}
        onSelect={select}
      />
    </div>
  );
}

/** Some shows the first bars, and all of them if the person asks for it. */
function Some(props: Parameters<typeof Bars>[0]) {
  const [all, setAll] = useState(false);
  const rest = props.bars.length - firstBars;
  return (
    <>
      <Bars {...props} bars={all ? props.bars : props.bars.slice(0, firstBars)} />
      {rest > 0 && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show ${counted(rest, "more", "more")}`}
        </button>
      )}
    </>
  );
}
