/** Objects in requests: bodies, nested objects, queries. A name that they do not have is refused: it may be a misspelt limit. */
import { z } from "@hono/zod-openapi";

/** The fewest single-character edits that turn one text into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, char] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const [above = 0, left = 0, corner = 0] = [row[j], next[j - 1], row[j - 1]];
      next.push(Math.min(above + 1, left + 1, corner + (char === to[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Most unknown names that a refusal tells: a query has room for thousands. */
const MAX_TOLD = 10;
/** Longest text of a name that is compared and repeated. */
const MAX_NAME = 64;
const shown = (name: string) => name.slice(0, MAX_NAME).replace(/\s/g, " ");
/** `maxPremium`, `max_premium` and `Max-Premium` are one name misspelt. */
const bare = (name: string) => shown(name).toLowerCase().replace(/[_-]/g, "");

/** Says that a name is unknown, and which of `known` is nearest to it. */
export function unknownName(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(bare(name), bare(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest === undefined
    ? "is unknown: nothing is taken here"
    : `is unknown: the nearest known name is ${nearest.candidate}`;
}

const told = (names: readonly string[]) => names.slice(0, MAX_TOLD);

/** An object that has no other members than those of its shape. A refusal has a line for each of the first ten others. */
export const requestObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? told(issue.keys)
            .map((key) => `${shown(key)} ${unknownName(key, Object.keys(shape))}`)
            .join("\n")
        : undefined,
  });

/** A fault of a request's field. */
type Fault = { readonly path: readonly PropertyKey[]; readonly message: string };

/** The faults of a request, one for each bad field, and for ten unknown names of an object at most. */
export const faultsOf = (error: z.core.$ZodError): Fault[] =>
  error.issues.flatMap((issue): Fault[] => {
    if (issue.code !== "unrecognized_keys") return [issue];
    const lines = issue.message.split("\n");
    return told(issue.keys).map((key, index) => ({
      path: [...issue.path, shown(key)],
      message: lines[index]?.slice(shown(key).length + 1) ?? "is unknown",
    }));
  });
