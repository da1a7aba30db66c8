/** Decides which service transactions the sandbox's wallet needs and which fault it has. Pure functions, without I/O. */
import { type Address, formatEther, formatUnits, getAddress } from "viem";
import { costOf } from "../ledger/assign-nonces.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";

/** The service transactions that keep the wallet able to buy: ether for its approval, USDC for premiums, and the approval itself. */
export type UpkeepPurpose = "sandbox_ether" | "sandbox_usdc" | "sandbox_approval";

/** A premium of the sandbox is at most 14.87 USDC: less than this, 6 decimals, may not pay the next one. */
const ENOUGH_TO_BUY = 20_000_000n;
/** Hundreds of premiums, 6 decimals. With less than this more is minted, long before a purchase could fail. */
export const ENOUGH_USDC = 10_000_000_000n;
/** The amount of one mint, 6 decimals. */
export const MINTED_USDC = 100_000_000_000n;
/** Gas of an approval, with a margin. */
export const APPROVAL_GAS = 100_000n;
/** A service transaction that failed is tried again after this time, in seconds. */
export const RETRY_SECONDS = 15;

/** The newest service transaction of a purpose; `open` until it is final. `age` is the failure's, in seconds. */
export type LastServiceTransaction =
  | { state: "open" | "done" }
  | { state: "failed"; message: string; age: number };

/** The state that the plan depends on: USDC and allowance with 6 decimals, ether and the price of a gas in wei. */
export type Condition = {
  usdc: bigint;
  allowance: bigint;
  ether: bigint;
  gasPrice: bigint;
  /** The most that the chain may charge for the approval's data on the L1, in wei. */
  l1Fee: bigint;
  /** The base fee alone is above the operator's cap: nothing is signed. */
  tooExpensive: boolean;
  /** The most that the testnet's gas may still cost in this UTC day, in wei. */
  budgetLeft: bigint;
  /** The relayer wallet with the most ether; undefined when no relayer is active. */
  relayer: { address: Address; ether: bigint } | undefined;
  last: Partial<Record<UpkeepPurpose, LastServiceTransaction>>;
};

export type Plan = {
  /** The service transactions to begin now. */
  begin: UpkeepPurpose[];
  canBuy: boolean;
  /** Why the wallet cannot buy, or cannot be funded; undefined when nothing is wrong. */
  fault: string | undefined;
};

const approvalCost = ({ gasPrice, l1Fee }: Condition): bigint =>
  costOf({ gasLimit: APPROVAL_GAS, l1Fee }, gasPrice);

/** Ether for the approval, in wei: enough for ten, because gas may cost ten times as much until then. */
export const givenEther = (condition: Condition): bigint => 10n * approvalCost(condition);

const actions: Readonly<Record<UpkeepPurpose, string>> = {
  sandbox_ether: "Giving it ether for its approval",
  sandbox_usdc: "Minting USDC for it",
  sandbox_approval: "Approving the cover router",
};

/** The service transactions that the wallet lacks; it pays the approval's gas, so ether comes first. */
function needs(condition: Condition): UpkeepPurpose[] {
  const { usdc, allowance, ether } = condition;
  const wanted: UpkeepPurpose[] = [];
  if (usdc < ENOUGH_USDC) wanted.push("sandbox_usdc");
  if (allowance < ENOUGH_USDC) {
    wanted.push(ether < approvalCost(condition) ? "sandbox_ether" : "sandbox_approval");
  }
  return wanted;
}

/** Why no service transaction that the relayer pays can be sent. */
function gasFault(condition: Condition): string | undefined {
  const { relayer, tooExpensive, budgetLeft } = condition;
  if (!relayer) return "No relayer of the testnet is at work.";
  if (tooExpensive) return gasTooExpensive;
  // The ether for the wallet and its transfer, or two purchases.
  const least = 2n * givenEther(condition);
  if (budgetLeft < least) return gasBudgetSpent;
  if (relayer.ether >= least) return undefined;
  return `The relayer ${getAddress(relayer.address)} has ${formatEther(relayer.ether)} ETH and needs ${formatEther(least)} at the present price of gas.`;
}

/** Decides which service transactions to begin, and which fault to report. */
export function planUpkeep(condition: Condition): Plan {
  const { usdc, allowance, last } = condition;
  const wanted = needs(condition);
  const unpaid = gasFault(condition);
  const faults = unpaid === undefined ? [] : [unpaid];
  if (usdc < ENOUGH_TO_BUY) {
    faults.push(`The wallet has ${formatUnits(usdc, 6)} USDC, which is too little for a premium.`);
  }
  if (allowance < ENOUGH_TO_BUY) faults.push("The cover router has no approval to take premiums.");
  const canBuy = faults.length === 0;
  for (const purpose of wanted) {
    const serviceTransaction = last[purpose];
    if (serviceTransaction?.state === "failed")
      faults.push(`${actions[purpose]} failed: ${serviceTransaction.message}`);
  }
  const begin = wanted.filter((purpose) => {
    const serviceTransaction = last[purpose];
    if (
      serviceTransaction?.state === "open" ||
      (serviceTransaction?.state === "failed" && serviceTransaction.age < RETRY_SECONDS)
    )
      return false;
    return !condition.tooExpensive && (purpose === "sandbox_approval" || unpaid === undefined);
  });
  return { begin, canBuy, fault: faults.length > 0 ? faults.join(" ") : undefined };
}
