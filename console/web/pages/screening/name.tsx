// A name tried at once against the current lists. Nothing of it is stored by the service.

import { useRef } from "preact/hooks";
import { get, post, type Schemas } from "../../kit/api.ts";
import { Commands, shellQuote, useCurl } from "../../kit/commands.tsx";
import { Empty, ErrorNotice, Live, Notice, Skeleton } from "../../kit/feedback.tsx";
import { SearchField, SelectField, TextField } from "../../kit/fields.tsx";
import { counted } from "../../kit/format.tsx";
import { Page } from "../../kit/page.tsx";
import { useResource } from "../../kit/resource.ts";
import { type Query, useKept, useQuery } from "../../kit/router.tsx";
import { visible } from "../../kit/safe.ts";
import { type Column, Table } from "../../kit/table.tsx";
import { MatchHeading, Score } from "./score.tsx";
import { infoOf, Sides, Source } from "./sides.tsx";
import { Threshold } from "./threshold.tsx";
import { Words } from "./words.tsx";

type Data = Schemas["MatchData"];
type Criteria = Schemas["SearchCriteria"];

const defaults = { type: "Individual", lists: "", threshold: "" };
/** person is what is said of the person, and the hit that is looked at. It does not stand in the address. */
const person = { name: "", born: "", country: "", gender: "", hit: "" };
type Fields = Query<keyof typeof defaults | keyof typeof person>;

const path = "/screeningquery/api/v4/match-name";

/** NamePage asks which entries of the lists a name may be, while it is typed. */
export default function NamePage() {
  const [search, change] = useQuery(defaults);
  const [about, keep] = useKept(person);
  const fields: Fields = { ...search, ...about };
  const body = bodyOf(fields);
  const key = body ? JSON.stringify(body) : "";
  const asked = useResource(key, async (signal) => {
    const { data, messages } = await post(path, { body: { data: body! }, signal });
    return { hits: data, messages, asked: body!.searchCriteria };
  });
  const settings = useResource("screening-configuration", (signal) =>
    get("/screeningquery/api/v4/configuration", { signal }),
  );
  const answer = useLast(asked.value, key !== "" && !asked.error);
  return (
    <Page title="Try a name">
      <p>
        Type a name to see at once what the built-in provider would find in the current lists. The service stores
        nothing of it, and it does not stand in the address.
      </p>
      <form
        class="filters filters-start"
        role="search"
        aria-label="The name to try"
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchField
          label={fields.type === "Company" ? "Name of the company" : "Full name"}
          value={fields.name}
          onValue={(name) => keep({ name, hit: "" })}
        />
        <SelectField
          label="Kind"
          value={fields.type}
          onValue={(type) => {
            keep({ hit: "" });
            change({ type });
          }}
          options={[
            ["Individual", "Individual"],
            ["Company", "Company"],
          ]}
        />
        {fields.type === "Individual" && (
          <TextField label="Date of birth" type="date" value={fields.born} onValue={(born) => keep({ born })} />
        )}
        <TextField
          label="Country"
          hint="A code or an English name"
          value={fields.country}
          onValue={(country) => keep({ country })}
          maxLength={255}
        />
        {fields.type === "Individual" && (
          <SelectField
            label="Gender"
            value={fields.gender}
            onValue={(gender) => keep({ gender })}
            options={[
              ["", "Not known"],
              ["female", "Female"],
              ["male", "Male"],
            ]}
          />
        )}
        <TextField
          label="Lists"
          hint={
            settings.value?.data.activeLists.length
              ? `None stands for ${settings.value.data.activeLists.join(", ")}`
              : "Names with commas; none stands for all"
          }
          value={fields.lists}
          onValue={(lists) => change({ lists })}
        />
        <TextField
          label="Threshold"
          type="number"
          min={0}
          max={100}
          step="any"
          inputMode="decimal"
          value={fields.threshold}
          onValue={(threshold) => change({ threshold })}
          hint={
            settings.value
              ? `${settings.value.data.threshold} unless another is given`
              : "The built-in provider's unless given"
          }
          error={isThreshold(fields.threshold) ? undefined : "A number from 0 to 100"}
        />
      </form>
      <Threshold
        current={
          fields.threshold && isThreshold(fields.threshold) ? Number(fields.threshold) : settings.value?.data.threshold
        }
      />
      {key === "" ? (
        <Empty title="No name yet">
          <p>
            Type a name above; <kbd>/</kbd> goes there. Other spellings and scripts are found, too.
          </p>
        </Empty>
      ) : asked.error ? (
        <ErrorNotice error={asked.error} retry={asked.reload} />
      ) : answer ? (
        <Hits {...answer} selected={fields.hit} onSelect={(hit) => keep({ hit })} stale={asked.loading} />
      ) : (
        <Skeleton lines={8} />
      )}
      <NameCommands fields={fields} body={body} />
    </Page>
  );
}

/** bodyOf returns the request that the fields mean; undefined while there is no name. */
function bodyOf(fields: Fields): Schemas["MatchName"] | undefined {
  const { name, type, born, country, gender, threshold } = fields;
  if (name.trim() === "" || !isThreshold(threshold)) return undefined;
  const searchCriteria: Criteria =
    type === "Company" ? { type: "Company", legalEntityName: name } : { type: "Individual", fullName: name };
  if (country.trim() !== "") searchCriteria[type === "Company" ? "registeredCountry" : "nationality"] = country.trim();
  if (type !== "Company" && gender !== "") searchCriteria.gender = gender;
  if (type !== "Company" && /^\d{4}-\d{2}-\d{2}$/.test(born))
    searchCriteria.dateOfBirth = born.split("-").reverse().join("/");
  const names = listsOf(fields);
  return {
    searchCriteria,
    ...(names.length > 0 && { lists: names }),
    ...(threshold !== "" && { threshold: Number(threshold) }),
  };
}

/** listsOf returns the names of the lists, each once. */
function listsOf({ lists }: Fields): string[] {
  const names = lists.split(",").map((list) => list.trim());
  return [...new Set(names.filter(Boolean))];
}

function isThreshold(text: string): boolean {
  return text === "" || (Number(text) >= 0 && Number(text) <= 100);
}

/** useLast keeps the last value while the next one is awaited, so that nothing jumps between two keys. */
function useLast<T>(value: T | undefined, keep: boolean): T | undefined {
  const last = useRef<T | undefined>(undefined);
  if (value !== undefined) last.current = value;
  else if (!keep) last.current = undefined;
  return last.current;
}

const columns: readonly Column<Data>[] = [
  { key: "score", title: "Score", width: "3.25rem", align: "end", cell: (hit) => <Score value={hit.matchScore} /> },
  {
    key: "name",
    title: "Name",
    width: "minmax(8rem, 1fr)",
    cell: (hit) => <span dir="auto">{visible(infoOf(hit, "Matched name") || hit.name)}</span>,
  },
  {
    key: "list",
    title: "List",
    width: "minmax(3rem, 4.5rem)",
    cell: (hit) => <span title={visible(hit.providerSourceName)}>{visible(hit.providerSourceName)}</span>,
  },
];

function keyOf(hit: Data): string {
  return `${hit.providerSourceName}:${hit.externalIds[0]?.value ?? hit.name}`;
}

interface HitsProps {
  hits: readonly Data[];
  messages: readonly { message: string }[];
  asked: Criteria;
  selected: string;
  onSelect: (key: string) => void;
  /** stale is true while the answer to what is typed now is awaited. */
  stale: boolean;
}

function Hits({ hits, messages, asked, selected, onSelect, stale }: HitsProps) {
  const hit = hits.find((one) => keyOf(one) === selected) ?? hits[0];
  return (
    <div class={stale ? "stack is-stale" : "stack"} aria-busy={stale}>
      <Live text={stale ? "" : counted(hits.length, "hit")} />
      {messages.map(({ message }) => (
        <Notice key={message} kind="warn">
          <p>{visible(message)}</p>
        </Notice>
      ))}
      {!hit ? (
        <Empty title="No hit">
          <p>No entry of the lists reaches the threshold with this name. Lower the threshold to see what comes near.</p>
        </Empty>
      ) : (
        <div class="list-and-detail">
          <section aria-label="Hits" class="stack">
            <h2>{counted(hits.length, "hit")}</h2>
            <Table
              label="Hits"
              columns={columns}
              rows={hits}
              rowKey={keyOf}
              selected={keyOf(hit)}
              onSelect={(one) => onSelect(keyOf(one))}
            />
          </section>
          <section class="panel" aria-label="The selected hit">
            <MatchHeading data={hit} />
            <div class="scroll-x">
              <Words explanation={infoOf(hit, "Explanation")} />
            </div>
            <Sides asked={asked} data={hit} />
            <Source data={hit} />
          </section>
        </div>
      )}
    </div>
  );
}

function NameCommands({ fields, body }: { fields: Fields; body: Schemas["MatchName"] | undefined }) {
  const curl = useCurl();
  const name = fields.name || "NAME";
  const isCompany = fields.type === "Company";
  const cli = [
    "sluice screen",
    shellQuote(name),
    "--service",
    isCompany && "--company",
    !isCompany && fields.born && `--birth-date ${shellQuote(fields.born)}`,
    !isCompany && fields.gender && `--gender ${shellQuote(fields.gender)}`,
    fields.country.trim() && `--country ${shellQuote(fields.country.trim())}`,
    ...listsOf(fields).map((list) => `--list ${shellQuote(list)}`),
    fields.threshold && `--threshold ${shellQuote(fields.threshold)}`,
  ]
    .filter(Boolean)
    .join(" ");
  return (
    <Commands
      cli={cli}
      curl={curl("POST", path, { data: body ?? { searchCriteria: { type: "Individual", fullName: "NAME" } } })}
    />
  );
}
