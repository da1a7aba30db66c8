import { ERRAND_GAS_LIMIT } from "../../lib/ledger/gas.ts";
import { noteFault } from "../ledger/leases.ts";
import { gasSpentToday } from "../ledger/spending.ts";
import { type Loop, startLoop } from "../loop.ts";
import type { Engine } from "../relayer/engine.ts";
import { type Fees, initialFees } from "../relayer/fees.ts";
import { gasSpent, gasTooDear } from "./failures.ts";

/** How often it is looked whether a claim could be signed, in ms. */
const LOOK_MS = 1000;

/**
 * Why no claim can be signed now, whatever the faucet has: gas costs more than the operator lets it (`fees` are undefined),
 * or a claim's may cost more than is left for the UTC day, in wei.
 */
export function claimFault(fees: Fees | undefined, budgetLeft: bigint): string | undefined {
  if (!fees) return gasTooDear;
  return 2n * ERRAND_GAS_LIMIT * fees.maxFee > budgetLeft ? gasSpent : undefined;
}

/**
 * Notes for the API whether claims can be signed, while this writer sends from the faucet's wallet: so that nothing is
 * promised that cannot be kept.
 *
 * @param gasBudget what gas may cost on the chain in a UTC day, in wei.
 */
export function startStanding(
  { sql, chainId, wallets, market, maxFee, log }: Engine,
  gasBudget: bigint,
): Loop {
  let told: string | undefined;

  async function round(): Promise<void> {
    const [faucet] = wallets.of("faucet");
    if (!faucet) return;
    const [now, spent] = await Promise.all([market.now(), gasSpentToday(sql, chainId)]);
    const fault = claimFault(initialFees(now, maxFee), gasBudget - spent);
    await noteFault(sql, faucet.lease, fault);
    if (fault !== told) {
      if (fault === undefined)
        log.info({ wallet: faucet.address }, "the faucet's claims can be signed again");
      else log.warn({ wallet: faucet.address, fault }, "the faucet's claims cannot be signed");
    }
    told = fault;
  }

  return startLoop({ name: "looking at the faucet", log, pauseMs: () => LOOK_MS, round });
}
