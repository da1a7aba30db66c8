import { erc20Abi, getAbiItem, isAddressEqual } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import type { Revert } from "../../lib/chain/reverts.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import { smaller } from "../common/bigints.ts";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Chain, Receipt } from "./chain.ts";
import { purchaseOfCalldata } from "./purchase-calls.ts";

/** Why a purchase failed: a code of the API, and a message that contains the contract's reason where there is one. */
export type Failure = { code: ErrorCode; message: string };

/** Reverts with a code of their own; every other revert is `onchain_revert`. */
const codes: Readonly<Record<string, ErrorCode>> = {
  ContractPaused: "contract_paused",
  "Protocol auto-paused: LUMINA price below safety threshold": "contract_paused",
  SEQUENCER_DOWN: "sequencer_down",
  ORACLE_STALE: "oracle_stale",
  ProductNotConfigured: "invalid_product",
  ProductNotFound: "invalid_product",
  ProductInactive: "product_inactive",
  ProductNotActive: "product_inactive",
  // The minimum is checked at acceptance.
  InvalidCoverage: "coverage_above_maximum",
  InsufficientCapacity: "coverage_above_maximum",
  OracleStale: "oracle_stale",
  OracleInsufficientCardinality: "oracle_stale",
  PriceDeviationTooHigh: "oracle_stale",
  NotAuthorizedRelayer: "not_authorized_relayer",
};

/** The failure of a purchase that reverted in its simulation; nothing was signed and nothing spent. */
export function simulatedFailure(revert: Revert): Failure {
  const code = Object.hasOwn(codes, revert.name) ? codes[revert.name] : undefined;
  return { code: code ?? "onchain_revert", message: `The purchase would revert: ${revert.text}` };
}

/** The failure of a purchase that would take more than its buyer was quoted at acceptance; 6 decimals. */
export const premiumRisen = (quoted: bigint, premium: bigint): Failure => ({
  code: "price_mismatch",
  message: `The premium rose from ${quoted} to ${premium} (USDC, 6 decimals) before the purchase was signed. Nothing was spent.`,
});

/** The reverts of a lacking allowance: MockUSDC's error, and that of the live USDC. */
const allowanceReverts: readonly string[] = [
  "ERC20InsufficientAllowance",
  "ERC20: transfer amount exceeds allowance",
];

/** The revert of a purchase whose premium could be taken at the end of its block, and not at its place in the block. */
export const lackedFundsInBlock: Revert = {
  name: "buyer's funds",
  text: "the buyer's USDC or allowance did not suffice at this place in the block",
  data: "0x",
};

/** The reverts of a buyer's own making: the premium could not be taken. */
const buyersReverts: readonly string[] = [
  ...allowanceReverts,
  lackedFundsInBlock.name,
  "ERC20InsufficientBalance",
  "ERC20: transfer amount exceeds balance",
  "Blacklistable: account is blacklisted",
];

/** Whether the buyer's allowance was too low. */
export const isAllowanceRevert = ({ name }: Revert): boolean => allowanceReverts.includes(name);

/** Whether the buyer's funds, allowance or account caused a revert. */
export const isBuyersRevert = ({ name }: Revert): boolean => buyersReverts.includes(name);

/**
 * The failure of a purchase that reverted in a block, always a 502; `revert` is undefined when it is not known. Every other
 * revert than {@link buyersReverts} is the protocol's: a pause, a lack of capacity, an oracle; a client must not pay for it.
 */
export function minedFailure(
  blockNumber: bigint,
  revert: Revert | undefined,
): Failure & { failedBy: "buyer" | "protocol" } {
  const reason = revert ? revert.text : "the reason could not be read";
  return {
    code: "onchain_revert",
    message: `The transaction reverted in block ${blockNumber}: ${reason}`,
    failedBy: revert && isBuyersRevert(revert) ? "buyer" : "protocol",
  };
}

/** The failures of purchases that were accepted and may no longer be signed. */
export const operatorStopped: Failure = {
  code: "purchases_stopped",
  message: "The operator has stopped this purchase before it was signed. Nothing was spent.",
};
export const buyerPaused: Failure = {
  code: "purchases_paused",
  message: "Three purchases or permits of this buyer reverted within an hour: it may buy again in an hour.",
};
export const keyRevoked: Failure = {
  code: "unauthenticated",
  message: "The key was revoked before the purchase was signed. Nothing was spent.",
};
export const delegationEnded: Failure = {
  code: "buyer_not_authorized",
  message:
    "The buyer's delegation was revoked or has expired before the purchase was signed. Nothing was spent.",
};
export const walletBudgetSpent: Failure = {
  code: "gas_budget_exceeded",
  message: "The gas that the purchases of this key's wallet may cost in a day (UTC) is spent.",
};
export const codeBudgetSpent: Failure = {
  code: "gas_budget_exceeded",
  message:
    "The gas that permits of contract wallets may cost in a day (UTC) is spent. Approve the router on chain, and buy without a permit.",
};
export const dayBudgetSpent: Failure = {
  code: "relayer_unavailable",
  message: "The gas that all purchases may cost in a day (UTC) is spent.",
};
/** No relayer wallet could sign: each lacked ether, was stopped by the operator, or has a signer that did not sign. */
export const noRelayerCouldPay: Failure = {
  code: "relayer_unavailable",
  message:
    "No relayer could sign, pay the gas, or was allowed to, in time. Nothing was signed and nothing was spent.",
};

/** It was accepted while the chain had transactions that the ledger lacks: any of them may be an earlier, lost purchase. */
export const transactionsUnknown: Failure = {
  code: "relayer_unavailable",
  message:
    "The relayer's transactions are being compared with the chain; nothing new is signed meanwhile. Repeat the call with the same key.",
};

/** The failure of a purchase that was replaced by an empty transfer. */
export const replacedFailure = (blockNumber: bigint): Failure => ({
  code: "purchase_expired",
  message: `The purchase was not mined in time; an empty transfer took its place in block ${blockNumber}. The buyer has paid nothing.`,
});

/** The failure of a purchase that was not signed in time, because the chain did not answer. */
export const chainNotAnswering: Failure = {
  code: "chain_not_found",
  message: "The chain did not answer in time. Nothing was signed and nothing was spent.",
};

/** The failure of a purchase that was not signed in time for another reason. */
export const notSignedInTime: Failure = {
  code: "purchase_expired",
  message: "The purchase was not signed in time. Nothing was spent.",
};

// What the router could take from a buyer at a purchase's place in its block.

const transfer = getAbiItem({ abi: erc20Abi, name: "Transfer" });
const approval = getAbiItem({ abi: erc20Abi, name: "Approval" });

/**
 * Whether the buyer's USDC or allowance was too low when its purchase ran, even if it suffices at the end of the block. Computed
 * from both before the block, and from USDC's logs before the purchase. False where the node has another block by now.
 */
export async function lackedFunds(
  chain: Chain,
  { to: router, data }: Pick<Call, "to" | "data">,
  { hash, blockHash, blockNumber }: Pick<Receipt, "hash" | "blockHash" | "blockNumber">,
): Promise<boolean> {
  const request = purchaseOfCalldata(data);
  const block = await chain.block(blockNumber);
  if (!request || block?.hash !== blockHash) return false;
  const { buyer, productId, coverageAmount } = request;
  const { client } = chain;
  const ofRouter = { address: router, abi: coverRouterAbi, blockNumber } as const;
  const [usdc, [premium]] = await Promise.all([
    client.readContract({ ...ofRouter, functionName: "usdc" }),
    client.readContract({ ...ofRouter, functionName: "quotePremium", args: [productId, coverageAmount] }),
  ]);
  const before = { address: usdc, abi: erc20Abi, blockNumber: blockNumber - 1n } as const;
  const inBlock = { address: usdc, blockHash, strict: true } as const;
  const [balance, allowance, received, paid, approved] = await Promise.all([
    client.readContract({ ...before, functionName: "balanceOf", args: [buyer] }),
    client.readContract({ ...before, functionName: "allowance", args: [buyer, router] }),
    client.getLogs({ ...inBlock, event: transfer, args: { to: buyer } }),
    client.getLogs({ ...inBlock, event: transfer, args: { from: buyer } }),
    client.getLogs({ ...inBlock, event: approval, args: { owner: buyer, spender: router } }),
  ]);
  const place = block.transactions.indexOf(hash);
  const isBefore = ({ transactionIndex }: { transactionIndex: number }) => transactionIndex < place;
  const sum = (logs: typeof paid) =>
    logs.filter(isBefore).reduce((total, { args }) => total + args.value, 0n);
  const lastApproval = approved.findLast(isBefore);
  // A premium uses up the allowance without a log of its own.
  const premiumsSince = paid.filter(
    ({ args, logIndex }) => isAddressEqual(args.to, router) && logIndex > (lastApproval?.logIndex ?? -1),
  );
  const available = smaller(
    balance + sum(received) - sum(paid),
    (lastApproval?.args.value ?? allowance) - sum(premiumsSince),
  );
  return available < premium;
}
