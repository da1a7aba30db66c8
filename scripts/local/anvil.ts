/** Local chains: anvil, as Foundry ships it on npm. */
import { createRequire } from "node:module";
import { type Hex, toHex } from "viem";
import type { HDAccount } from "viem/accounts";
import { z } from "zod";
import { isPortFree } from "./ports.ts";
import { type Child, exitMessage, startProcess } from "./processes.ts";
import { waitFor } from "./wait.ts";

export type AnvilOptions = {
  readonly port: number;
  readonly chainId: number;
  readonly logFile: string;
  /** Seconds between blocks; one block per transaction when left out. */
  readonly blockTime?: number;
  /** Beside the regular blocks, mines one at once for each transaction. Needs `blockTime`. */
  readonly mixedMining?: boolean;
  /** Timestamp of the genesis block, in Unix seconds. */
  readonly timestamp?: bigint;
  /** Gas limit of a block, 300 million by default. */
  readonly gasLimit?: bigint;
  /** The number of block states that anvil keeps in memory, and in a file that it writes; 256 by default. */
  readonly keptStates?: number;
  /** Forks the chain behind this RPC URL. */
  readonly forkUrl?: string;
  readonly args?: readonly string[];
  /** How long it may take to answer, in ms; 30 s by default. With a long chain in its file it takes minutes. */
  readonly startTimeoutMs?: number;
  /** Called before anvil answers, so that the caller can end it even while it starts. */
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
 * Without a number of states anvil writes every block's state to the user's home and never deletes it, or historical calls and
 * reorganisations fail.
 */
const defaultKeptStates = 256;
/**
 * Ten times anvil's default, so that a burst fits into one block. Where a transaction does not fit, anvil tries the next,
 * smaller one, finds its nonce too high, and drops it with all that follow.
 */
const defaultGasLimit = 300_000_000n;
/** Anvil answers after 40 ms, but needs far longer on a busy machine. */
const defaultStartTimeoutMs = 30_000;

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
    keptStates = defaultKeptStates,
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
  // Checked first: another anvil on this port would answer before ours has failed to start.
  if (!(await isPortFree(port))) throw new Error(`${name} cannot start: the port is taken`);
  const child = await startProcess({ name, command: anvilBinary(), args: anvilArguments(options), logFile });
  options.onSpawn?.(child);
  try {
    await waitFor({
      what: `${name} to answer`,
      probe: async () => ((await chainIdAt(url)) === chainId && !child.exit() ? true : undefined),
      giveUpReason: () => exitMessage(child),
      timeoutMs: options.startTimeoutMs ?? defaultStartTimeoutMs,
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

/** The private key of one of anvil's accounts, for a process that signs with it. */
export function privateKeyOf(account: HDAccount): Hex {
  const { privateKey } = account.getHdKey();
  if (!privateKey) throw new Error(`${account.address} has no private key`);
  return toHex(privateKey);
}
