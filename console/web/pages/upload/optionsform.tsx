// The form by which a checked file is uploaded: what the service is to do with it, each choice with what it leads to.

import { useState } from "preact/hooks";
import { Commands, storeLines, useCurl } from "../../kit/commands.tsx";
import { ErrorNotice } from "../../kit/feedback.tsx";
import { Check, SelectField, TextField } from "../../kit/fields.tsx";
import { counted, formatBytes, formatCount } from "../../kit/format.tsx";
import { Icon } from "../../kit/icons.tsx";
import { useAction } from "../../kit/resource.ts";
import { act, type FileRecord, type OnDuplicate } from "./files.ts";
import { checkDraft, emptyDraft, toCommand, toOptions, type Draft } from "./options.ts";

/** drafts are what was filled in for each file, so that looking at another one loses nothing. */
const drafts = new Map<string, Draft>();

interface OptionsFormProps {
  file: FileRecord;
  /** others are the other files that are checked and not uploaded. */
  others: readonly FileRecord[];
  changed: () => void;
}

/** OptionsForm asks how a file is uploaded, and uploads it. */
export function OptionsForm({ file, others, changed }: OptionsFormProps) {
  const [draft, setDraft] = useState(drafts.get(file.id) ?? emptyDraft);
  const [tried, setTried] = useState(false);
  const [withOthers, setWithOthers] = useState(false);
  const curl = useCurl();
  const set = (some: Partial<Draft>) => {
    const next = { ...draft, ...some };
    drafts.set(file.id, next);
    setDraft(next);
  };
  const all = withOthers ? [file, ...others] : [file];
  const faults = checkDraft(draft);
  const shown = tried ? faults : {};
  const upload = useAction(async () => {
    for (const one of all) await act(one.id, "upload", toOptions(draft));
    changed();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faults).length === 0) void upload.run();
  };
  const size = all.reduce((sum, one) => sum + (one.size ?? 0), 0);
  return (
    <form class="panel stack" onSubmit={submit} aria-label="Upload" noValidate>
      <h3>Upload</h3>
      <div class="options">
        <div class="stack">
          <InvalidLines draft={draft} set={set} fault={shown.limit} file={file} />
          <fieldset>
            <legend>What it is called</legend>
            <TextField
              label="Name"
              value={draft.name}
              onValue={(name) => set({ name })}
              error={shown.name}
              hint="Shown wherever the batch is; batches are found by it."
            />
            <Metadata draft={draft} set={set} fault={shown.metadata} />
          </fieldset>
        </div>
        <fieldset>
          <legend>How it is processed</legend>
          <Check
            label="Dry run: validate only, store nothing"
            checked={draft.dryRun}
            onChecked={(dryRun) => set({ dryRun })}
            hint="The service validates the batch with its entities, and reports. Nothing can be read afterwards."
          />
          <SelectField
            label="If another batch has the same file"
            value={draft.onDuplicate}
            onValue={(value) => set({ onDuplicate: value as OnDuplicate })}
            options={[
              ["accept", "Process it again"],
              ["reject", "Reject it if processed"],
              ["reject_open", "Reject it if processed or open"],
            ]}
            hint={duplicateHints[draft.onDuplicate]}
          />
          <Screening draft={draft} set={set} fault={shown.threshold} />
        </fieldset>
      </div>
      {others.length > 0 && (
        <Check
          label={
            others.length === 1
              ? "Upload the other checked file in the same way"
              : `Upload the ${formatCount(others.length)} other checked files in the same way`
          }
          checked={withOthers}
          onChecked={setWithOthers}
          hint="Each file is a batch of its own; three are sent at a time."
        />
      )}
      {upload.error && <ErrorNotice error={upload.error} />}
      {tried && Object.keys(faults).length > 0 && (
        <p class="field-error" role="alert">
          Mend what is marked above.
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={upload.running}>
          <Icon name="upload" />{" "}
          {all.length > 1
            ? `Upload ${formatCount(all.length)} files`
            : draft.dryRun
              ? "Upload for a dry run"
              : "Upload"}{" "}
          ({formatBytes(size)})
        </button>
      </div>
      <Commands
        cli={all
          .map((one) => toCommand(one.name, draft))
          .slice(0, 5)
          .join("\n")}
        curl={storeLines(
          curl("POST", "/tm/realtime/api/transactions/batch/generate-upload-url", requestOf(file, draft)),
          "url",
          file.name,
        )}
      />
    </form>
  );
}

/** duplicateHints say what each choice does. */
const duplicateHints: Record<OnDuplicate, string> = {
  accept: "If the same file was processed within 30 days, the batch names that other batch.",
  reject: "If the same file was processed within 30 days, the batch is rejected.",
  reject_open:
    "The batch is rejected if the same file was processed within 30 days, or is past its validation in a batch that " +
    "has not ended. Of equal files at the same time, one is stored.",
};

/** requestOf returns what the service is asked for, with what it must know of a packed file. */
function requestOf({ check }: FileRecord, draft: Draft) {
  const packed = check?.packed && check.packed !== "identity" ? { content_encoding: check.packed } : {};
  return { ...toOptions(draft), ...packed };
}

interface PartProps {
  draft: Draft;
  set: (some: Partial<Draft>) => void;
  fault: string | undefined;
}

/** InvalidLines asks what becomes of invalid lines. */
function InvalidLines({ draft, set, fault, file }: PartProps & { file: FileRecord }) {
  const invalid = file.check?.invalid ?? 0;
  const isAll = invalid > 0 && file.check?.valid === 0;
  return (
    <fieldset>
      <legend>Invalid lines</legend>
      <SelectField
        label="If lines are invalid"
        value={draft.invalid}
        onValue={(value) => set({ invalid: value as Draft["invalid"] })}
        options={[
          ["reject", "Reject the whole batch"],
          ["drop", "Drop them, store the others"],
          ["limit", "Drop them, up to a limit"],
        ]}
        hint={
          draft.invalid === "reject"
            ? "One invalid line, and nothing is stored. The safe choice if the file must be complete."
            : draft.invalid === "drop"
              ? "Valid lines are stored. The rejected ones can be downloaded, mended and sent as another batch."
              : "More invalid lines than that reject the whole batch."
        }
      />
      {draft.invalid === "limit" && (
        <TextField
          label="Limit"
          value={draft.limit}
          onValue={(limit) => set({ limit })}
          error={fault}
          hint="A number of lines, such as 100, or a share of all, such as 0.5%."
        />
      )}
      {isAll && <p class="field-error">Every line is invalid: the service would reject the batch in any case.</p>}
      {!isAll && invalid > 0 && draft.invalid === "reject" && (
        <p class="field-error">
          {counted(invalid, "line is", "lines are")} invalid: the service would reject the whole batch. Drop them, or
          mend the file first.
        </p>
      )}
    </fieldset>
  );
}

/** Screening asks whether the names of unknown entities are screened, and how. */
function Screening({ draft, set, fault }: PartProps) {
  return (
    <>
      <Check
        label="Screen the names of unknown entities"
        checked={draft.screen}
        onChecked={(screen) => set({ screen })}
        hint="The names that lines give are compared with watchlists while the batch is validated."
      />
      {draft.screen && (
        <div class="nested">
          <TextField
            label="Watchlists"
            value={draft.lists}
            onValue={(lists) => set({ lists })}
            hint="Their names, separated by commas; empty means all that the tenant has."
          />
          <TextField
            label="Threshold"
            type="number"
            min={0}
            max={100}
            step="any"
            inputMode="decimal"
            value={draft.threshold}
            onValue={(threshold) => set({ threshold })}
            error={fault}
            hint="The score that a hit reaches, 0 to 100."
          />
          <Check
            label="Reject lines with hits"
            checked={draft.rejectHits}
            onChecked={(rejectHits) => set({ rejectHits })}
            hint="Otherwise hits are only reported."
          />
        </div>
      )}
    </>
  );
}

/** Metadata asks for pairs of a key and a value. */
function Metadata({ draft, set, fault }: PartProps) {
  const { metadata } = draft;
  const change = (at: number, some: Partial<Draft["metadata"][number]>) =>
    set({ metadata: metadata.map((pair, i) => (i === at ? { ...pair, ...some } : pair)) });
  return (
    <div class="stack-tight">
      {metadata.map(({ key, value }, i) => (
        <div class="pair" key={i}>
          <TextField
            label={`Key ${i + 1}`}
            value={key}
            onValue={(typed) => change(i, { key: typed })}
            autofocus={key === ""}
          />
          <TextField label={`Value ${i + 1}`} value={value} onValue={(typed) => change(i, { value: typed })} />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${key || `pair ${i + 1}`}`}
            onClick={() => set({ metadata: metadata.filter((_, at) => at !== i) })}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {fault && <p class="field-error">{fault}</p>}
      {metadata.length < 16 && (
        <button type="button" onClick={() => set({ metadata: [...metadata, { key: "", value: "" }] })}>
          Add metadata
        </button>
      )}
      <p class="hint">Pairs of your own, such as region=north. Batches are found by them.</p>
    </div>
  );
}
