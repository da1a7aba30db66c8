import { numberToHex } from "viem";
import { createLogger } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import { openChain } from "../../../workers/relayer/chain.ts";
import type { RoundPurchase } from "../../../workers/relayer/purchase-calls.ts";
import { createRoundSimulator } from "../../../workers/relayer/simulate-round.ts";
import type { TestChain } from "../../support/chain.ts";

const marks = { purchase: numberToHex(1, { size: 32 }), permit: numberToHex(2, { size: 32 }) };

/** Simulates rounds of the chain's relayer through a node; `restMs` as the simulator takes it. */
export function openRoundSimulator({ deployment, relayer }: TestChain, rpcUrl: string, restMs?: number) {
  const { coverRouter, bondVault, usdc } = deployment.contracts;
  const options = {
    chain: openChain(deployment, rpcUrl),
    coverRouter: lower(coverRouter),
    bondVault: lower(bondVault),
    usdc: lower(usdc),
    log: createLogger("test", "silent"),
  };
  const run = createRoundSimulator(options, restMs);
  return (purchases: readonly Omit<RoundPurchase, "marks">[]) =>
    run(
      relayer.address,
      purchases.map((one) => ({ ...one, marks })),
    );
}
