// Fields of forms, each with its label, a hint and its error, tied together for screen readers.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

interface FieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
}

interface TextFieldProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "number" | "date" | "datetime-local" | "url" | "password";
  placeholder?: string;
  required?: boolean;
  disabled?: boolean;
  maxLength?: number;
  min?: number | string;
  max?: number | string;
  step?: number | string;
  inputMode?: "text" | "numeric" | "decimal";
  /** autofocus puts the cursor here when the field appears. */
  autofocus?: boolean;
  /** spellcheck is off unless the field is for sentences. */
  spellcheck?: boolean;
  /** search makes it the field that the key / focuses. */
  search?: boolean;
}

/** TextField is a field of one line of text (or a number, a date: see type). */
export function TextField({
  label,
  hint,
  error,
  value,
  onValue,
  type = "text",
  spellcheck = false,
  autofocus = false,
  search = false,
  ...rest
}: TextFieldProps) {
  const id = useId();
  const element = useRef<HTMLInputElement>(null);
  // Browsers heed the attribute while a page loads, and where a dialog opens, which takes the focus after this.
  useLayoutEffect(() => {
    if (autofocus) element.current?.focus();
  }, []);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        autofocus={autofocus || undefined}
        {...rest}
        ref={element}
        type={type as "text" /* Preact's types allow no variable here */}
        id={id}
        value={value}
        spellcheck={spellcheck}
        data-search={search || undefined}
        autocomplete="off"
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, hint, error)}
      />
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

interface SelectFieldProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
  /** options are values with the texts that stand for them. */
  options: readonly (readonly [value: string, text: string])[];
}

/** SelectField is a choice of one of several values. */
export function SelectField({ label, hint, error, value, onValue, options }: SelectFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onValue(event.currentTarget.value)}
        aria-describedby={described(id, hint, error)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

interface TextAreaProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
}

/** TextArea is a field of several lines. */
export function TextArea({ label, hint, error, value, onValue, rows = 4 }: TextAreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, hint, error)}
      />
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

/** Check is a field that is on or off. */
export function Check({
  label,
  hint,
  checked,
  onChecked,
}: {
  label: ComponentChildren;
  hint?: string;
  checked: boolean;
  onChecked: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        onChange={(event) => onChecked(event.currentTarget.checked)}
        aria-describedby={described(id, hint, undefined)}
      />
      <label for={id}>{label}</label>
      <FieldNotes id={id} hint={hint} error={undefined} />
    </div>
  );
}

function FieldNotes({ id, hint, error }: { id: string; hint: string | undefined; error: string | undefined }) {
  return (
    <>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
}

function described(id: string, hint: string | undefined, error: string | undefined): string | undefined {
  return [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
}

/**
 * SearchField is the field that the key / focuses. It reports what was typed after a pause of 250 ms, and at once by
 * Enter, so that each key does not ask the service.
 */
export function SearchField({
  label,
  value,
  onValue,
  placeholder,
}: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
}) {
  const [text, setText] = useState(value);
  const timer = useRef(0);
  const latest = useRef(onValue);
  latest.current = onValue;
  const id = useId();
  useEffect(() => {
    if (timer.current === 0) setText(value); // else what has been typed since is newer
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const report = (typed: string) => {
    clearTimeout(timer.current);
    timer.current = 0;
    latest.current(typed);
  };
  const type = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => report(typed), 250);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="search"
        id={id}
        data-search
        value={text}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") report(event.currentTarget.value);
        }}
      />
    </div>
  );
}
