// Conditions of policies in words.

import type { Schemas } from "../../kit/api.ts";
import { visible } from "../../kit/safe.ts";

type Condition = Schemas["PolicyCondition"];
type Operand = Schemas["PolicyOperand"];

/** ConditionTree shows a condition: its name and its operands, each on a line, nested ones indented. */
export function ConditionTree({ condition }: { condition: Condition }) {
  const operands = condition.operands ?? [];
  return (
    <div class="condition">
      <p>
        <code>{visible(condition.id ?? "")}</code>
        {condition.name && ` ${visible(condition.name)}`}
        {condition.description && <span class="aside"> {visible(condition.description)}</span>}
      </p>
      {operands.length === 0 ? (
        <p class="aside">It has no operands, so it is always met.</p>
      ) : (
        <OperandList operands={operands} logical={condition.logicalOperation ?? "and"} />
      )}
    </div>
  );
}

function OperandList({ operands, logical }: { operands: readonly Operand[]; logical: string }) {
  return (
    <ul class="operands">
      {operands.map((operand, i) => (
        <li key={i}>
          {i > 0 && <span class="aside">{logical.toLowerCase()} </span>}
          {operand.operation ? (
            describeOperand(operand)
          ) : (
            <OperandList operands={operand.operands ?? []} logical={operand.logicalOperation ?? "and"} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** describeOperand writes a comparison as a sentence: relatedClient.country equal "GB" or "LU". */
function describeOperand(operand: Operand): string {
  const place = [operand.dataSource, operand.fieldName]
    .filter(Boolean)
    .map((part) => visible(part!))
    .join(".");
  const values = (operand.value ?? []) as readonly (string | null)[];
  const right = operand.valueField
    ? visible(operand.valueField)
    : values.map((value) => JSON.stringify(visible(String(value)))).join(" or ");
  return [place, inWords(operand.operation ?? ""), right].filter(Boolean).join(" ");
}

/** inWords takes the name of an operation apart: notEqual is "not equal". */
function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}
