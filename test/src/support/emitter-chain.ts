/** A chain whose indexed contracts are all an `Emitter`, so that a test can write any logs in any order. */
import { writeFileSync } from "node:fs";
import type { TransactionReceipt } from "viem";
import type { Contracts } from "../../../lib/deployments.ts";
import { compileEmitter, type Entry, emitterAbi } from "../../../scripts/local/emitter.ts";
import { startChain, type TestChain } from "../../support/chain.ts";

export { type Entry, entry } from "../../../scripts/local/emitter.ts";

export type EmitterChain = TestChain & {
  readonly contracts: Contracts;
  /** Writes the logs in one transaction, in this order. */
  readonly emit: (...entries: Entry[]) => Promise<TransactionReceipt>;
};

/**
 * Starts a chain and replaces each contract by an emitter. The index starts after that, so it has no events about products,
 * as on a network whose contracts emit fewer events than ours.
 */
export async function startEmitterChain(): Promise<EmitterChain> {
  const chain = await startChain();
  const { client, deployment } = chain;
  const { contracts } = deployment;
  const bytecode = compileEmitter();
  for (const address of Object.values(contracts)) await client.setCode({ address, bytecode });
  const deploymentFile = `${chain.deploymentFile}.emitters.json`;
  const startBlock = Number(await client.getBlockNumber()) + 1;
  writeFileSync(deploymentFile, JSON.stringify({ ...deployment, startBlock }));

  return {
    ...chain,
    deploymentFile,
    contracts,
    async emit(...entries) {
      const hash = await client.writeContract({
        account: chain.owner,
        abi: emitterAbi,
        address: contracts.coverRouter,
        functionName: "emitAll",
        args: [entries],
      });
      const receipt = await client.waitForTransactionReceipt({ hash });
      if (receipt.status !== "success") throw new Error("the logs were not written");
      return receipt;
    },
  };
}
