/** Exactly one valid `Host` in each request: links in answers name it, and proxies route by it. */
import type { IncomingMessage } from "node:http";

/** A host name, an IPv4 address or an IPv6 address in brackets, with an optional port. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** True for a host as a URL writes it: `127.1` is another spelling of an address. */
function isValid(host: string): boolean {
  const name = HOST.exec(host)?.[1];
  const url = `http://${host}`;
  return name !== undefined && URL.canParse(url) && new URL(url).hostname === name.toLowerCase();
}

/** How often the request has the header; `headers` keeps only the first. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/**
 * Makes the check of a request's `Host`. HTTP/1.0 has no such header, and load balancers check the health of a server by
 * HTTP/1.0: it may be missing there.
 */
export function createHostCheck(): (incoming: IncomingMessage) => boolean {
  let lastValid: string | undefined; // nearly all requests name the same one

  return ({ headers: { host }, rawHeaders, httpVersion }) => {
    if (host === undefined) return httpVersion === "1.0";
    if (host !== lastValid) {
      if (!isValid(host)) return false;
      lastValid = host;
    }
    return countHosts(rawHeaders) === 1;
  };
}
