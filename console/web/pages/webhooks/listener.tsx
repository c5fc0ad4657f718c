// The tenant's events as they come: the command receives them, verified, as sluice listen does.

import { useEffect, useState } from "preact/hooks";
import { send } from "../../kit/api.ts";
import { Commands, shellQuote } from "../../kit/commands.tsx";
import { Empty, ErrorNotice, Live, Notice } from "../../kit/feedback.tsx";
import { TextField } from "../../kit/fields.tsx";
import { counted, Time } from "../../kit/format.tsx";
import { useAction } from "../../kit/resource.ts";
import { visible } from "../../kit/safe.ts";
import { useSession } from "../../kit/session.ts";
import { Badge } from "../../kit/status.tsx";

/** ListenerState is the state of the command's listener. */
interface ListenerState {
  state: "off" | "starting" | "listening" | "stopping" | "failed";
  event_types: string[] | null;
  url?: string;
  problem?: string;
}

/** LiveEvent is a request that has come: its message, or why it was refused. */
interface LiveEvent {
  id: number;
  at: string;
  event: unknown;
  refused?: string;
}

/** shownEvents is how many of the latest events the page keeps. */
const shownEvents = 200;

/** Listener starts and stops listening, and shows what comes, the latest first. */
export function Listener() {
  const { listener } = useSession();
  return (
    <section class="panel" aria-labelledby="listener">
      <h2 id="listener">Listen on this machine</h2>
      {listener ? (
        <LiveEvents />
      ) : (
        <p>
          The service cannot reach this machine. Start the console with --listen-url and the address of a tunnel, or
          listen in a terminal.
        </p>
      )}
      {!listener && <Commands cli="sluice listen" />}
    </section>
  );
}

function LiveEvents() {
  const { state, events, missed } = useLiveEvents();
  const [types, setTypes] = useState("*");
  const start = useAction(() => send("post", "/console/listener", { body: { event_types: typesOf(types) } }));
  const stop = useAction(() => send("delete", "/console/listener"));
  const isOn = state.state === "listening" || state.state === "starting";
  return (
    <div class="stack">
      <p>
        Events are shown here as they come, verified. The console makes a webhook for that and removes it when listening
        ends.
      </p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void (isOn ? stop.run() : start.run());
        }}
      >
        <TextField label="Events (* for all)" value={types} onValue={setTypes} disabled={isOn} />
        <button type="submit" disabled={start.running || stop.running || state.state === "stopping"}>
          {isOn ? "Stop listening" : "Start listening"}
        </button>
      </form>
      {state.state === "failed" && <Notice kind="warn">{state.problem ?? "Listening has failed."}</Notice>}
      {(start.error ?? stop.error) && <ErrorNotice error={(start.error ?? stop.error)!} />}
      {state.state === "starting" && <p role="status">The webhook is being made.</p>}
      {missed > 0 && <Notice kind="warn">{counted(missed, "event")} came that the page has missed.</Notice>}
      <Live text={events.length > 0 ? `${counted(events.length, "event")} received` : ""} />
      {events.length > 0 ? (
        <EventList events={events} />
      ) : (
        isOn && (
          <Empty title="Nothing has come yet.">
            <p>Upload a batch or send a test event, and it appears here.</p>
          </Empty>
        )
      )}
      <Commands
        cli={[
          "sluice listen",
          ...typesOf(types).flatMap((type) => (type === "*" ? [] : ["--event", shellQuote(type)])),
        ].join(" ")}
      />
    </div>
  );
}

/** typesOf splits what a person has written. */
function typesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function useLiveEvents() {
  const [state, setState] = useState<ListenerState>({ state: "off", event_types: null });
  const [events, setEvents] = useState<LiveEvent[]>([]);
  const [missed, setMissed] = useState(0);
  useEffect(() => {
    // A browser has six connections to the console, for all its tabs: only the tab that is seen keeps one. What comes
    // meanwhile is held by the command.
    let source: EventSource | undefined;
    let last = 0;
    const follow = () => {
      source?.close();
      source = document.hidden ? undefined : new EventSource(`/console/events?after=${last}`);
      source?.addEventListener("listener", (event) => setState(JSON.parse(event.data) as ListenerState));
      source?.addEventListener("missed", (event) => setMissed((n) => n + Number(event.data)));
      source?.addEventListener("message", (event) => {
        const one = JSON.parse(event.data) as LiveEvent;
        last = one.id;
        setEvents((old) => (old.some((known) => known.id === one.id) ? old : [one, ...old].slice(0, shownEvents)));
      });
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      source?.close();
    };
  }, []);
  return { state, events, missed };
}

function EventList({ events }: { events: readonly LiveEvent[] }) {
  return (
    <ul class="plain event-list">
      {events.map((one) => (
        <li key={one.id}>
          <details>
            <summary>
              <Time at={one.at} form="time" />{" "}
              {one.refused ? <Badge kind="bad">Refused</Badge> : <code>{typeOf(one.event)}</code>}
            </summary>
            {one.refused && <p>{one.refused}</p>}
            {one.event !== null && (
              <pre class="excerpt" tabIndex={0} aria-label="Message">
                {JSON.stringify(one.event, null, 2)}
              </pre>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}

function typeOf(event: unknown): string {
  const message = (Array.isArray(event) ? event[0] : event) as Record<string, unknown> | null;
  const type = message && typeof message === "object" ? message.eventType : undefined;
  return typeof type === "string" ? visible(type) : "event";
}
