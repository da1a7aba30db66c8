/** Hosts to which webhooks may lead although the guard would refuse them; `port` null stands for any. */
export type AllowedHost = { readonly host: string; readonly port: number | null };

/** What a local chain allows when nothing else is said: this machine. */
export const LOOPBACK_HOSTS: readonly AllowedHost[] = ["localhost", "127.0.0.1", "[::1]"].map((host) => ({
  host,
  port: null,
}));

/**
 * Reads a list such as `hooks.internal,10.0.0.7:9000,[fd00::1]:9000`; names and addresses as a URL writes them.
 * Undefined when an entry is none, as is one with a wildcard: it would match nothing.
 */
export function parseAllowedHosts(text: string): readonly AllowedHost[] | undefined {
  const hosts = text.split(",").map((entry) => parseHost(entry.trim()));
  return hosts.every((host) => host !== undefined) ? hosts : undefined;
}

function parseHost(entry: string): AllowedHost | undefined {
  const [, name, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@?#*[\]\\]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (name === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return undefined;
  // The URL's own parser brings a name to the one form in which the guard meets it.
  const url = `http://${name}`;
  if (!URL.canParse(url)) return undefined;
  return { host: new URL(url).hostname, port: port === undefined ? null : Number(port) };
}
