import { parseAccept } from "hono/utils/accept";

/** How well a header `Accept` names a type: its weight, and then how exactly; null where it does not. */
function preferenceFor(ranges: ReturnType<typeof parseAccept>, main: string, sub: string) {
  for (const [exactness, name] of [`${main}/${sub}`, `${main}/*`, "*/*"].entries()) {
    const place = ranges.findIndex(({ type }) => type.toLowerCase() === name);
    const range = ranges[place];
    if (range) return { weight: range.q, exactness, place };
  }
  return null;
}

/**
 * Whether a client wants a table in place of JSON, by the weights of its `Accept` (RFC 9110, 12.5.1). With equal weights the type
 * that is named more exactly comes first, and then the one that is named earlier.
 */
export function prefersCsv(accept: string | undefined): boolean {
  // Nearly all headers name no text.
  if (accept === undefined || !/text\//i.test(accept)) return false;
  const ranges = parseAccept(accept);
  const csv = preferenceFor(ranges, "text", "csv");
  const json = preferenceFor(ranges, "application", "json");
  if (!csv || csv.weight === 0) return false;
  if (!json) return true;
  if (csv.weight !== json.weight) return csv.weight > json.weight;
  if (csv.exactness !== json.exactness) return csv.exactness < json.exactness;
  return csv.place < json.place;
}
