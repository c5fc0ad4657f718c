import { Commands } from "../../kit/commands.tsx";

/** Listener says how to listen to events on this machine. */
export function Listener() {
  return (
    <section class="panel" aria-labelledby="listener">
      <h2 id="listener">Listen on this machine</h2>
      <p>The command line receives events, verifies them, and prints or forwards them while you develop a receiver.</p>
      <Commands cli="sluice listen" />
    </section>
  );
}
