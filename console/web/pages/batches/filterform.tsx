// The filters of the list of batches.

import { useState } from "preact/hooks";
import { SearchField, TextField } from "../../kit/fields.tsx";
import { zone } from "../../kit/format.tsx";
import { allBatchStates, describeBatchState } from "../../kit/status.tsx";
import {
  type Filters,
  fromLocal,
  hasFilters,
  isChosen,
  noFilters,
  pairsOf,
  states,
  toggle,
  toLocal,
} from "./filters.ts";

const statuses = allBatchStates.map((value) => ({ value, ...describeBatchState(value) }));

interface FilterFormProps {
  filters: Filters;
  onChange: (change: Partial<Filters>, options?: { push?: boolean }) => void;
}

/** FilterForm shows the filters; those that are rarely used are in a box that opens. */
export function FilterForm({ filters, onChange }: FilterFormProps) {
  const hasMore = Boolean(filters.after || filters.before || filters.client || filters.metadata);
  const [open, setOpen] = useState(hasMore);
  return (
    <form
      class="batch-filters"
      role="search"
      aria-label="Filters of batches"
      onSubmit={(event) => event.preventDefault()}
    >
      <div class="batch-filters-first">
        <SearchField
          label="Name or ID"
          placeholder="How the name begins, or a whole ID"
          value={filters.search}
          onValue={(search) => onChange({ search })}
        />
        <Chips
          label="Open or ended"
          values={states}
          filter={filters.state}
          onFilter={(state) => onChange({ state }, { push: true })}
        />
        <Chips
          label="Status"
          values={statuses}
          filter={filters.status}
          onFilter={(status) => onChange({ status }, { push: true })}
        />
        <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Fewer filters" : "More filters"}
        </button>
        {hasFilters(filters) && (
          <button type="button" class="link" onClick={() => onChange(noFilters, { push: true })}>
            Clear all
          </button>
        )}
      </div>
      {open && (
        <div class="filters">
          <TextField
            label="Created after"
            hint={zone}
            type="datetime-local"
            value={toLocal(filters.after)}
            onValue={(text) => onChange({ after: fromLocal(text) })}
          />
          <TextField
            label="Created before"
            hint={zone}
            type="datetime-local"
            value={toLocal(filters.before)}
            onValue={(text) => onChange({ before: fromLocal(text) })}
          />
          <Late
            label="Client"
            placeholder="ID of a client"
            value={filters.client}
            onValue={(client) => onChange({ client })}
          />
          <Late
            label="Metadata"
            placeholder="key=value; key=value"
            value={filters.metadata}
            onValue={(metadata) => onChange({ metadata })}
            error={filters.metadata !== "" && pairsOf(filters).length === 0 ? "Write key=value." : undefined}
          />
        </div>
      )}
    </form>
  );
}

interface ChipsProps {
  label: string;
  values: readonly { value: string; text: string; means: string }[];
  filter: string;
  onFilter: (filter: string) => void;
}

/** Chips are the values of a filter, of which any number is chosen. */
function Chips({ label, values, filter, onFilter }: ChipsProps) {
  const all = values.map(({ value }) => value);
  return (
    <div class="chips" role="group" aria-label={label}>
      {values.map(({ value, text, means }) => (
        <button
          key={value}
          type="button"
          class="chip"
          aria-pressed={isChosen(filter, value)}
          title={`${value}: ${means}`}
          onClick={() => onFilter(toggle(filter, value, all))}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

interface LateProps {
  label: string;
  placeholder: string;
  value: string;
  onValue: (value: string) => void;
  error?: string | undefined;
}

/** Late is a field that reports its text when the person has finished: by Enter, or by leaving it. */
function Late({ label, placeholder, value, onValue, error }: LateProps) {
  const [typed, setTyped] = useState<string>();
  const report = () => {
    if (typed !== undefined && typed.trim() !== value) onValue(typed.trim());
    setTyped(undefined);
  };
  return (
    <div
      onFocusOut={report}
      onKeyDown={(event) => {
        if (event.key === "Enter") report();
      }}
    >
      <TextField label={label} placeholder={placeholder} error={error} value={typed ?? value} onValue={setTyped} />
    </div>
  );
}
