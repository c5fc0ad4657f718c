// Two versions of something beside each other, field by field, with what differs marked.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Check } from "./fields.tsx";
import { counted, formatCount } from "./format.tsx";
import { visible } from "./safe.ts";
import { Badge } from "./status.tsx";

/** Compared is a field in both versions; a version that does not have it has undefined. */
export interface Compared {
  path: string;
  left: string | undefined;
  right: string | undefined;
}

/** Field is a field of one version. */
export interface Field {
  path: string;
  text: string;
}

/**
 * compare pairs the fields of two versions by their paths, in the order of the right one, with what only the left has
 * after what precedes it there.
 */
export function compare(left: readonly Field[], right: readonly Field[]): Compared[] {
  const texts = (fields: readonly Field[]) => new Map(fields.map(({ path, text }) => [path, text]));
  const [before, after] = [texts(left), texts(right)];
  const rows: Compared[] = [];
  let next = 0;
  const takeRemovedUntil = (end: number) => {
    for (; next < end; next++) {
      const { path, text } = left[next]!;
      if (!after.has(path)) rows.push({ path, left: text, right: undefined });
    }
  };
  const places = new Map(left.map(({ path }, i) => [path, i]));
  for (const { path, text } of right) {
    const place = places.get(path);
    if (place !== undefined && place >= next) takeRemovedUntil(place);
    rows.push({ path, left: before.get(path), right: text });
  }
  takeRemovedUntil(left.length);
  return rows;
}

/** changeOf says in a word how a field differs; undefined if it does not. */
function changeOf({ left, right }: Compared): "added" | "removed" | "changed" | undefined {
  if (left === right) return undefined;
  return left === undefined ? "added" : right === undefined ? "removed" : "changed";
}

const kinds = { added: "ok", removed: "bad", changed: "warn" } as const;

interface ComparisonProps {
  label: string;
  leftTitle: ComponentChildren;
  rightTitle: ComponentChildren;
  rows: readonly Compared[];
  /** describe adds to a value what helps to read it: a time in the viewer's zone. */
  describe?: (path: string, text: string) => ComponentChildren;
}

/** firstRows is how many rows are drawn unless more are asked for. */
const firstRows = 300;

/** Comparison is a table of two versions. It can be reduced to what differs. */
export function Comparison({ label, leftTitle, rightTitle, rows, describe }: ComparisonProps) {
  const [onlyChanges, setOnlyChanges] = useState(false);
  const [all, setAll] = useState(false);
  const differing = useMemo(() => rows.filter((row) => changeOf(row)), [rows]);
  const chosen = onlyChanges ? differing : rows;
  const shown = all ? chosen : chosen.slice(0, firstRows);
  return (
    <div class="stack comparison">
      <div class="comparison-head">
        <p aria-live="polite">
          {differing.length === 0
            ? "Nothing differs."
            : `${formatCount(differing.length)} of ${counted(rows.length, "field")} ` +
              `${differing.length === 1 ? "differs" : "differ"}.`}
        </p>
        {differing.length > 0 && <Check label="Only what differs" checked={onlyChanges} onChecked={setOnlyChanges} />}
      </div>
      {chosen.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
          <table class="compared">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">{leftTitle}</th>
                <th scope="col">{rightTitle}</th>
                <th scope="col">Change</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <ComparedRow key={row.path} row={row} describe={describe} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < chosen.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {counted(chosen.length, "field")}
        </button>
      )}
    </div>
  );
}

function ComparedRow({ row, describe }: { row: Compared; describe: ComparisonProps["describe"] }) {
  const change = changeOf(row);
  const [left, right] = differences(row);
  return (
    <tr class={change && `is-${change}`}>
      <th scope="row" class="field-path">
        {visible(row.path)}
      </th>
      <td class="anywhere">
        {left}
        {row.left !== undefined && describe?.(row.path, row.left)}
      </td>
      <td class="anywhere">
        {right}
        {row.right !== undefined && describe?.(row.path, row.right)}
      </td>
      <td>{change && <Badge kind={kinds[change]}>{change}</Badge>}</td>
    </tr>
  );
}

/**
 * differences shows the two values of a field, with what differs between the parts that they begin and end with alike
 * marked.
 */
function differences({ left, right }: Compared): [ComponentChildren, ComponentChildren] {
  if (left === undefined || right === undefined || left === right) {
    const show = (text: string | undefined) =>
      text === undefined ? <span class="aside">–</span> : <Value text={text} />;
    return [
      left !== right && left !== undefined ? (
        <del>
          <Value text={left} />
        </del>
      ) : (
        show(left)
      ),
      left !== right && right !== undefined ? (
        <ins>
          <Value text={right} />
        </ins>
      ) : (
        show(right)
      ),
    ];
  }
  const [a, b] = [wordsOf(left), wordsOf(right)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const parts = (text: string[]) =>
    [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)].map((part) =>
      visible(part.join("")),
    );
  const [[p, old, s], [q, fresh, r]] = [parts(a), parts(b)];
  return [
    <bdi>
      {p}
      {old && <del>{old}</del>}
      {s}
    </bdi>,
    <bdi>
      {q}
      {fresh && <ins>{fresh}</ins>}
      {r}
    </bdi>,
  ];
}

/** wordsOf cuts a text into words and the characters between them. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]/gu) ?? [];
}

/** Value shows a text of the tenant; an empty one as a word. */
export function Value({ text }: { text: string }) {
  return text === "" ? <span class="aside">empty</span> : <bdi>{visible(text)}</bdi>;
}

/** FieldTable shows the fields of one version. */
export function FieldTable({
  label,
  fields,
  describe,
}: {
  label: string;
  fields: readonly Field[];
  describe?: ComparisonProps["describe"];
}) {
  const [all, setAll] = useState(false);
  const shown = all ? fields : fields.slice(0, firstRows);
  return (
    <div class="stack">
      <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
        <table class="compared">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ path, text }) => (
              <tr key={path}>
                <th scope="row" class="field-path">
                  {visible(path)}
                </th>
                <td class="anywhere">
                  <Value text={text} />
                  {describe?.(path, text)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < fields.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {counted(fields.length, "field")}
        </button>
      )}
    </div>
  );
}
