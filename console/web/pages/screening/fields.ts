// What the workbench of a screening batch shows, which stands in the address of the page.

import { useCallback } from "preact/hooks";
import { type Query, useKept, useQuery } from "../../kit/router.tsx";

/** defaults are the fields of an address that names none. */
export const defaults = { entity: "", match: "", view: "matches", status: "", list: "", min: "", scope: "entity" };
/** kept is what is searched for: names, which do not stand in the address. */
const kept = { find: "" };

/** Fields say what of the workbench is shown. */
export type Fields = Query<keyof typeof defaults | keyof typeof kept>;
/** Change changes some of the fields. */
export type Change = (some: Partial<Fields>, options?: { push?: boolean }) => void;

/** useFields returns the fields and what changes them. */
export function useFields(): [Fields, Change] {
  const [query, changeQuery] = useQuery(defaults);
  const [search, changeSearch] = useKept(kept);
  const change = useCallback<Change>(({ find, ...others }, options) => {
    if (find !== undefined) changeSearch({ find });
    changeQuery(others, options);
  }, []);
  return [{ ...query, ...search }, change];
}
