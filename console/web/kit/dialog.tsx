// Dialogs: the browser's own, which keep the focus inside, close by Escape and return the focus.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { ApiError } from "./api.ts";
import { ErrorNotice } from "./feedback.tsx";
import { Icon } from "./icons.tsx";

interface DialogProps {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ComponentChildren;
  /** wide is for content that needs the width of the window. */
  wide?: boolean;
}

/** Dialog shows its children above the page while open. */
export function Dialog({ title, open, onClose, children, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // With its content, not after the next frame: a key that is pressed as soon as the dialog is gone has to find the page.
  // After each rendering, because a browser closes a dialog by itself if Escape is pressed twice.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  });
  return (
    <dialog
      ref={element}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={heading}
      onClose={() => {
        // The event comes later than the closing: the page may have closed the dialog, and opened it again since.
        if (open && !element.current?.open) onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {open && (
        <>
          <header class="dialog-header">
            <h2 id={heading}>{title}</h2>
            <button type="button" class="quiet" onClick={onClose} aria-label="Close">
              <Icon name="close" />
            </button>
          </header>
          <div class="dialog-body">{children}</div>
        </>
      )}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  open: boolean;
  /** action is the text of the button that does it, a verb with its object: "Cancel the batch". */
  action: string;
  /** keep is the text of the button that does not. */
  keep?: string;
  running?: boolean;
  error?: ApiError | undefined;
  onConfirm: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** Confirm asks before something that cannot be taken back. */
export function Confirm({
  title,
  open,
  action,
  keep = "Go back",
  running = false,
  error,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) {
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      {children}
      {error && <ErrorNotice error={error} />}
      <div class="buttons">
        <button type="button" onClick={onClose} autofocus>
          {keep}
        </button>
        <button type="button" class="danger" disabled={running} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
