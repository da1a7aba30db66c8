import { z } from "@hono/zod-openapi";

/** Most members and elements of a body, at all depths: the largest valid one, a key for fifty products, has about sixty. */
const MAX_MEMBERS = 200;
/** Deepest object or list: a permit within a purchase is at 2. */
const MAX_DEPTH = 8;

const childrenOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];

/** The first bound that a parsed JSON value exceeds, in words. Visits no more of it than the bound. */
export function exceededBound(
  value: unknown,
  { members = MAX_MEMBERS, depth = MAX_DEPTH } = {},
): string | undefined {
  let level = [value];
  let seen = 0;
  for (let n = 0; level.length > 0; n += 1) {
    if (n > depth) return `must be nested ${depth} deep at most`;
    seen += level.length;
    if (seen > members + 1) return `must have ${members} members at most`;
    level = level.flatMap(childrenOf);
  }
  return undefined;
}

/** Without the members that are null, at every depth: generated clients send them for what they leave out. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/** The schema of a body: bounded before anything looks deeper, and with null for absent. */
export const bodyOf = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((sent, context) => {
    const bound = exceededBound(sent);
    if (bound === undefined) return withoutNulls(sent);
    context.addIssue({ code: "custom", message: bound });
    return z.NEVER;
  }, schema);
