// Uploading: files are dropped, checked on this machine, and sent when the person says so. All of it is in the command;
// this page shows it, so a reload changes nothing.

import { useEffect, useRef, useState } from "preact/hooks";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { formatBytes } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { navigate, useQuery } from "../../kit/router.tsx";
import { FileDetail, Lasting } from "./detail.tsx";
import { DropZone } from "./drop.tsx";
import { Files } from "./filelist.tsx";
import { isBusy, useFiles, type FileList } from "./files.ts";
import { useSending } from "./sending.ts";

/** UploadPage is the page on which files are dropped, checked and uploaded. */
export default function UploadPage() {
  const [busy, setBusy] = useState(true);
  const sending = useSending();
  const list = useFiles(busy || sending.some((s) => s.state !== "refused"));
  const { value } = list;
  useEffect(() => {
    if (value) setBusy(value.files.some(isBusy));
  }, [value]);
  const awaited = useSelection(value);
  // What arrives or is refused changes the list at once.
  useEffect(() => list.reload(), [sending.length]);
  return (
    <Page title="Upload">
      <DropZone
        limit={formatBytes(value?.limits.file_bytes ?? 2 ** 31 - 1)}
        compact={(value?.files.length ?? 0) + sending.length > 0}
        onTaken={(keys) => {
          awaited.current = keys[0] ?? "";
        }}
      />
      <Loaded resource={list} lines={6}>
        {(files) => <Content list={files} changed={list.reload} />}
      </Loaded>
    </Page>
  );
}

/**
 * useSelection has the address name one of the files: the last one if it names none, and the first of those that were
 * dropped last as soon as the command has it. It returns where the key of that one goes.
 */
function useSelection(list: FileList | undefined): { current: string } {
  const [{ file: wanted }] = useQuery({ file: "" });
  const awaited = useRef("");
  useEffect(() => {
    const arrived = awaited.current && list?.files.find((file) => file.key === awaited.current);
    if (arrived) awaited.current = "";
    const selected = arrived || (wanted ? undefined : list?.files.at(-1));
    if (selected) navigate(`/upload?file=${selected.id}`, { replace: true });
  }, [list, wanted]);
  return awaited;
}

/** Content shows the files, and the one that the address names in full. */
function Content({ list: { files }, changed }: { list: FileList; changed: () => void }) {
  const [{ file: wanted }] = useQuery({ file: "" });
  const sending = useSending();
  const shown = files.find((file) => file.id === wanted);
  if (files.length === 0 && sending.length === 0) {
    return (
      <Empty title="No file is here yet.">
        <p>
          Drop one above, or make one to try: <code>sluice generate --lines 100000 --bad 0.01 -o batch.jsonl</code>
        </p>
      </Empty>
    );
  }
  const others = files.filter(
    (file) => file.state === "checked" && file.id !== shown?.id && (file.check?.lines ?? 0) > 0,
  );
  return (
    <>
      <div class="upload-page">
        <Files files={files} sending={sending} selected={shown?.id ?? ""} />
        {shown ? (
          <FileDetail key={shown.id} file={shown} others={others} changed={changed} />
        ) : wanted ? (
          <Empty title="The console does not have this file any more.">
            <p>It was removed, or dropped into a console that has ended.</p>
          </Empty>
        ) : null}
      </div>
      <Lasting />
    </>
  );
}
