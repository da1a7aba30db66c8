import { SERVICE_TRANSACTION_GAS_LIMIT } from "../../lib/ledger/gas-limits.ts";
import { type Loop, startLoop } from "../common/loop.ts";
import { gasSpentToday } from "../ledger/gas-spending.ts";
import { noteFault } from "../ledger/leases.ts";
import type { Engine } from "../relayer/engine.ts";
import { type Fees, initialFees } from "../relayer/fees.ts";
import { walletsOf } from "../relayer/wallets.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";

const CHECK_MS = 1000;

/**
 * Why no claim can be signed now, apart from the faucet's balance: gas costs more than the cap (`fees` is undefined), or
 * the gas of a claim may cost more than is left of the day's budget, in wei. Undefined when claims can be signed.
 */
export function claimFault(fees: Fees | undefined, budgetLeft: bigint): string | undefined {
  if (!fees) return gasTooExpensive;
  return 2n * SERVICE_TRANSACTION_GAS_LIMIT * fees.maxFee > budgetLeft ? gasBudgetSpent : undefined;
}

/**
 * Checks every second whether claims can be signed, while this writer sends from the faucet's wallet, and stores the
 * fault for the API, which then refuses claims.
 *
 * @param gasBudget the most that gas may cost on the chain in a UTC day, in wei.
 */
export function startFaucetHealth(
  { sql, chainId, wallets, market, maxFee, log }: Engine,
  gasBudget: bigint,
): Loop {
  let lastFault: string | undefined;

  async function checkFaucet(): Promise<void> {
    const [faucet] = walletsOf(wallets, "faucet");
    if (!faucet) return;
    const [now, spent] = await Promise.all([market.now(), gasSpentToday(sql, chainId)]);
    const fault = claimFault(initialFees(now, maxFee), gasBudget - spent);
    await noteFault(sql, faucet.lease, fault);
    if (fault !== lastFault) {
      if (fault === undefined)
        log.info({ wallet: faucet.address }, "the faucet's claims can be signed again");
      else log.warn({ wallet: faucet.address, fault }, "the faucet's claims cannot be signed");
    }
    lastFault = fault;
  }

  return startLoop({ name: "checking the faucet", log, pauseMs: () => CHECK_MS, round: checkFaucet });
}
