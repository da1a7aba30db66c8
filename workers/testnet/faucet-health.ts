import { mintCalldata } from "../../lib/chain/mock-usdc.ts";
import { SERVICE_TRANSACTION_GAS_LIMIT } from "../../lib/ledger/gas-limits.ts";
import { lower } from "../../lib/lower.ts";
import { type Loop, startLoop } from "../common/loop.ts";
import { costOf, type PricedCall } from "../ledger/assign-nonces.ts";
import { gasSpentToday } from "../ledger/gas-spending.ts";
import { noteFault } from "../ledger/leases.ts";
import type { Engine } from "../relayer/engine.ts";
import { type Fees, initialFees } from "../relayer/fees.ts";
import { walletsOf } from "../relayer/wallets.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";

/** How often the faucet is checked, in ms: while its claims can be signed, and while they cannot. */
const WELL_MS = 5000;
const FAULTY_MS = 1000;

/**
 * Why no claim can be signed now, apart from the faucet's balance: gas costs more than the cap (`fees` is undefined), or
 * a claim's two transfers may cost more than is left of the day's budget, in wei. Undefined when claims can be signed.
 */
export function claimFault(
  fees: Fees | undefined,
  transfer: Pick<PricedCall, "gasLimit" | "l1Fee">,
  budgetLeft: bigint,
): string | undefined {
  if (!fees) return gasTooExpensive;
  return 2n * costOf(transfer, fees.maxFee) > budgetLeft ? gasBudgetSpent : undefined;
}

/**
 * Checks whether claims can be signed, while this writer sends from the faucet's wallet, and stores the fault for the API, which
 * then refuses claims.
 *
 * @param gasBudget the most that gas may cost on the chain in a UTC day, in wei.
 */
export function startFaucetHealth(
  { sql, chainId, deployment, wallets, market, price, maxCallFee, log }: Engine,
  gasBudget: bigint,
): Loop {
  let lastFault: string | undefined;

  async function checkFaucet(): Promise<void> {
    const [faucet] = walletsOf(wallets, "faucet");
    if (!faucet) return;
    const data = mintCalldata(faucet.address, 10n ** 12n); // the larger of a claim's two transfers
    const [now, transfer, spent] = await Promise.all([
      market.now(),
      price({
        to: lower(deployment.contracts.usdc),
        data,
        value: 0n,
        gasLimit: SERVICE_TRANSACTION_GAS_LIMIT,
      }),
      gasSpentToday(sql, chainId),
    ]);
    const fault = claimFault(initialFees(now, maxCallFee), transfer, gasBudget - spent);
    await noteFault(sql, faucet.lease, fault);
    if (fault !== lastFault) {
      if (fault === undefined)
        log.info({ wallet: faucet.address }, "the faucet's claims can be signed again");
      else log.warn({ wallet: faucet.address, fault }, "the faucet's claims cannot be signed");
    }
    lastFault = fault;
  }

  return startLoop({
    name: "checking the faucet",
    log,
    pauseMs: () => (lastFault === undefined ? WELL_MS : FAULTY_MS),
    round: checkFaucet,
  });
}
