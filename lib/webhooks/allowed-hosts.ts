/** A host that webhooks may reach although the target guard would refuse it; `port` null allows every port. */
export type AllowedHost = { readonly host: string; readonly port: number | null };

/** The default on a local chain: this machine. */
export const LOOPBACK_HOSTS: readonly AllowedHost[] = ["localhost", "127.0.0.1", "[::1]"].map((host) => ({
  host,
  port: null,
}));

/**
 * Parses a list such as `hooks.internal,10.0.0.7:9000,[fd00::1]:9000`, with hosts in URL syntax. Undefined when an entry is
 * invalid, such as one with a wildcard, which would match nothing.
 */
export function parseAllowedHosts(text: string): readonly AllowedHost[] | undefined {
  const hosts = text.split(",").map((entry) => parseHost(entry.trim()));
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

function parseHost(entry: string): AllowedHost | undefined {
  const [, name, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@?#*[\]\\]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (name === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return undefined;
  // The URL parser normalises the host, so that it equals the host of a parsed webhook URL.
  const url = `http://${name}`;
  if (!URL.canParse(url)) return undefined;
  return { host: new URL(url).hostname, port: port === undefined ? null : Number(port) };
}
