// How a name met an entry of a list, word by word.

import { Badge, type Kind } from "../../kit/status.tsx";
import { visible } from "../../kit/safe.ts";
import { readExplanation, type Remark } from "./explanation.ts";

/** Words shows an explanation as a table of words, with what was missing and what else counted. */
export function Words({ explanation }: { explanation: string }) {
  const { met, onlyAsked, onlyListed, remarks } = readExplanation(explanation);
  const hasWords = met.length + onlyAsked.length + onlyListed.length > 0;
  return (
    <div class="stack words">
      {hasWords && (
        <table class="words-table">
          <caption class="visually-hidden">Words of the name beside those of the list</caption>
          <thead>
            <tr>
              <th scope="col">Asked for</th>
              <th scope="col">How they met</th>
              <th scope="col">On the list</th>
            </tr>
          </thead>
          <tbody>
            {met.map((words, i) => (
              <tr key={i}>
                <td dir="auto">{visible(words.asked)}</td>
                <td>
                  <Badge kind={kindOf(words.similarity)}>{words.how}</Badge>
                </td>
                <td dir="auto">{visible(words.listed)}</td>
              </tr>
            ))}
            {onlyAsked.map((word, i) => (
              <tr key={`asked-${i}`}>
                <td dir="auto">{visible(word)}</td>
                <td>
                  <Badge kind="warn">missing on the list</Badge>
                </td>
                <td>
                  <Nothing />
                </td>
              </tr>
            ))}
            {onlyListed.map((word, i) => (
              <tr key={`listed-${i}`}>
                <td>
                  <Nothing />
                </td>
                <td>
                  <Badge kind="warn">not asked for</Badge>
                </td>
                <td dir="auto">{visible(word)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {remarks.length > 0 && (
        <ul class="plain remarks" aria-label="What else counted">
          {remarks.map((remark, i) => (
            <li key={i}>
              <RemarkText remark={remark} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function kindOf(similarity: number): Kind {
  return similarity >= 100 ? "ok" : similarity >= 90 ? "info" : "warn";
}

function Nothing() {
  return (
    <>
      <span aria-hidden="true">–</span>
      <span class="visually-hidden">nothing</span>
    </>
  );
}

function RemarkText({ remark: { text, points, agrees } }: { remark: Remark }) {
  const shown = visible(text);
  if (points > 0)
    return (
      <>
        <Badge kind="bad">{`−${points}`}</Badge> {shown}
      </>
    );
  return agrees ? (
    <>
      <Badge kind="ok">agrees</Badge> {shown}
    </>
  ) : (
    <>{shown.charAt(0).toUpperCase() + shown.slice(1)}</>
  );
}
