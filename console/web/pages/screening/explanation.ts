// The explanation of a hit, which the service writes as one sentence (docs/screening.md), taken apart: what met what,
// and how; what was missing; what the facts did to the score. A sentence of another form stays one remark.

/** MetWords are words of the name that was asked for and words of the list that met. */
export interface MetWords {
  asked: string;
  listed: string;
  /** how says how they met: "exact", "misspelt 89%". */
  how: string;
  /** similarity is a percentage, 100 if the words say the same. */
  similarity: number;
}

/** Remark is something else that the explanation says. */
export interface Remark {
  text: string;
  /** about is the fact that it compares; "" for others. */
  about: "birth" | "country" | "gender" | "identifier" | "";
  /** points is what it takes from the score; 0 for what takes none. */
  points: number;
  /** agrees is true if both sides say the same. */
  agrees: boolean;
}

/** Explanation is what an explanation says. */
export interface Explanation {
  met: MetWords[];
  /** onlyAsked and onlyListed are the words that met nothing. */
  onlyAsked: string[];
  onlyListed: string[];
  remarks: Remark[];
}

const quoted = String.raw`"((?:[^"\\]|\\.)*)"`;
/** pair and missing match the parts of an explanation that quote words, at its beginning. */
const pair = new RegExp(`^${quoted} = ${quoted} \\(([^()]*)\\)(?:, )?`);
const missing = new RegExp(String.raw`^(?:; )?only in the (query|list): ((?:"(?:[^"\\]|\\.)*"(?:, )?)+)`);

/** readExplanation takes an explanation apart. */
export function readExplanation(text: string): Explanation {
  const said: Explanation = { met: [], onlyAsked: [], onlyListed: [], remarks: [] };
  let rest = text;
  for (let found = pair.exec(rest); found; found = pair.exec(rest)) {
    const [all, asked = "", listed = "", how = ""] = found;
    said.met.push({
      asked: unquote(asked),
      listed: unquote(listed),
      how,
      similarity: Number(/(\d+)%$/.exec(how)?.[1] ?? 100),
    });
    rest = rest.slice(all.length);
  }
  for (let found = missing.exec(rest); found; found = missing.exec(rest)) {
    (found[1] === "query" ? said.onlyAsked : said.onlyListed).push(...quotedIn(found[2]!));
    rest = rest.slice(found[0].length);
  }
  for (const part of rest.split("; ").map((one) => one.replace(/^; ?/, ""))) {
    if (part === "" || /^list .*, version [0-9a-f]{12}$/.test(part)) continue; // the list's facts are in the match, too
    said.remarks.push(readRemark(part));
  }
  return said;
}

function readRemark(text: string): Remark {
  const points = Number(/\((\d+) points less\)$/.exec(text)?.[1] ?? 0);
  const about = /^the entry was born |date of birth/.test(text)
    ? "birth"
    : /^the entry's countries are |^a country in common$/.test(text)
      ? "country"
      : /^the entry is (male|female), /.test(text)
        ? "gender"
        : text.startsWith("same identifier ")
          ? "identifier"
          : "";
  return { text, about, points, agrees: /^(same|a country in common|with the date of birth)/.test(text) };
}

/** quotedIn returns the quoted words of a text. */
function quotedIn(text: string): string[] {
  return Array.from(text.matchAll(new RegExp(quoted, "g")), (found) => unquote(found[1]!));
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", f: "\f", v: "\v" };

/** unquote reads a word as Go quotes it. */
function unquote(text: string): string {
  return text.replace(/\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)/g, (_, code: string) => {
    if (code.length === 1) return escapes[code] ?? code;
    const point = parseInt(code.slice(1), 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  });
}
