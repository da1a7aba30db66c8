import type { Spending } from "../../ledger/gas-spending.ts";
import type { Raise } from "../../ledger/raises.ts";

/**
 * Chooses the transactions whose fee is raised, lowest nonces first, as far as the day's gas budget and the wallet's
 * balance reach. It stops at the first one that they do not cover: no higher nonce can be mined before it.
 */
export function chooseRaises<Wanted extends Raise>(
  wanted: readonly Wanted[],
  spending: Spending,
  { balance, gasBudget }: { balance: bigint; gasBudget: bigint },
): Wanted[] {
  const chosen: Wanted[] = [];
  if (spending.relayerStopped) return chosen;
  let { all, reserved } = spending;
  for (const raise of wanted) {
    const more = raise.cost - raise.reserved;
    if (more > 0n) {
      all += more;
      reserved += more;
      if (reserved > balance || (all > gasBudget && !raise.isEmpty)) break;
    }
    chosen.push(raise);
  }
  return chosen;
}
