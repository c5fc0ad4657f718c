// The properties of entities as fields with paths, to show and to compare.

import type { Schemas } from "../../kit/api.ts";
import type { Field } from "../../kit/compare.tsx";

type Property = Schemas["Property"];

/**
 * fieldsOf returns the values of properties, those of groups and collections with paths like addresses.1.city, by their
 * keys.
 */
export function fieldsOf(properties: Schemas["Properties"], path = ""): Field[] {
  return Object.keys(properties)
    .sort()
    .flatMap((key) => fieldsOfOne(properties[key]!, path + quoted(key)));
}

function fieldsOfOne(property: Property, path: string): Field[] {
  switch (property.type) {
    case "Single":
      return [
        { path, text: property.value ?? "" },
        ...(property.valueId ? [{ path: `${path}.valueId`, text: property.valueId }] : []),
      ];
    case "Collection":
      return [
        { path: `${path}.dataGroupId`, text: property.dataGroupId },
        ...(property.dataGroupVersionNumber == null
          ? []
          : [{ path: `${path}.dataGroupVersionNumber`, text: String(property.dataGroupVersionNumber) }]),
        ...Object.entries(property.collections ?? {}).flatMap(([id, item]) =>
          fieldsOfItem(item, `${path}.${quoted(id)}`),
        ),
      ];
    case "Custom":
      return [
        { path: `${path}.customTypeId`, text: property.customTypeId },
        ...fieldsOf((property.properties ?? {}) as Schemas["Properties"], path + "."),
      ];
    default:
      return [{ path, text: JSON.stringify(property) }];
  }
}

function fieldsOfItem(item: Schemas["CollectionItem"], path: string): Field[] {
  if (!item) return [{ path, text: "" }];
  const texts = Object.entries(item.properties ?? {}).map(([key, text]) => ({
    path: `${path}.${quoted(key)}`,
    text: text ?? "",
  }));
  const infos = Object.entries(item.propertiesInfo ?? {}).flatMap(([key, info]) =>
    Object.entries(info ?? {})
      .filter(([, value]) => value != null)
      .map(([name, value]) => ({ path: `${path}.${quoted(key)}.${name}`, text: String(value) })),
  );
  const isValid = item.isValid == null ? [] : [{ path: `${path}.isValid`, text: String(item.isValid) }];
  const all = [...texts, ...infos, ...isValid];
  return all.length === 0 ? [{ path, text: "" }] : all;
}

/** quoted writes a key that has dots or spaces so that a path stays readable. */
function quoted(key: string): string {
  return /[.\s"]|^$/.test(key) ? JSON.stringify(key) : key;
}
