/** Opens the node that is to be forked, and says in words what is wrong with it. */
import { BaseError, type Hex, HttpRequestError, hexToBigInt, hexToNumber, isHex, numberToHex } from "viem";
import { z } from "zod";
import { ConfigError } from "../../lib/config-error.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";
import type { Upstream } from "./upstream.ts";

const hex = z.custom<Hex>((text) => isHex(text));
const blockShape = z.object({ hash: hex });

/**
 * So many blocks behind the newest one a public node's machines agree on what they have: behind one address are several. A local node
 * is one.
 */
const BEHIND = 10n;

/** An error's text, with the status of the node's answer. */
function reasonOf(error: unknown): string {
  const cause = error instanceof BaseError ? error.walk((one) => one instanceof HttpRequestError) : null;
  const status = cause instanceof HttpRequestError && cause.status ? ` (HTTP ${cause.status})` : "";
  return `${errorText(error)}${status}`;
}

/** The block after which the fork begins. */
export type ForkPoint = { readonly number: bigint; readonly hash: Hex };

/**
 * Finds the block that is forked.
 * @param block the newest one when left out, or of a public node one just before
 * @throws {ConfigError} when the node does not answer, serves another chain, or lacks the block, its state or the contracts
 */
export async function findForkPoint(
  upstream: Upstream,
  { chainId, startBlock, contracts }: Deployment,
  block: bigint | undefined,
): Promise<ForkPoint> {
  const ask = async (method: string, params: readonly unknown[] = []) => upstream.request({ method, params });
  const chain = await ask("eth_chainId").catch((error: unknown) => {
    throw new ConfigError([`the node of --rpc does not answer: ${reasonOf(error)}`]);
  });
  if (hexToNumber(hex.parse(chain)) !== chainId)
    throw new ConfigError([
      `the node of --rpc serves chain ${hexToNumber(hex.parse(chain))}, the deployment file describes ${chainId}`,
    ]);
  const newest = hexToBigInt(hex.parse(await ask("eth_blockNumber")));
  const isLocal = String(await ask("web3_clientVersion").catch(() => "")).startsWith("anvil/");
  const number = block ?? (isLocal ? newest : newest - BEHIND);
  if (number > newest) throw new ConfigError([`--block ${number}: the node's newest block is ${newest}`]);
  if (number < BigInt(startBlock))
    throw new ConfigError([`block ${number} is older than the deployment, which begins with ${startBlock}`]);
  const header = blockShape.safeParse(await ask("eth_getBlockByNumber", [numberToHex(number), false])).data;
  if (!header) throw new ConfigError([`the node does not give block ${number}`]);
  const { coverRouter } = contracts;
  const code = await ask("eth_getCode", [coverRouter, numberToHex(number)]).catch((error: unknown) => {
    throw new ConfigError([
      `the node has no state of block ${number} (${reasonOf(error)}): take a newer block, or a node with old states`,
    ]);
  });
  if (code === "0x")
    throw new ConfigError([`the chain has no contract at coverRouter ${coverRouter} in block ${number}`]);
  return { number, hash: header.hash };
}
