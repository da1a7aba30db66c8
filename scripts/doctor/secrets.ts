/** Checks secrets, and the connections that carry them, on chains that are not local. */
import { isIP } from "node:net";
import type { Sql } from "postgres";
import { secretsKeyFault } from "../../lib/off-local.ts";
import { createSealer, UnopenableSecret } from "../../lib/webhooks/secrets.ts";
import { type Finding, findingsOf } from "./finding.ts";
import type { Settings } from "./settings.ts";

const { ok, warning, fault } = findingsOf("secrets");

const RANDOM = "make one with: openssl rand -hex 32";

/** True for a host whose traffic does not leave this machine. */
export function isThisMachine(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "" || bare === "localhost" || bare === "::1") return true;
  return isIP(bare) === 4 && bare.startsWith("127.");
}

const SECRET_NAMES = ["SECRETS_KEY", "ADMIN_TOKEN"] as const;

/** Checks the secrets of processes on a chain that is not local; the api's own have been checked with its other variables. */
export function examineSecrets({ api, writer }: Settings): Finding[] {
  const findings: Finding[] = [];
  const weak = writer && secretsKeyFault(writer.SECRETS_KEY);
  if (weak !== undefined) findings.push(fault(`SECRETS_KEY ${weak}`, RANDOM));
  if (api && api.ADMIN_TOKEN.toLowerCase() === api.SECRETS_KEY.toLowerCase()) {
    const text = `${SECRET_NAMES.join(" and ")} are the same: who knows the token can read the webhooks' secrets`;
    findings.push(fault(text, RANDOM));
  }
  if (api && writer && api.SECRETS_KEY !== writer.SECRETS_KEY) {
    findings.push(fault("api and writer have different values of SECRETS_KEY", "give both the same"));
  }
  if (api?.PUBLIC_URL?.startsWith("http:")) {
    findings.push(
      warning(
        "PUBLIC_URL is not encrypted: API keys travel in clear text",
        "put a proxy that ends TLS in front",
      ),
    );
  }
  return findings.length > 0 ? findings : [ok("the secrets are random, and different")];
}

/** Warns of a node in the network that is reached in clear text: who is between them chooses what the service believes. */
export function examineNodeUrl(variable: string, url: string): Finding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isThisMachine(hostname)) return [];
  return [
    warning(`${variable} is not encrypted: who is in between can change what the node says`, "use https"),
  ];
}

type Sealed = { readonly secret: string; readonly wallet: string };

/** Checks that `SECRETS_KEY` opens what is stored: another key would end all webhooks. */
export async function examineStoredSecret(sql: Sql, secretsKey: string): Promise<Finding[]> {
  const [table] = await sql<{ present: boolean }[]>`
    select to_regclass('service.webhook') is not null as present`;
  if (!table?.present) return [];
  const [newest] = await sql<Sealed[]>`
    select secret, wallet from service.webhook where secret <> '' order by id desc limit 1`;
  if (!newest) return [];
  try {
    createSealer(secretsKey).open(newest.secret, newest.wallet);
    return [ok("SECRETS_KEY opens the stored webhooks' secrets")];
  } catch (error) {
    if (!(error instanceof UnopenableSecret)) throw error;
    return [
      fault(
        "SECRETS_KEY does not open the stored webhooks' secrets: no webhook would be delivered",
        "set the key with which they were stored",
      ),
    ];
  }
}
