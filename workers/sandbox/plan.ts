/** What the sandbox's wallet needs, and what is wrong with it: decided from what was found, with nothing done. */
import { type Address, formatEther, formatUnits, getAddress } from "viem";
import { gasSpent, gasTooDear } from "../errands/failures.ts";

/** Errands that keep the wallet able to buy: ether for its approval, USDC for premiums, and the approval itself. */
export const upkeepPurposes = ["sandbox_ether", "sandbox_usdc", "sandbox_approval"] as const;
export type UpkeepPurpose = (typeof upkeepPurposes)[number];

/** A premium of the sandbox is 14.87 USDC at most: below this, 6 decimals, the next one may be too dear. */
const ENOUGH_TO_BUY = 20_000_000n;
/** Hundreds of premiums, 6 decimals: below this there is time to mint more before anybody notices. */
export const ENOUGH_USDC = 10_000_000_000n;
/** What is minted at once, 6 decimals. */
export const MINTED_USDC = 100_000_000_000n;
/** Gas of an approval, with a margin. */
const APPROVAL_GAS = 100_000n;
/** What the wallet is given for its approval: gas may cost ten times as much by then. */
const GIVEN_GAS = 10n * APPROVAL_GAS;
/** Gas that the relayer must be able to pay: what it gives the wallet, or two purchases. */
const RELAYER_GAS = 2n * GIVEN_GAS;
/** An errand that has failed is not tried again for so many seconds. */
export const RETRY_SECONDS = 15;

/** How the newest errand of a purpose stands; `open` until it is final. `age`, of the failure, in seconds. */
export type LastErrand = { state: "open" | "done" } | { state: "failed"; message: string; age: number };

/** What was found: USDC and allowance with 6 decimals, ether and the price of a gas in wei. */
export type Condition = {
  usdc: bigint;
  /** What the cover router may take. */
  allowance: bigint;
  ether: bigint;
  gasPrice: bigint;
  /** The base fee alone is above what the operator lets a gas cost: nothing is signed. */
  tooDear: boolean;
  /** What the testnet's gas may still cost in this UTC day, in wei. */
  budgetLeft: bigint;
  /** The one with the most ether; undefined when none is at work. */
  relayer: { address: Address; ether: bigint } | undefined;
  last: Partial<Record<UpkeepPurpose, LastErrand>>;
};

export type Plan = {
  /** The errands to begin now. */
  begin: UpkeepPurpose[];
  canBuy: boolean;
  /** Why it cannot buy, or what keeps it from being kept in funds; undefined when nothing is wrong. */
  fault: string | undefined;
};

/** Ether for the approval, in wei. */
export const givenEther = ({ gasPrice }: Pick<Condition, "gasPrice">): bigint => GIVEN_GAS * gasPrice;

const doing: Readonly<Record<UpkeepPurpose, string>> = {
  sandbox_ether: "Giving it ether for its approval",
  sandbox_usdc: "Minting USDC for it",
  sandbox_approval: "Approving the cover router",
};

/** What the wallet lacks; the approval costs it gas, so ether comes before. */
function needs({ usdc, allowance, ether, gasPrice }: Condition): UpkeepPurpose[] {
  const wanted: UpkeepPurpose[] = [];
  if (usdc < ENOUGH_USDC) wanted.push("sandbox_usdc");
  if (allowance < ENOUGH_USDC) {
    wanted.push(ether < APPROVAL_GAS * gasPrice ? "sandbox_ether" : "sandbox_approval");
  }
  return wanted;
}

/** Why nothing can be sent, whatever it is. */
function gasFault({ relayer, gasPrice, tooDear, budgetLeft }: Condition): string | undefined {
  if (!relayer) return "No relayer of the testnet is at work.";
  if (tooDear) return gasTooDear;
  const least = RELAYER_GAS * gasPrice;
  if (budgetLeft < least) return gasSpent;
  if (relayer.ether >= least) return undefined;
  return `The relayer ${getAddress(relayer.address)} has ${formatEther(relayer.ether)} ETH and needs ${formatEther(least)} at the present price of gas.`;
}

/** Decides what to do, and what to tell. */
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
    const errand = last[purpose];
    if (errand?.state === "failed") faults.push(`${doing[purpose]} failed: ${errand.message}`);
  }
  const begin = wanted.filter((purpose) => {
    const errand = last[purpose];
    if (errand?.state === "open" || (errand?.state === "failed" && errand.age < RETRY_SECONDS)) return false;
    return !condition.tooDear && (purpose === "sandbox_approval" || unpaid === undefined);
  });
  return { begin, canBuy, fault: faults.length > 0 ? faults.join(" ") : undefined };
}
