// The same action in the terminal: as a command of sluice and as curl, to copy.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";
import { type Session, useSession } from "./session.ts";

interface CommandsProps {
  /** cli is the command line, without the flags of the connection; undefined if there is none. */
  cli?: string | undefined;
  /** curl is the same request; see curlOf. */
  curl?: string | undefined;
  /**
   * does says what the commands do, as an order: "import the example". It is for those that no action beside them
   * tells.
   */
  does?: string | undefined;
  /** children is a remark about the commands. */
  children?: ComponentChildren;
}

/**
 * Commands is a closed box below an action that opens to show the commands that do the same. Its heading is the same
 * everywhere.
 */
export function Commands({ cli, curl, does, children }: CommandsProps) {
  const session = useSession();
  return (
    <details class="commands">
      <summary>{does ? `In a terminal: ${does}` : "The same in a terminal"}</summary>
      {cli && <CommandText text={connected(cli, session)} name="command" />}
      {curl && <CommandText text={curl} name="curl line" />}
      {children && <p class="aside">{children}</p>}
      {curl?.includes("$TOKEN") && (
        <details class="commands">
          <summary>$TOKEN for curl, good for an hour</summary>
          <CommandText text={tokenLine(session)} name="line for $TOKEN" />
          <p class="aside">$SLUICE_CLIENT_SECRET is the secret of the client, which this page does not have.</p>
        </details>
      )}
    </details>
  );
}

/** serviceCommands and cloudCommands match how commands begin that call the service, or read the installation. */
const serviceCommands =
  /^sluice (?:upload|send|status|results|batches|cancel|receipt|listen|summary|failed|events|transaction [a-z]+|(?:entity|document|webhooks) [a-z]+|policy (?:list|export|diff|import|publish|evaluate)|screen(?= .*--service))/;
const cloudCommands = /^sluice (?:metrics|admin [a-z]+ [a-z]+)/;

/** connected adds to each line the flags of the connection, so that it does the same in any terminal of this machine. */
function connected(cli: string, { flags }: Session): string {
  return cli
    .split("\n")
    .map((line) =>
      [[serviceCommands, flags.service] as const, [cloudCommands, flags.cloud] as const].reduce(
        (text, [begins, words]) => (words ? text.replace(begins, (found) => `${found} ${words}`) : text),
        line,
      ),
    )
    .join("\n");
}

/** tokenLine is a shell line that asks for an access token. */
function tokenLine({ token_url, client_id, tenant_id }: Session): string {
  return [
    "TOKEN=$(curl -sS",
    shellQuote(token_url),
    "-d grant_type=client_credentials",
    "-d",
    shellQuote("client_id=" + client_id),
    '--data-urlencode "client_secret=$SLUICE_CLIENT_SECRET"',
    "-d",
    shellQuote("scope=tenant/" + tenant_id),
    `| sed 's/.*"access_token": *"\\([^"]*\\)".*/\\1/')`,
  ].join(" ");
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

/** fileWord writes the name of a file as an argument of a command. */
export function fileWord(name: string): string {
  return shellQuote(name.startsWith("-") ? "./" + name : name);
}

/** storeLines writes a request by curl whose answer has a signed address, in a member, and the upload of a file to it. */
export function storeLines(request: string, member: string, file: string): string {
  return [
    `REPLY=$(${request})`,
    `URL=$(printf '%s' "$REPLY" | sed 's/.*"${member}": *"\\([^"]*\\)".*/\\1/')`,
    `curl -T ${fileWord(file)} -H 'If-None-Match: *' "$URL"`,
  ].join("\n");
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
