/** W3C Trace Context: the header `traceparent`, with which a client finds its request in our logs. */

/** Version, trace id, parent id, flags. Version ff and ids of zeros are invalid; a later version may have more after the flags. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[\x20-\x7e]{1,200})?$/;

/** The valid value of a `traceparent` header; undefined without one, and for a malformed one, which the standard says to ignore. */
export function traceparentOf(header: string | undefined): string | undefined {
  const [, version, more] = TRACEPARENT.exec(header ?? "") ?? [];
  const isValid = version !== undefined && (version !== "00" || more === undefined);
  return isValid ? header : undefined;
}
