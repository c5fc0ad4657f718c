// Where files are dropped or chosen: single ones, several, or a folder with everything in it.

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../kit/icons.tsx";
import { sendFiles, type NamedFile } from "./sending.ts";

/** maxDropped is how many files of a folder are taken. */
const maxDropped = 1000;

/**
 * DropZone takes files by dropping them anywhere on the page, or by choosing them. It is compact once there are some.
 * onTaken gets their keys.
 */
export function DropZone({
  limit,
  compact,
  onTaken,
}: {
  limit: string;
  compact: boolean;
  onTaken: (keys: string[]) => void;
}) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [said, setSaid] = useState("");

  const take = (chosen: readonly NamedFile[]) => {
    setSaid(
      chosen.length === 0
        ? "There is no file in what was dropped."
        : chosen.length === 1
          ? "1 file taken."
          : `${chosen.length} files taken.`,
    );
    onTaken(sendFiles(chosen));
  };

  // Files that miss the zone must not replace the page.
  useEffect(() => {
    let depth = 0;
    const has = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (has(event)) {
        depth++;
        setOver(true);
      }
    };
    const leave = (event: DragEvent) => {
      if (has(event) && --depth <= 0) {
        depth = 0;
        setOver(false);
      }
    };
    const drag = (event: DragEvent) => {
      if (has(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (!has(event) || !event.dataTransfer) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      void readDropped(event.dataTransfer).then(take);
    };
    addEventListener("dragenter", enter);
    addEventListener("dragleave", leave);
    addEventListener("dragover", drag);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragenter", enter);
      removeEventListener("dragleave", leave);
      removeEventListener("dragover", drag);
      removeEventListener("drop", drop);
    };
  }, []);
  useEffect(() => folder.current?.setAttribute("webkitdirectory", ""), []);

  const choose = (input: HTMLInputElement) => {
    take(Array.from(input.files ?? [], (file) => ({ name: file.webkitRelativePath || file.name, file })));
    input.value = ""; // so that the same file can be chosen again
  };
  return (
    <section class={`drop-zone${over ? " is-over" : ""}${compact ? " is-compact" : ""}`} aria-label="Files to upload">
      <Icon name="upload" />
      <div class="stack-tight">
        <p class="drop-title">{over ? "Drop them here" : "Drop files here"}</p>
        {!compact && (
          <p class="hint">
            One transaction a line (JSON Lines), plain or packed with gzip or zstd, up to {limit} each. They are copied
            to the command <code>sluice console</code> and checked there. Nothing is sent to the service before you say
            so.
          </p>
        )}
      </div>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => files.current?.click()}>
          Choose files
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          Choose a folder
        </button>
      </div>
      <input
        ref={files}
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-label="Files"
        onChange={(event) => choose(event.currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-label="Folder"
        onChange={(event) => choose(event.currentTarget)}
      />
      <p class="visually-hidden" aria-live="polite">
        {said}
      </p>
    </section>
  );
}

/** readDropped returns the files of a drop, and those in its folders, but no hidden ones of folders. */
async function readDropped(data: DataTransfer): Promise<NamedFile[]> {
  // The items are gone as soon as this function waits for anything.
  const dropped = Array.from(data.items)
    .filter((item) => item.kind === "file")
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found: NamedFile[] = [];
  for (const { entry, file } of dropped) {
    if (entry?.isDirectory) await readFolder(entry as FileSystemDirectoryEntry, found);
    else if (file) found.push({ name: file.name, file });
  }
  return found.slice(0, maxDropped);
}

async function readFolder(folder: FileSystemDirectoryEntry, found: NamedFile[]): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject)).catch(
      () => [],
    );
    if (some.length === 0 || found.length >= maxDropped) return;
    for (const entry of some) {
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory) await readFolder(entry as FileSystemDirectoryEntry, found);
      else
        await new Promise<void>((resolve) =>
          (entry as FileSystemFileEntry).file(
            (file) => {
              found.push({ name: entry.fullPath.replace(/^\//, ""), file });
              resolve();
            },
            () => resolve(),
          ),
        );
    }
  }
}
