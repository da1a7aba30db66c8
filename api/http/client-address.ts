/** The client address of a request, for the limits that count by client. */
import { type IpAddress, isTrusted, parseAddress, type TrustedProxies } from "../../lib/trust-proxy.ts";

/** An IPv6 client counts as its /64, four parts of 16 bits: providers give each customer at least a /64. */
const NETWORK_PARTS = 4;

/** One name per client: its IPv4 address, or the /64 of its IPv6 address. */
function clientName(address: IpAddress): string {
  if (!("parts" in address)) return address.toString();
  const network = address.parts.slice(0, NETWORK_PARTS).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/** Parses an entry of `X-Forwarded-For`; some proxies add the port. */
const forwardedAddress = (entry: string): IpAddress | undefined =>
  parseAddress(entry) ??
  parseAddress(entry.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1"));

/**
 * The client's name, from the socket's address and `X-Forwarded-For`. Each proxy appends its caller's address, so the
 * list is read from its end for as long as the writer of an entry is a trusted proxy: entries that the client wrote
 * itself are never reached.
 */
export function clientOf(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  proxies: TrustedProxies,
): string {
  let client = remoteAddress === undefined ? undefined : parseAddress(remoteAddress);
  if (!client) return "unknown"; // the connection is already closed
  const entries = forwardedFor === undefined ? [] : forwardedFor.split(",");
  for (let hop = 0; entries.length > 0 && isTrusted(proxies, client, hop); hop += 1) {
    const next = forwardedAddress(entries.pop()?.trim() ?? "");
    if (!next) break;
    client = next;
  }
  return clientName(client);
}
