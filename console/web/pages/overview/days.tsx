// Lines by day: what was stored, and what was not.

import { Loaded } from "../../kit/feedback.tsx";
import { counted, formatCount, formatShare } from "../../kit/format.tsx";
import { Commands, useCurl } from "../../kit/commands.tsx";
import { type Day, useDays } from "./load.ts";

const dayCount = 14;
const weekday = new Intl.DateTimeFormat(navigator.language, {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

/** DaysPanel shows today in figures, and the latest days as bars. */
export function DaysPanel({ isNew }: { isNew: boolean }) {
  const days = useDays(dayCount);
  const curl = useCurl();
  const query = days.value && `start_date=${days.value.at(-1)!.date}&end_date=${days.value[0]!.date}`;
  return (
    <section class="panel" aria-labelledby="days">
      <h2 id="days">Transactions</h2>
      <Loaded resource={days} lines={8}>
        {(value) =>
          value.every((day) => day.stored + day.failed === 0) ? (
            <p class="aside">
              {isNew
                ? "They are counted here, by day, when the first batch has ended."
                : "None of the last two weeks has ended yet."}
            </p>
          ) : (
            <Days days={value} />
          )
        }
      </Loaded>
      {query && (
        <Commands
          cli={`sluice summary --days ${dayCount}`}
          curl={curl("GET", `/tm/observability/api/v1/transactions/summary?${query}`)}
        />
      )}
    </section>
  );
}

function Days({ days }: { days: Day[] }) {
  const today = days[0]!;
  const greatest = days.reduce((most, day) => Math.max(most, day.stored + day.failed), 1);
  const total = today.stored + today.failed;
  return (
    <div class="days">
      <dl class="figures">
        <div>
          <dt>Stored today (UTC)</dt>
          <dd>
            <span class="figure">{formatCount(today.stored)}</span>
          </dd>
        </div>
        <div>
          <dt>Not stored today</dt>
          <dd>
            <span class={today.failed > 0 ? "figure is-bad" : "figure"}>{formatCount(today.failed)}</span>{" "}
            <span class="aside">{today.failed > 0 && formatShare(today.failed, total)}</span>
          </dd>
        </div>
        <div>
          <dt>Stored in {dayCount} days</dt>
          <dd>
            <span class="figure">{formatCount(days.reduce((sum, day) => sum + day.stored, 0))}</span>
          </dd>
        </div>
      </dl>
      <ol class="day-bars" aria-label="Transactions by day in UTC, the oldest first">
        {days.toReversed().map((day) => (
          <DayBar key={day.date} day={day} greatest={greatest} />
        ))}
      </ol>
      <p class="aside legend">
        <span class="swatch bar-accent" /> stored <span class="swatch bar-bad" /> not stored: rejected with their batch,
        dropped, or refused
      </p>
    </div>
  );
}

function DayBar({ day, greatest }: { day: Day; greatest: number }) {
  const name = weekday.format(new Date(day.date));
  const text = `${name}: ${counted(day.stored, "transaction")} stored, ${formatCount(day.failed)} not`;
  return (
    <li title={text}>
      <span class="visually-hidden">{text}</span>
      <span class="day-column" aria-hidden="true">
        <span class="bar-bad" style={{ height: `${(100 * day.failed) / greatest}%` }} />
        <span class="bar-accent" style={{ height: `${(100 * day.stored) / greatest}%` }} />
      </span>
      <span class="day-name tabular" aria-hidden="true">
        {new Date(day.date).getUTCDate()}
      </span>
    </li>
  );
}
