/** Local chains: anvil, as Foundry ships it on npm. */
import { createRequire } from "node:module";
import { type Hex, toHex } from "viem";
import type { HDAccount } from "viem/accounts";
import { z } from "zod";
import { isPortFree } from "./ports.ts";
import { type Child, deathNotice, startProcess } from "./processes.ts";
import { waitFor } from "./wait.ts";

export type AnvilOptions = {
  readonly port: number;
  readonly chainId: number;
  readonly logFile: string;
  /** Seconds between blocks; one block per transaction when left out. */
  readonly blockTime?: number;
  /** Beside the regular blocks, one for each transaction at once. Needs `blockTime`. */
  readonly mixedMining?: boolean;
  /** Timestamp of the genesis block, in Unix seconds. */
  readonly timestamp?: bigint;
  /** Gas limit of a block, 300 million by default. */
  readonly gasLimit?: bigint;
  /** Starts as a fork of this RPC's chain. */
  readonly forkUrl?: string;
  readonly args?: readonly string[];
  /** Told of the process before it answers, so that one that starts slowly can be ended too. */
  readonly onSpawn?: (child: Child) => void;
};

export type Anvil = {
  readonly url: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly chainId: number;
  /** The process id of anvil itself. */
  readonly pid: number;
  readonly process: Child;
  readonly stop: () => Promise<void>;
};

/**
 * States of old blocks that anvil keeps, in memory. Without a bound it writes every block's state to the disk of the
 * user's home and never cleans up; without a number historical calls and reorganisations fail.
 */
const keptStates = 256;
/**
 * Ten times anvil's own: room for a burst in one block. Where a transaction does not fit, anvil takes the smaller one
 * behind it, finds its nonce too high, and throws it away with all that follow.
 */
const defaultGasLimit = 300_000_000n;
/** Anvil answers after 40 ms; a machine under load gets a lot more. */
const startTimeoutMs = 30_000;

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** The path of anvil's own executable: the package's `bin` is a Node script that would leave anvil behind as an orphan. */
export function anvilBinary(): string {
  const { platform, arch } = process;
  const packageName = `@foundry-rs/anvil-${platform}-${architectures[arch] ?? arch}`;
  const fromAnvil = createRequire(createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json"));
  try {
    return fromAnvil.resolve(`${packageName}/bin/anvil`);
  } catch (cause) {
    throw new Error(`${packageName} is not installed: run \`npm install\``, { cause });
  }
}

function anvilArguments(options: AnvilOptions): string[] {
  const {
    port,
    chainId,
    blockTime,
    mixedMining,
    timestamp,
    gasLimit = defaultGasLimit,
    forkUrl,
    args,
  } = options;
  const values: [string, bigint | number | string | undefined][] = [
    ["--host", "127.0.0.1"],
    ["--port", port],
    ["--chain-id", chainId],
    ["--prune-history", keptStates],
    ["--block-time", blockTime],
    ["--timestamp", timestamp],
    ["--gas-limit", gasLimit],
    ["--fork-url", forkUrl],
  ];
  return [
    "--quiet",
    ...values.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
    ...(mixedMining ? ["--mixed-mining"] : []),
    ...(forkUrl === undefined ? [] : ["--no-storage-caching"]),
    ...(args ?? []),
  ];
}

const chainIdAnswer = z.object({ result: z.string().regex(/^0x[0-9a-f]+$/) });

async function chainIdAt(url: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
    signal: AbortSignal.timeout(2_000),
  });
  return Number(chainIdAnswer.parse(await response.json()).result);
}

/**
 * Starts anvil on 127.0.0.1 and waits until it answers.
 * @throws when the port is taken, and with the end of anvil's output when it ends instead of answering.
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { port, chainId, logFile } = options;
  const url = `http://127.0.0.1:${port}`;
  const name = `anvil (chain ${chainId}, port ${port})`;
  // Asked beforehand: another anvil on this port would answer our first question before ours has died of it.
  if (!(await isPortFree(port))) throw new Error(`${name} cannot start: the port is taken`);
  const child = await startProcess({ name, command: anvilBinary(), args: anvilArguments(options), logFile });
  options.onSpawn?.(child);
  try {
    await waitFor({
      what: `${name} to answer`,
      probe: async () => ((await chainIdAt(url)) === chainId && !child.exit() ? true : undefined),
      hopeless: () => deathNotice(child),
      timeoutMs: startTimeoutMs,
      intervalMs: 15,
    });
  } catch (error) {
    await child.kill9();
    throw error;
  }
  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    chainId,
    pid: child.pid,
    process: child,
    async stop() {
      await child.stop({ graceMs: 3_000 });
    },
  };
}

/** The private key of one of anvil's accounts, for a process that has to sign with it. */
export function privateKeyOf(account: HDAccount): Hex {
  const { privateKey } = account.getHdKey();
  if (!privateKey) throw new Error(`${account.address} is known by its public key only`);
  return toHex(privateKey);
}
