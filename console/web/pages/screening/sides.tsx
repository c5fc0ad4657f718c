// Who was asked for and who is on the list, beside each other.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../../kit/api.ts";
import { formatCount, Time } from "../../kit/format.tsx";
import { safeHref, visible } from "../../kit/safe.ts";
import { Badge } from "../../kit/status.tsx";
import { readExplanation, type Remark } from "./explanation.ts";

type Criteria = Schemas["SearchCriteria"];
type Data = Schemas["MatchData"];

interface SidesProps {
  asked: Criteria;
  /** aliases are the other names of the entity by their IDs. */
  aliases?: readonly Schemas["EntityAlias"][];
  data: Data;
}

/** infoOf returns what a provider says under a label, "" if it says nothing. */
export function infoOf(data: Data, label: string): string {
  return data.additionalInfo.find((info) => info.label === label)?.value ?? "";
}

/** nameOf returns the name that criteria, or an alias, ask for. */
export function nameOf(c: Partial<Criteria> | Schemas["EntityAlias"]): string {
  return c.fullName || c.legalEntityName || [c.firstName, c.middleName, c.lastName].filter(Boolean).join(" ");
}

/** Sides shows the facts of both, those that only one of them has, too. */
export function Sides({ asked, aliases = [], data }: SidesProps) {
  const { remarks } = readExplanation(infoOf(data, "Explanation"));
  const matched = infoOf(data, "Matched name") || data.name;
  const rows: readonly [title: string, asked: readonly Text[], listed: readonly Text[], about?: Remark["about"]][] = [
    ["Name", [nameOf(asked)], [matched]],
    ["Other names", aliases.map(nameOf), [data.name, ...data.aliasesList].filter((name) => name !== matched)],
    ["Kind", [asked.type, asked.subtype], [data.entityType]],
    ["Date of birth", [asked.dateOfBirth], data.dateOfBirthList, "birth"],
    ["Countries", countriesAsked(asked), countriesListed(data), "country"],
    ["Place of birth", [asked.placeOfBirth ?? asked.placeOfBirthISO2 ?? asked.placeOfBirthISO3], data.placeOfBirthList],
    ["Gender", [asked.gender], [data.gender], "gender"],
    [
      "Identifiers",
      identifiersAsked(asked),
      data.idsList.map((id) => [id.label ?? id.type, id.value, id.country].filter(Boolean).join(" ")),
      "identifier",
    ],
    ["Addresses", (asked.addresses ?? []).map((a) => a && placeOf(a)), data.addresses.map(placeOf)],
    ["Contacts", [asked.phoneNumber, asked.emailAddress], []],
    ["More", [asked.otherInformation], [infoOf(data, "Programs"), data.categories.join(", ")]],
  ];
  return (
    <table class="sides">
      <caption class="visually-hidden">What was asked for beside what is on the list</caption>
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <th scope="col">Asked for</th>
          <th scope="col">On the list</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([title, left, right, about]) => {
          const askedTexts = texts(left);
          const listedTexts = texts(right);
          if (askedTexts.length + listedTexts.length === 0) return null;
          return (
            <tr key={title}>
              <th scope="row">
                {title}
                {about && <Verdict remarks={remarks.filter((remark) => remark.about === about)} />}
              </th>
              <td>
                <Several texts={askedTexts} />
              </td>
              <td>
                <Several texts={listedTexts} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

type Text = string | null | undefined;

function texts(all: readonly Text[]): string[] {
  return [...new Set(all.filter((text): text is string => Boolean(text)))];
}

function Verdict({ remarks }: { remarks: readonly Remark[] }) {
  const points = remarks.reduce((sum, remark) => sum + remark.points, 0);
  if (points > 0)
    return (
      <>
        {" "}
        <Badge kind="bad">{`differs, −${points}`}</Badge>
      </>
    );
  return remarks.some((remark) => remark.agrees) ? (
    <>
      {" "}
      <Badge kind="ok">agrees</Badge>
    </>
  ) : null;
}

/** shownAtOnce is how many of several texts are shown before the rest is asked for. */
const shownAtOnce = 6;

function Several({ texts }: { texts: readonly string[] }) {
  const [all, setAll] = useState(false);
  if (texts.length === 0) return <span class="aside">not given</span>;
  const more = texts.length - shownAtOnce;
  return (
    <>
      {texts.slice(0, all ? undefined : shownAtOnce).map((text) => (
        <div key={text} dir="auto">
          {visible(text)}
        </div>
      ))}
      {more > 0 && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fewer" : `${formatCount(more)} more`}
        </button>
      )}
    </>
  );
}

function countriesAsked(c: Criteria): Text[] {
  return [
    c.nationality,
    c.citizenship,
    c.citizenshipISO2,
    c.citizenshipISO3,
    c.countryOfResidence,
    c.registeredCountry,
    c.registeredCountryISO2,
    c.registeredCountryISO3,
  ];
}

function countriesListed(d: Data): Text[] {
  const several = infoOf(d, "Countries").split(", ");
  return [
    ...several,
    ...(several.includes(d.country ?? "") ? [] : [d.country]),
    ...d.nationalityList,
    ...d.citizenshipList,
    d.countryOfResidence,
    d.registeredCountry,
  ];
}

function identifiersAsked(c: Criteria): Text[] {
  const named: readonly [string, Text][] = [
    ["ID", c.idNumber],
    ["Passport", c.passportNumber],
    ["Social security", c.socialSecurityNumber],
    ["Driver's license", c.driversLicense],
    ["Employer", c.employerIdentificationNumber],
    ["Unique ID", c.uniqueId],
  ];
  return named.map(([name, value]) => value && `${name} ${value}`);
}

function placeOf(a: Partial<Record<string, unknown>>): string {
  return [a.addressLine1, a.addressLine2, a.postalCode, a.city, a.stateProvince, a.countryISO2 ?? a.country]
    .filter(Boolean)
    .join(", ");
}

/** Source says in which version of which list an entry was found, and where the source describes it. */
export function Source({ data }: { data: Data }) {
  const known = ["Explanation", "Matched name", "Countries", "Programs"];
  const facts: (readonly [string, ComponentChildren])[] = [
    ["Provider", visible(data.providerId)],
    ["List", visible(data.providerSourceName)],
    ...data.externalIds.map(({ name, value }) => [`Entry's ${name}`, visible(value)] as const),
    ...data.additionalInfo
      .filter(({ label }) => !known.includes(label) && label !== "List")
      .map(({ label, value }) => [visible(label), readable(label, value)] as const),
  ];
  const addresses = new Map(
    [...data.providerSourceUrls.map(({ url }) => url), data.providerSourceUrl ?? ""]
      .filter(Boolean)
      .map((url) => [url, safeHref(url)]),
  );
  return (
    <dl class="facts">
      {facts.map(([title, value], i) => (
        <div key={i}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {data.associations.length > 0 && (
        <div>
          <dt>Associated with</dt>
          <dd>
            {data.associations.map((a, i) => (
              <div key={i} dir="auto">
                {visible([a.fullName, a.relationship && `(${a.relationship})`].filter(Boolean).join(" "))}
              </div>
            ))}
          </dd>
        </div>
      )}
      {addresses.size > 0 && (
        <div>
          <dt>Source</dt>
          {[...addresses].map(([url, href]) => (
            <dd key={url}>
              {href ? (
                <a href={href} target="_blank" rel="noreferrer noopener">
                  {visible(url)}
                </a>
              ) : (
                visible(url)
              )}
            </dd>
          ))}
        </div>
      )}
      {data.richTextAdditionalDetails && (
        <div>
          <dt>Details</dt>
          <dd>{visible(data.richTextAdditionalDetails)}</dd>
        </div>
      )}
    </dl>
  );
}

/**
 * readable shows times in the viewer's zone, and the digest that identifies a version of a list by its first digits.
 */
function readable(label: string, value: string): ComponentChildren {
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(value)) return <Time at={value} />;
  return label === "List version" && /^[0-9a-f]{64}$/.test(value) ? (
    <code title={value}>{value.slice(0, 12)}</code>
  ) : (
    visible(value)
  );
}
