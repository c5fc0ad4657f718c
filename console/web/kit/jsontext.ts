// JSON with what JSON.parse loses: the digits of numbers as they were sent, repeated keys, and where in the text each
// value is.

/** JsonNode is a value of a JSON text, from start to end (exclusive) in UTF-16 units. */
export type JsonNode = { start: number; end: number } & (
  | { kind: "object"; members: JsonMember[] }
  | { kind: "array"; items: JsonNode[] }
  | { kind: "string"; value: string }
  /** text is the number, or true, false or null, as it was sent. */
  | { kind: "number" | "literal"; text: string }
);

/** JsonMember is a member of an object; keyStart is where its key begins. */
export interface JsonMember {
  key: string;
  keyStart: number;
  value: JsonNode;
}

/** JsonProblem says what is wrong with a text, and at which offset. */
export class JsonProblem extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** deepest is how deep values may be nested here. The service takes 64 levels. */
const deepest = 256;

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;
const space = /[ \t\n\r]*/y;

/** parseJson reads a JSON text. It throws a JsonProblem. */
export function parseJson(text: string): JsonNode {
  let at = 0;
  const skip = () => {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
  };
  const fail = (what: string): never => {
    throw new JsonProblem(
      at >= text.length ? `The text ends where ${what} is expected.` : `Here ${what} is expected.`,
      at,
    );
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const readString = (what: string): string => {
    if (text[at] !== '"') fail(what);
    const start = at;
    for (at++; text[at] !== '"'; at++) {
      if (at >= text.length) throw new JsonProblem("The text that begins here has no end.", start);
      if (text.charCodeAt(at) < 0x20)
        throw new JsonProblem("A line break or another control character is written as \\n or \\u0001 in a text.", at);
      if (text[at] === "\\") at++;
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch {
      throw new JsonProblem("The text that begins here has a wrong escape; a backslash is written twice.", start);
    }
  };
  /** readList reads the entries of an object or array, up to its closing bracket. */
  const readList = (close: string, what: string, readEntry: () => void) => {
    at++;
    skip();
    if (text[at] === close) return void at++;
    for (;;) {
      skip();
      readEntry();
      skip();
      if (text[at] === close) return void at++;
      if (text[at] !== ",") fail(`a comma or ${close}`);
      at++;
      skip();
      if (text[at] === close) fail(`${what} (or no comma before)`);
    }
  };
  const readValue = (depth: number): JsonNode => {
    if (depth > deepest) throw new JsonProblem(`Values are nested deeper than ${deepest} levels.`, at);
    const start = at;
    switch (text[at]) {
      case "{": {
        const members: JsonMember[] = [];
        readList("}", "a key", () => {
          const keyStart = at;
          const key = readString("a key in quotation marks");
          skip();
          if (text[at] !== ":") fail("a colon");
          at++;
          skip();
          members.push({ key, keyStart, value: readValue(depth + 1) });
        });
        return { kind: "object", members, start, end: at };
      }
      case "[": {
        const items: JsonNode[] = [];
        readList("]", "a value", () => items.push(readValue(depth + 1)));
        return { kind: "array", items, start, end: at };
      }
      case '"': {
        const value = readString("a text");
        return { kind: "string", value, start, end: at };
      }
    }
    const digits = match(number);
    if (digits !== undefined) return { kind: "number", text: digits, start, end: at };
    const word = match(literal);
    if (word !== undefined) return { kind: "literal", text: word, start, end: at };
    return fail("a value");
  };
  skip();
  const node = readValue(0);
  skip();
  if (at < text.length) throw new JsonProblem("Here the text should end.", at);
  return node;
}

/** memberOf returns the value of a key of an object; undefined if the node is none or has no such key. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === "object" ? node.members.findLast((m) => m.key === key)?.value : undefined;
}

/**
 * textOf returns a value that is not an object or array as text, numbers with their digits; undefined for others and
 * null.
 */
export function textOf(node: JsonNode | undefined): string | undefined {
  if (node?.kind === "string") return node.value;
  if (node?.kind === "number" || (node?.kind === "literal" && node.text !== "null")) return node.text;
  return undefined;
}

/** Leaf is a value that has no parts, with the path to it. */
export interface Leaf {
  path: string;
  text: string;
  /** kind tells a text from a number, or an empty object, array or null. */
  kind: "string" | "number" | "literal" | "empty";
}

/** leavesOf returns the values of a tree that have no parts, in their order; paths are like addresses.0.city. */
export function leavesOf(node: JsonNode, path = ""): Leaf[] {
  const below = (name: string) =>
    (path === "" ? "" : path + ".") + (/[.\s"]|^$/.test(name) ? JSON.stringify(name) : name);
  switch (node.kind) {
    case "object":
      if (node.members.length === 0) return [{ path, text: "{}", kind: "empty" }];
      return node.members.flatMap(({ key, value }) => leavesOf(value, below(key)));
    case "array":
      if (node.items.length === 0) return [{ path, text: "[]", kind: "empty" }];
      return node.items.flatMap((item, i) => leavesOf(item, below(String(i))));
    case "string":
      return [{ path, text: node.value, kind: "string" }];
    default:
      return [{ path, text: node.text, kind: node.kind }];
  }
}

/**
 * findPath returns the place in the tree to which a path with dots leads; keys may have dots themselves. If the path
 * leads to something that is not there, the place is that of what should have it.
 */
export function findPath(node: JsonNode, path: string): { start: number; end: number } {
  let best = { depth: -1, start: node.start, end: node.end };
  const search = (at: JsonNode, start: number, rest: string, depth: number): boolean => {
    if (depth > best.depth) best = { depth, start, end: at.end };
    if (rest === "") return true;
    const parts =
      at.kind === "object"
        ? at.members.map((m) => [m.key, m.value, m.keyStart] as const)
        : at.kind === "array"
          ? at.items.map((item, i) => [String(i), item, item.start] as const)
          : [];
    return parts.some(
      ([name, value, from]) =>
        (rest === name && search(value, from, "", depth + 1)) ||
        (rest.startsWith(name + ".") && search(value, from, rest.slice(name.length + 1), depth + 1)),
    );
  };
  search(node, node.start, path, 0);
  return { start: best.start, end: best.end };
}

/** placeOf returns line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number; excerpt: string } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const lineEnd = text.indexOf("\n", offset);
  return {
    line: before.split("\n").length,
    column: offset - lineStart + 1,
    excerpt: text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd),
  };
}
