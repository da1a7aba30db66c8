/** The service's processes for one test file, with their own database, ports and output files. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { inject } from "vitest";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { createServiceStack, localSettings, type ServiceStack } from "../../scripts/local/service-stack.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import type { ServiceName, TestnetSettings } from "../../scripts/local/services.ts";
import type { TestChain } from "./chain.ts";
import { atEnd, showOnFailure } from "./cleanup.ts";
import { freshDatabase } from "./database.ts";
import { type HttpAnswer, type HttpRequest, http } from "./http.ts";
import { redisOf } from "./redis.ts";
import { forgetPid, recordPid } from "./run-folder.ts";

export type StackOptions = {
  readonly chain: TestChain;
  /** The processes to start; all three when left out. */
  readonly services?: readonly ServiceName[];
  /** Puts queues and limits on Redis; stacks of one database share it. The test must be in `describeWithRedis`. */
  readonly redis?: boolean;
  /** An existing database; a fresh one when left out. */
  readonly databaseUrl?: string;
  /** The URL of a proxy in front of the chain; the chain itself when left out. */
  readonly rpcUrl?: string;
  /** Keys of the writer's wallets; that of the chain's relayer when left out. */
  readonly relayerKeys?: readonly Hex[];
  /** Whether the writer is a keeper too; false when left out, so that policies are due and expire undisturbed. */
  readonly keeper?: boolean;
  /** The chain of sandbox and faucet, with chain id 84532; neither of the two runs when left out. */
  readonly testnet?: TestChain;
  /** The URL of a proxy in front of the testnet. */
  readonly testnetRpcUrl?: string;
  /** Keys of the testnet's wallets; those of `serviceWallets` when left out. Null leaves a wallet out, [] the relayers. */
  readonly testnetKeys?: {
    readonly relayers?: readonly Hex[];
    readonly sandbox?: Hex | null;
    readonly faucet?: Hex | null;
  };
  /** More environment variables, by process. */
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

export type Stack = ServiceStack & {
  readonly databaseUrl: string;
  /** One request to the api: `stack.request("/health")`. */
  readonly request: (path: string, request?: HttpRequest) => Promise<HttpAnswer>;
};

/** A limit that no test reaches. */
export const UNLIMITED = "1000000000";

/** All test requests come from one address. Tests of the rate limits set their own. */
const unlimited = {
  PUBLIC_RATE_LIMIT: UNLIMITED,
  LIVE_SCAN_RATE_LIMIT: UNLIMITED,
  FAILED_CREDENTIALS_LIMIT: UNLIMITED,
  FREE_KEY_RATE_LIMIT: UNLIMITED,
  PAID_KEY_RATE_LIMIT: UNLIMITED,
  ONBOARD_RATE_LIMIT: UNLIMITED,
  SANDBOX_RATE_LIMIT: UNLIMITED,
};
/** Gas of a local chain is free. Tests of the gas budgets set their own. In ether a day. */
const highBudgets = {
  GAS_BUDGET_ETH: "1000000",
  GAS_BUDGET_PER_WALLET_ETH: "1000000",
  KEEPER_GAS_BUDGET_ETH: "1000000",
};

const everything: readonly ServiceName[] = ["indexer", "api", "writer"];

function testnetSettings(options: StackOptions): TestnetSettings | undefined {
  const { testnet, testnetRpcUrl, testnetKeys = {} } = options;
  if (!testnet) return undefined;
  const { sandbox = privateKeyOf(serviceWallets.sandbox), faucet = privateKeyOf(serviceWallets.faucet) } =
    testnetKeys;
  return {
    rpcUrl: testnetRpcUrl ?? testnet.url,
    deploymentFile: testnet.deploymentFile,
    relayerKeys: testnetKeys.relayers ?? [testnet.relayerKey],
    sandboxKey: sandbox ?? undefined,
    faucetKey: faucet ?? undefined,
  };
}

/** Starts the service's processes at once and waits until all are ready; they stop when the test file ends. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { chain, services = everything } = options;
  const runFolder = inject("runFolder");
  const databaseUrl = options.databaseUrl ?? (await freshDatabase());
  const settings = await localSettings({
    databaseUrl,
    rpcUrl: options.rpcUrl ?? chain.url,
    deploymentFile: chain.deploymentFile,
    testnet: testnetSettings(options),
    redisUrl: await redisOf(databaseUrl, { wanted: options.redis }),
    relayerKeys: options.relayerKeys ?? [chain.relayerKey],
    ...(options.keeper ? { keeperKey: privateKeyOf(serviceWallets.keeper) } : {}),
    more: {
      ...options.env,
      api: { ...unlimited, ...options.env?.api },
      writer: { ...highBudgets, ...options.env?.writer },
    },
  });
  // A port can be used again in a run, after its first stack has stopped.
  const logFolder = mkdtempSync(join(runFolder, `stack-${settings.apiPort}-`));
  const stack = createServiceStack(settings, logFolder, {
    onStart({ name, pid, logFile }) {
      recordPid(runFolder, pid);
      showOnFailure(name, logFile);
    },
    onEnd: ({ pid }) => forgetPid(runFolder, pid),
  });
  atEnd(stack.stop);
  await Promise.all(services.map((name) => stack.start(name)));
  return {
    ...stack,
    databaseUrl,
    request: (path, request) => http(`${stack.apiUrl}${path}`, request),
  };
}
