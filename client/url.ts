/** Addresses of operations. */

type Value = string | number | boolean | bigint;
/** Values of the path's placeholders, and of the query. */
export type Parameters = {
  readonly path?: Readonly<Record<string, Value>>;
  readonly query?: Readonly<Record<string, Value | undefined>>;
};

/**
 * Path and query of a call. Parameters of a query are sorted, so that one question has one address.
 * @example urlOf("/api/v1/stats/series", { query: { metric: "premiums" } })
 */
export function urlOf(template: string, { path = {}, query = {} }: Parameters = {}): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const search = new URLSearchParams();
  for (const name of Object.keys(query).sort()) {
    const value = query[name];
    if (value !== undefined) search.append(name, String(value));
  }
  const text = search.toString();
  return text === "" ? filled : `${filled}?${text}`;
}
