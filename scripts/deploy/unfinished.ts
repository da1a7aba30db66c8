/** The record of a deployment that has begun: nonce and settings determine all of its transactions and addresses. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Address, getAddress, isAddress } from "viem";
import { z } from "zod";
import type { Deployment } from "../../lib/deployments.ts";

const address = z
  .custom<Address>((text) => typeof text === "string" && isAddress(text))
  .transform((text) => getAddress(text));

const unfinishedSchema = z.object({
  chainId: z.int().positive(),
  deployer: address,
  relayers: z.array(address),
  oracle: address.optional(),
  external: z.partialRecord(
    z.enum(["usdc", "btcUsdFeed", "ethUsdFeed", "sequencerFeed", "priceOracle"]),
    address,
  ),
  /** The deployer's nonce of the first transaction. */
  firstNonce: z.int().nonnegative(),
  /** The newest block before the first transaction. */
  startBlock: z.int().nonnegative(),
});

export type Unfinished = z.output<typeof unfinishedSchema>;

/** Beside the deployment file, which exists only once the deployment is complete. */
export const unfinishedFileOf = (out: string): string => `${out}.unfinished`;

/**
 * The record beside `out`; undefined when no deployment has begun.
 * @throws when the file cannot be read
 */
export function readUnfinished(out: string): Unfinished | undefined {
  const file = unfinishedFileOf(out);
  if (!existsSync(file)) return undefined;
  try {
    return unfinishedSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new Error(`${file} is damaged: delete it to deploy anew`, { cause });
  }
}

/** Records a deployment before its first transaction. @throws when another one has begun meanwhile */
export function recordUnfinished(out: string, unfinished: Unfinished): void {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(unfinishedFileOf(out), `${JSON.stringify(unfinished, null, 2)}\n`, { flag: "wx" });
}

/** Writes the deployment file of a complete deployment, whole or not at all, and removes the record. */
export function finish(out: string, deployment: Deployment): void {
  const whole = `${out}.new`;
  writeFileSync(whole, `${JSON.stringify(deployment, null, 2)}\n`);
  renameSync(whole, out);
  rmSync(unfinishedFileOf(out));
}
