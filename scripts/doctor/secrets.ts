/** Checks secrets, and the connections that carry them, on chains that are not local. */
import { isIP } from "node:net";
import type { Sql } from "postgres";
import type { WriterConfig } from "../../lib/config.ts";
import { secretsKeyFault } from "../../lib/off-local.ts";
import { createSealer, type Sealer, UnopenableSecret } from "../../lib/webhooks/secrets.ts";
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

type Sealed = { readonly wallet: string; readonly secret: string; readonly previous: string | null };

/** How many webhooks a writer could deliver for, and for how many of them only the previous key opens the secrets. */
async function countOpenable(sql: Sql, sealer: Sealer) {
  const count = { all: 0, unopenable: 0, previous: 0 };
  const rows = sql<Sealed[]>`
    select wallet, secret, case when previous_secret_until > now() then previous_secret end as previous
    from service.webhook where secret <> ''`.cursor(1000);
  for await (const page of rows) {
    for (const { wallet, secret, previous } of page) {
      count.all += 1;
      try {
        const sealed = previous === null ? [secret] : [secret, previous];
        if (sealed.some((one) => sealer.reseal(one, wallet) !== undefined)) count.previous += 1;
      } catch (error) {
        if (!(error instanceof UnopenableSecret)) throw error;
        count.unopenable += 1;
      }
    }
  }
  return count;
}

/** Checks that the writer's keys open what is stored: other keys would end webhooks. */
export async function examineStoredSecrets(
  sql: Sql,
  { SECRETS_KEY, SECRETS_KEY_PREVIOUS }: Pick<WriterConfig, "SECRETS_KEY" | "SECRETS_KEY_PREVIOUS">,
): Promise<Finding[]> {
  const [table] = await sql<{ present: boolean }[]>`
    select to_regclass('service.webhook') is not null as present`;
  if (!table?.present) return [];
  const { all, unopenable, previous } = await countOpenable(
    sql,
    createSealer(SECRETS_KEY, SECRETS_KEY_PREVIOUS),
  );
  if (unopenable > 0) {
    return [
      fault(
        `SECRETS_KEY does not open the stored secrets of ${unopenable} of ${all} webhooks: nothing would be delivered to them`,
        "set the key with which they were stored, as SECRETS_KEY_PREVIOUS if SECRETS_KEY is new",
      ),
    ];
  }
  if (previous > 0) {
    return [
      warning(
        `only SECRETS_KEY_PREVIOUS opens the stored secrets of ${previous} of ${all} webhooks`,
        "let a writer run with both keys for a minute: it seals them with SECRETS_KEY",
      ),
    ];
  }
  return all > 0 ? [ok("SECRETS_KEY opens the stored webhooks' secrets")] : [];
}
