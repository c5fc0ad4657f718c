// The filters of the list of batches.

import { useState } from "preact/hooks";
import { SearchField, TextField } from "../../kit/fields.tsx";
import { allBatchStates, describeBatchState } from "../../kit/status.tsx";
import { type Filters, fromLocal, hasFilters, noFilters, pairsOf, statesOf, toggleState, toLocal } from "./filters.ts";

interface FilterFormProps {
  filters: Filters;
  onChange: (change: Partial<Filters>, options?: { push?: boolean }) => void;
}

/** FilterForm shows the filters; those that are rarely used are in a box that opens. */
export function FilterForm({ filters, onChange }: FilterFormProps) {
  const hasMore = Boolean(filters.after || filters.before || filters.client || filters.metadata);
  const [open, setOpen] = useState(hasMore);
  const chosen = statesOf(filters);
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
        <div class="chips" role="group" aria-label="State">
          {allBatchStates.map((state) => {
            const { text, means } = describeBatchState(state);
            return (
              <button
                key={state}
                type="button"
                class="chip"
                aria-pressed={chosen.includes(state)}
                title={`${state}: ${means}`}
                onClick={() => onChange({ status: toggleState(filters, state) }, { push: true })}
              >
                {text}
              </button>
            );
          })}
        </div>
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
            type="datetime-local"
            value={toLocal(filters.after)}
            onValue={(text) => onChange({ after: fromLocal(text) })}
          />
          <TextField
            label="Created before"
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
