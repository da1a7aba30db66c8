/** Who sent a request, for limits that count by client. */
import { type IpAddress, isTrusted, parseAddress, type TrustedProxies } from "../../lib/trust-proxy.ts";

/** Parts of 16 bits that make the /64 of an IPv6 address: providers give each customer at least one of them. */
const NETWORK_PARTS = 4;

/** One name for all addresses that one client can have: an IPv4 address, or the /64 of an IPv6 address. */
function clientName(address: IpAddress): string {
  if (!("parts" in address)) return address.toString();
  const network = address.parts.slice(0, NETWORK_PARTS).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/** An entry of `X-Forwarded-For`; some proxies write the port too. */
const forwardedAddress = (entry: string): IpAddress | undefined =>
  parseAddress(entry) ??
  parseAddress(entry.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1"));

/**
 * The client's name, from the socket's address and `X-Forwarded-For`. Each proxy appends the address that it was called
 * from, so the list is read from its end, for as long as the one who wrote an entry is trusted: what a client itself
 * wrote stands further ahead and is never reached.
 */
export function clientOf(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  proxies: TrustedProxies,
): string {
  let client = remoteAddress === undefined ? undefined : parseAddress(remoteAddress);
  if (!client) return "unknown"; // the connection is gone already, and nobody hears the answer
  const entries = forwardedFor === undefined ? [] : forwardedFor.split(",");
  for (let hop = 0; entries.length > 0 && isTrusted(proxies, client, hop); hop += 1) {
    const next = forwardedAddress(entries.pop()?.trim() ?? "");
    if (!next) break;
    client = next;
  }
  return clientName(client);
}
