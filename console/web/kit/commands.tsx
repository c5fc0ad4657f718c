// The same action in the terminal: as a command of sluice and as curl, to copy.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { useSession } from "./session.ts";

interface CommandsProps {
  /** cli is the command line, without the flags of the connection; undefined if there is none. */
  cli?: string | undefined;
  /** curl is the same request; see curlOf. */
  curl?: string | undefined;
  /** does says what the commands do, as an order: "import the example". It is for those that no action beside them tells. */
  does?: string | undefined;
  /** children is a remark about the commands. */
  children?: ComponentChildren;
}

/** Commands is a closed box below an action that opens to show the commands that do the same. Its heading is the same everywhere. */
export function Commands({ cli, curl, does, children }: CommandsProps) {
  return (
    <details class="commands">
      <summary>{does ? `In a terminal: ${does}` : "The same in a terminal"}</summary>
      {cli && <CommandText text={cli} name="command" />}
      {curl && <CommandText text={curl} name="curl line" />}
      {children && <p class="aside">{children}</p>}
      {curl?.includes("$TOKEN") && (
        <p class="aside">$TOKEN is a token of the client: docs/contract/platform.md says how to ask for one.</p>
      )}
    </details>
  );
}

/** CommandText shows a text to copy. */
export function CommandText({ text, name }: { text: string; name: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div class="command">
      <pre tabIndex={0} aria-label={name}>
        <code>{text}</code>
      </pre>
      <button
        type="button"
        class="quiet"
        onClick={() => void copy()}
        aria-label={copied ? `${name} copied` : `Copy the ${name}`}
      >
        <Icon name={copied ? "done" : "copy"} />
      </button>
      <span class="visually-hidden" aria-live="polite">
        {copied ? "Copied" : ""}
      </span>
    </div>
  );
}

/** shellQuote writes a text as one word of a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** useCurl returns a function that writes a request to the service as a curl line. */
export function useCurl(): (method: string, path: string, body?: unknown) => string {
  const { api_url, tenant_id } = useSession();
  return (method, path, body) => {
    const words = ["curl"];
    if (method.toUpperCase() !== "GET") words.push("-X", method.toUpperCase());
    words.push("-H", `"Authorization: Bearer $TOKEN"`);
    if (!path.startsWith("/tm/")) words.push("-H", `"X-TENANT-ID: ${tenant_id}"`);
    if (body !== undefined)
      words.push("-H", "'Content-Type: application/json'", "-d", shellQuote(JSON.stringify(body)));
    words.push(shellQuote(api_url + path));
    return words.join(" ");
  };
}
