/** W3C Trace Context: the header `traceparent`, which ties a client's request to our log lines about it and to the webhooks that it causes. */

/** Version, trace id, parent id, flags. Version ff and ids of zeros are invalid; a later version may have more after the flags. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x20-\x7e]{1,200})?$/;
/** Sampled, and random trace id: the flags that are defined. */
const FLAGS = 0b11;

/**
 * A `traceparent` header as it is logged and passed on: in version 00, because a later version is passed on as the newest
 * version that we know, and with the client's parent id, because the service records no spans of its own. Undefined without a header, and for a
 * malformed one, which the standard says to ignore.
 */
export function traceparentOf(header: string | undefined): string | undefined {
  const [, version, trace, parent, flags, more] = TRACEPARENT.exec(header ?? "") ?? [];
  if (version === undefined || flags === undefined || (version === "00" && more !== undefined))
    return undefined;
  return `00-${trace}-${parent}-0${Number.parseInt(flags, 16) & FLAGS}`;
}
