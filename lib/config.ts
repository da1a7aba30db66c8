import { parseEther } from "viem";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import {
  allowedHosts,
  databaseUrl,
  ether,
  gwei,
  integer,
  port,
  rateLimit,
  schemaName,
  secretsKey,
  trustedProxies,
  url,
} from "./config-values.ts";
import { invalidKeys, keyVariables } from "./key-variables.ts";
import { DEV_ADMIN_TOKEN, DEV_SECRETS_KEY, unsafeOffLocal } from "./off-local.ts";
import { sharedKeys } from "./shared-keys.ts";
import { type Fault, incompleteTestnet, invalidWriterTestnet, type Variables } from "./testnet-variables.ts";
import { NO_PROXY } from "./trust-proxy.ts";

/**
 * The environment of each process, checked once at its start. A process parses only the variables that it needs, and
 * reports all faults together. An empty variable counts as unset: it is never read as zero.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

const metricsPort = port.default(9464);
const apiMetricsPort = port.default(9465);
const metricsHost = z.string().default("127.0.0.1");

/** The key that encrypts webhook secrets at rest, and the hosts that webhooks may call beside public addresses. */
const webhooks = {
  SECRETS_KEY: secretsKey.default(DEV_SECRETS_KEY),
  WEBHOOK_ALLOW_HOSTS: allowedHosts.optional(),
};

const adminToken = z.string().min(8, "must have 8 characters at least").default(DEV_ADMIN_TOKEN);

const shared = {
  DATABASE_URL: databaseUrl,
  VIEWS_SCHEMA: schemaName.default("indexer"),
  RPC_URL: url("http:", "https:"),
  DEPLOYMENT_FILE: z.string(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
};
/** `prepared`: the operator's wallets are not on the router's allowlist, and buyers send their purchases themselves. */
const purchases = { PURCHASES: z.enum(["relayed", "prepared"]).default("relayed") };
const queue = { REDIS_URL: url("redis:", "rediss:").optional() };

/** The testnet of sandbox and faucet: both or neither. */
const testnet = {
  TESTNET_RPC_URL: url("http:", "https:").optional(),
  TESTNET_DEPLOYMENT_FILE: z.string().optional(),
};

const apiSchema = z.object({
  ...shared,
  ...queue,
  ...webhooks,
  ...testnet,
  ...purchases,
  DATABASE_READ_URL: databaseUrl.optional(),
  PORT: port.default(8080),
  HOST: z.string().default("0.0.0.0"),
  ADMIN_TOKEN: adminToken,
  PURCHASE_WAIT_MS: integer(1, 300_000).default(30_000),
  TRUST_PROXY: trustedProxies.default(NO_PROXY),
  PUBLIC_RATE_LIMIT: rateLimit.default(120),
  LIVE_SCAN_RATE_LIMIT: rateLimit.default(10),
  FAILED_CREDENTIALS_LIMIT: rateLimit.default(20),
  FREE_KEY_RATE_LIMIT: rateLimit.default(10),
  PAID_KEY_RATE_LIMIT: rateLimit.default(100),
  ONBOARD_RATE_LIMIT: rateLimit.default(10),
  SANDBOX_RATE_LIMIT: rateLimit.default(10),
  FAUCET_CLIENT_LIMIT: rateLimit.default(1),
  PUBLIC_URL: url("http:", "https:").optional(),
  API_METRICS_PORT: apiMetricsPort,
  METRICS_HOST: metricsHost,
});

const writerSchema = z.object({
  ...shared,
  ...queue,
  ...webhooks,
  ...testnet,
  ...purchases,
  SECRETS_KEY_PREVIOUS: secretsKey.optional(),
  ...keyVariables,
  CONFIRMATIONS: integer(1, 1000).default(10),
  MAX_FEE_GWEI: gwei.default(50_000_000_000n),
  MAX_PRIORITY_FEE_GWEI: gwei.default(2_000_000_000n),
  PURCHASE_CONCURRENCY: integer(1, 1000).default(200),
  PURCHASE_TTL: integer(1, 86_400).default(600),
  GAS_BUDGET_ETH: ether.default(parseEther("5")),
  GAS_BUDGET_PER_WALLET_ETH: ether.default(parseEther("0.5")),
  KEEPER_GAS_BUDGET_ETH: ether.default(parseEther("1")),
  ARCHIVE_AFTER_DAYS: integer(1, 3650).default(30),
  WEBHOOK_CONFIRMATIONS: integer(1, 1000).default(1),
  WEBHOOK_CONCURRENCY: integer(1, 10_000).default(400),
  METRICS_PORT: metricsPort,
  METRICS_HOST: metricsHost,
});

const indexerSchema = z.object({
  ...shared,
  RPC_WS_URL: url("ws:", "wss:").optional(),
  PONDER_PORT: port.default(42069),
  PONDER_HOST: z.string().default("127.0.0.1"),
  POLLING_INTERVAL_MS: integer(100, 60_000).default(1000),
  START_BLOCK: integer(0, Number.MAX_SAFE_INTEGER).optional(),
  INDEX_MAX_AGE: integer(0, 86_400).default(300),
});

/** Variables that the dev stack passes on unchanged. It checks them before it starts anything. */
const passedOn = {
  ...apiSchema
    .pick({
      PURCHASE_WAIT_MS: true,
      FAILED_CREDENTIALS_LIMIT: true,
      PUBLIC_URL: true,
    })
    .partial().shape,
  ...writerSchema
    .pick({
      CONFIRMATIONS: true,
      MAX_FEE_GWEI: true,
      MAX_PRIORITY_FEE_GWEI: true,
      PURCHASE_CONCURRENCY: true,
      PURCHASE_TTL: true,
      GAS_BUDGET_ETH: true,
      GAS_BUDGET_PER_WALLET_ETH: true,
      KEEPER_GAS_BUDGET_ETH: true,
      SECRETS_KEY: true,
      WEBHOOK_ALLOW_HOSTS: true,
      WEBHOOK_CONFIRMATIONS: true,
      WEBHOOK_CONCURRENCY: true,
    })
    .partial().shape,
};

/** The dev stack's limits. Its only client is a developer, who repeats every call more often than a stranger may. */
const devLimits = {
  PUBLIC_RATE_LIMIT: rateLimit.default(100_000),
  LIVE_SCAN_RATE_LIMIT: rateLimit.default(1000),
  FREE_KEY_RATE_LIMIT: rateLimit.default(100_000),
  PAID_KEY_RATE_LIMIT: rateLimit.default(100_000),
  ONBOARD_RATE_LIMIT: rateLimit.default(100_000),
  SANDBOX_RATE_LIMIT: rateLimit.default(100_000),
  FAUCET_CLIENT_LIMIT: rateLimit.default(1_000_000),
};

const devSchema = z.object({
  ...passedOn,
  ...devLimits,
  DATABASE_URL: databaseUrl.optional(),
  ...queue,
  PORT: port.default(8080),
  HOST: z.string().default("127.0.0.1"),
  ANVIL_PORT: port.default(8545),
  TESTNET_ANVIL_PORT: port.default(8546),
  POSTGRES_PORT: port.default(54329),
  PONDER_PORT: port.default(42069),
  METRICS_PORT: metricsPort,
  API_METRICS_PORT: apiMetricsPort,
  DATA_DIR: z.string().default(".data"),
  ADMIN_TOKEN: adminToken,
  LOG_LEVEL: shared.LOG_LEVEL,
});

/** The variables of `npm run ledger`: a fault in any other one must not keep the operator from stopping purchases. */
const ledgerSchema = devSchema.pick({ DATABASE_URL: true, POSTGRES_PORT: true });

/** What `npm run ledger -- reconcile` needs besides: the chains of the ledger, and when a block is deep enough. */
const reconcileSchema = writerSchema.pick({
  RPC_URL: true,
  DEPLOYMENT_FILE: true,
  TESTNET_RPC_URL: true,
  TESTNET_DEPLOYMENT_FILE: true,
  CONFIRMATIONS: true,
});

/** What `npm run restore` needs: the database, and the chains that the restored ledger is compared with. */
const restoreSchema = ledgerSchema.extend(reconcileSchema.shape);

/** The chain of `npm run keeper`: that of these two variables, or else the dev stack's. */
const keeperSchema = z.object({
  RPC_URL: shared.RPC_URL.optional(),
  DEPLOYMENT_FILE: shared.DEPLOYMENT_FILE.optional(),
  ...devSchema.pick({ ANVIL_PORT: true, DATA_DIR: true }).shape,
});

/** A node without its deployment would be compared with that of the dev stack. */
function halfChain({ RPC_URL, DEPLOYMENT_FILE }: Variables): Fault[] {
  if ((RPC_URL === undefined) === (DEPLOYMENT_FILE === undefined)) return [];
  return RPC_URL === undefined
    ? [["RPC_URL", "is required with DEPLOYMENT_FILE"]]
    : [["DEPLOYMENT_FILE", "is required with RPC_URL"]];
}

/** Parses `env`; throws a {@link ConfigError} with every bad variable. `together` finds bad combinations of variables. */
function parse<Config>(
  schema: z.ZodType<Config>,
  env: Environment,
  together: (present: Variables) => readonly Fault[] = () => [],
): Config {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const result = schema.safeParse(present);
  const faults = new Map<string, string>();
  for (const issue of result.error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!faults.has(name)) faults.set(name, present[name] === undefined ? "is required" : issue.message);
  }
  for (const [name, fault] of together(present)) if (!faults.has(name)) faults.set(name, fault);
  if (result.success && faults.size === 0) return result.data;
  throw new ConfigError([...faults].map(([name, fault]) => `${name} ${fault}`));
}

export type ApiConfig = z.output<typeof apiSchema>;
export type WriterConfig = z.output<typeof writerSchema>;
export type IndexerConfig = z.output<typeof indexerSchema>;
export type DevConfig = z.output<typeof devSchema>;

export const apiConfig = (env: Environment): ApiConfig =>
  parse(apiSchema, env, (present) => [...incompleteTestnet(present), ...unsafeOffLocal(present)]);
export const writerConfig = (env: Environment): WriterConfig =>
  parse(writerSchema, env, (present) => [
    ...invalidKeys(present),
    ...invalidWriterTestnet(present),
    ...sharedKeys(present),
  ]);
export const indexerConfig = (env: Environment): IndexerConfig => parse(indexerSchema, env);
export const ledgerConfig = (env: Environment): z.output<typeof ledgerSchema> => parse(ledgerSchema, env);
export const reconcileConfig = (env: Environment): z.output<typeof reconcileSchema> =>
  parse(reconcileSchema, env, incompleteTestnet);
export const restoreConfig = (env: Environment): z.output<typeof restoreSchema> =>
  parse(restoreSchema, env, incompleteTestnet);
export const keeperConfig = (env: Environment): z.output<typeof keeperSchema> =>
  parse(keeperSchema, env, halfChain);
export const devConfig = (env: Environment): DevConfig => parse(devSchema, env);

/** The limits that the dev stack passes to its api. */
export const devLimitNames = z.object(devLimits).keyof().options;

/** The variables of every process, for the test that compares them with `.env.example`. */
export const variableNames: readonly string[] = [
  ...new Set(
    [apiSchema, writerSchema, indexerSchema, devSchema].flatMap((schema) => Object.keys(schema.shape)),
  ),
];
