// The filter over the matches, and what is said when it shows none.

import { Empty } from "../../kit/feedback.tsx";
import { SearchField, SelectField, TextField } from "../../kit/fields.tsx";
import { counted } from "../../kit/format.tsx";
import { visible } from "../../kit/safe.ts";
import { listsOf, type Row } from "./matches.ts";
import { matchStatuses } from "./statuses.tsx";
import type { Change, Fields } from "./fields.ts";

/** Filters asks which matches are shown. */
export function Filters({
  all,
  fields,
  change,
  several,
}: {
  all: readonly Row[];
  fields: Fields;
  change: Change;
  several: boolean;
}) {
  const lists = listsOf(all);
  const options = fields.list !== "" && !lists.includes(fields.list) ? [...lists, fields.list] : lists;
  return (
    <div class="filters" role="search" aria-label="Which matches are shown">
      <SearchField label="Name or entry" value={fields.find} onValue={(find) => change({ find })} />
      <SelectField
        label="Status"
        value={fields.status}
        onValue={(status) => change({ status })}
        options={[["", "All"], ...matchStatuses.map((one) => [one, one] as const)]}
      />
      <SelectField
        label="List"
        value={fields.list}
        onValue={(list) => change({ list })}
        options={[["", "All"], ...options.map((list) => [list, visible(list)] as const)]}
      />
      <TextField
        label="Score from"
        type="number"
        min={0}
        max={100}
        step="any"
        inputMode="decimal"
        value={fields.min}
        onValue={(min) => change({ min })}
      />
      {several && (
        <SelectField
          label="Of"
          value={fields.scope}
          onValue={(scope) => change({ scope })}
          options={[
            ["entity", "this entity"],
            ["all", "all entities"],
          ]}
        />
      )}
    </div>
  );
}

/** NoMatches says why no match is shown, and shows all if it is because of the filter. */
export function NoMatches({ all, change }: { all: number; change: Change }) {
  if (all > 0) {
    return (
      <Empty title="The filter shows no match">
        <button type="button" onClick={() => change({ status: "", list: "", min: "", find: "" })}>
          Show all {counted(all, "match", "matches")}
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No match">
      <p>
        No provider has found an entry that resembles this entity. Whether a search is under way or has failed is said
        above.
      </p>
    </Empty>
  );
}
