/** Opens the node that is to be forked, and says in words what is wrong with it. */
import { type Hex, hexToBigInt, hexToNumber, isHex, numberToHex } from "viem";
import { z } from "zod";
import { ConfigError } from "../../lib/config-error.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";
import type { Upstream } from "./upstream.ts";

const hex = z.custom<Hex>((text) => isHex(text));
const blockShape = z.object({ hash: hex });

/** The block after which the fork begins. */
export type ForkPoint = { readonly number: bigint; readonly hash: Hex };

/**
 * Finds the block that is forked.
 * @param block the newest one when left out
 * @throws {ConfigError} when the node does not answer, serves another chain, or lacks the block, its state or the contracts
 */
export async function findForkPoint(
  upstream: Upstream,
  { chainId, startBlock, contracts }: Deployment,
  block: bigint | undefined,
): Promise<ForkPoint> {
  const ask = async (method: string, params: readonly unknown[] = []) => upstream.request({ method, params });
  const chain = await ask("eth_chainId").catch((error: unknown) => {
    throw new ConfigError([`the node of --rpc does not answer: ${errorText(error)}`]);
  });
  if (hexToNumber(hex.parse(chain)) !== chainId)
    throw new ConfigError([
      `the node of --rpc serves chain ${hexToNumber(hex.parse(chain))}, the deployment file describes ${chainId}`,
    ]);
  const newest = hexToBigInt(hex.parse(await ask("eth_blockNumber")));
  const number = block ?? newest;
  if (number > newest) throw new ConfigError([`--block ${number}: the node's newest block is ${newest}`]);
  if (number < BigInt(startBlock))
    throw new ConfigError([`block ${number} is older than the deployment, which begins with ${startBlock}`]);
  const { hash } = blockShape.parse(await ask("eth_getBlockByNumber", [numberToHex(number), false]));
  const { coverRouter } = contracts;
  const code = await ask("eth_getCode", [coverRouter, numberToHex(number)]).catch((error: unknown) => {
    throw new ConfigError([
      `the node has no state of block ${number} (${errorText(error)}): take a newer block, or a node with old states`,
    ]);
  });
  if (code === "0x")
    throw new ConfigError([`the chain has no contract at coverRouter ${coverRouter} in block ${number}`]);
  return { number, hash };
}
