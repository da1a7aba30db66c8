import { erc20Abi } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import type { CallRequest } from "../../lib/chain/simulate-calls.ts";
import { withMargin } from "../../lib/ledger/gas-limits.ts";
import { costOf, coverInFlight, type WantedCall, type WantedGroup } from "../ledger/assign-nonces.ts";
import { type Candidate, readCandidates } from "../ledger/gas-spending.ts";
import { purchaseIdentity } from "../ledger/intent-marks.ts";
import { SIGN_WITHIN_SECONDS, type WaitingPurchase } from "../ledger/waiting.ts";
import {
  choosePurchases,
  outcomesOf,
  outcomesOfChoice,
  type SigningOutcome,
  type SigningOutcomes,
} from "./choose-purchases.ts";
import { type Fees, initialFees } from "./fees.ts";
import { permitCall, purchaseCall, type RoundMarks, type RoundPurchase } from "./purchase-calls.ts";
import type { RelayContext } from "./relay-purchase.ts";
import { sendRound } from "./send-round.ts";
import type { SimulatedRound } from "./simulate-round.ts";
import { canSign, resumeWallet, suspendWallet, type Wallet } from "./wallets.ts";

/** Most purchases that are signed together. */
const ROUND = 50;
/** Most of them whose buyer's own code checks a permit. */
const CODE_PERMITS = 5;

/**
 * A purchase that buys in its round's simulation, for no more than was quoted, or the permit that it needs before; `payout` with 6
 * decimals.
 */
type AblePurchase = Pick<RoundPurchase, "marks" | "ownerHasCode"> & {
  purchase: WaitingPurchase;
  permitGasLimit: bigint | undefined;
} & ({ kind: "buys"; gas: bigint; payout: bigint } | { kind: "needs_permit" });

/**
 * The payouts of transactions in flight may take what the vault has left, and `missing` more (6 decimals). Once those are mined, a
 * simulation shows what they took.
 */
class CapacityInDoubt extends Error {
  override message = "the payouts of transactions in flight may take the vault's capacity";
  readonly missing: bigint;

  constructor(missing: bigint) {
    super();
    this.missing = missing;
  }
}

/** Signs a purchase in the wallet's next round, together with all others that wait for that round. */
export async function signInNextRound(
  context: RelayContext,
  wallet: Wallet,
  purchase: WaitingPurchase,
): Promise<SigningOutcome> {
  const round =
    context.rounds.get(wallet) ??
    createBatcher((purchases: WaitingPurchase[]) => signRound(context, wallet, purchases), ROUND);
  context.rounds.set(wallet, round);
  return (await round(purchase)).get(purchase.id) ?? { kind: "taken" };
}

const byAcceptance = (a: WaitingPurchase, b: WaitingPurchase): number =>
  a.acceptedAt.getTime() - b.acceptedAt.getTime() || (a.id < b.id ? -1 : 1);

/**
 * Simulates the purchases one after the other, oldest first, and sends those that buy as far as the budgets and the wallet's
 * balance allow. Rejects when the node does not answer to the simulation.
 */
async function signRound(
  context: RelayContext,
  wallet: Wallet,
  purchases: readonly WaitingPurchase[],
): Promise<SigningOutcomes> {
  const { meter } = context;
  // The round before may have found out.
  if (!canSign(wallet)) return waiting(purchases, "the wallet's signer does not sign");
  // The queue and the sweeper may both have brought the same one.
  const inOrder = [...new Map(purchases.map((one) => [one.id, one])).values()].sort(byAcceptance);
  const ids = inOrder.map(({ id }) => id);
  meter.signing(ids);
  const prepared = await Promise.all(inOrder.map((purchase) => prepare(context, wallet, purchase)));
  // Strangers' code comes last, and a little of it at a time.
  const withCode = prepared.filter(({ ownerHasCode }) => ownerHasCode);
  const left = withCode.slice(CODE_PERMITS);
  const tried = [...prepared.filter(({ ownerHasCode }) => !ownerHasCode), ...withCode.slice(0, CODE_PERMITS)];
  const round = await context.simulateRound(wallet.address, tried);
  meter.simulated(ids);

  const able = tried.flatMap(({ purchase, marks, ownerHasCode }, n): AblePurchase[] => {
    const one = round.purchases[n];
    if (one?.kind === "needs_permit") return [{ purchase, marks, ownerHasCode, ...one }];
    const buys = one?.kind === "buys" && one.premium <= purchase.quotedPremium;
    return buys ? [{ purchase, marks, ownerHasCode, ...one }] : [];
  });
  const sent = await sendOrWait(context, wallet, round, able);
  return new Map([
    ...outcomesOf(
      tried.map(({ purchase }) => purchase),
      round,
      sent,
    ),
    ...waiting(
      left.map(({ purchase }) => purchase),
      "permits of other contract wallets go first",
    ),
  ]);
}

/** What a purchase's simulation needs. A permit of a contract counts only where it raises the allowance. */
async function prepare(
  context: RelayContext,
  wallet: Wallet,
  purchase: WaitingPurchase,
): Promise<RoundPurchase & { purchase: WaitingPurchase }> {
  const { chain, usdc, coverRouter } = context;
  const { request } = purchase;
  const { buyer } = request;
  const marks = await marksOf(context, wallet, purchase);
  const without = { purchase, request, permit: undefined, ownerHasCode: false, marks };
  if (purchase.permit?.state !== "unsent") return without;
  const { permit } = purchase.permit;
  if (!(await chain.hasCode(buyer))) return { ...without, permit };
  const args = [buyer, coverRouter] as const;
  const read = { address: usdc, abi: erc20Abi, functionName: "allowance", args } as const;
  const raises = (await chain.client.readContract(read)) < permit.value;
  return raises ? { ...without, permit, ownerHasCode: true } : without;
}

/** The marks of a purchase's calls, and of its permit, which belongs to the same intent. */
async function marksOf(
  { markOf, chainId }: RelayContext,
  { address }: Wallet,
  purchase: WaitingPurchase,
): Promise<RoundMarks> {
  const sender = { chainId, address };
  const identity = purchaseIdentity(purchase);
  return {
    purchase: await markOf(sender, { kind: "purchase", ...identity }),
    permit: await markOf(sender, { kind: "permit", ...identity }),
  };
}

const waiting = (purchases: readonly { id: string }[], reason: unknown): SigningOutcomes =>
  new Map(purchases.map(({ id }) => [id, { kind: "waits", reason }]));

/** Sends the purchases. If that is not possible they wait; if the vault's capacity is in doubt, only the largest of them do. */
async function sendOrWait(
  context: RelayContext,
  wallet: Wallet,
  round: SimulatedRound,
  able: readonly AblePurchase[],
): Promise<SigningOutcomes> {
  try {
    return await sendAble(context, wallet, round, able);
  } catch (reason) {
    if (!(reason instanceof CapacityInDoubt)) return waiting(purchasesOf(able), reason);
    const left = leaveOut(able, reason.missing);
    const capacityLeft = round.capacityLeft + payoutOf(left);
    const others = able.filter((one) => !left.includes(one));
    const sent = await sendOrWait(context, wallet, { ...round, capacityLeft }, others);
    return new Map([...sent, ...waiting(purchasesOf(left), reason)]);
  }
}

const purchasesOf = (able: readonly AblePurchase[]) => able.map(({ purchase }) => purchase);

const payoutOf = (purchases: readonly AblePurchase[]): bigint =>
  purchases.reduce((sum, one) => sum + payoutOfOne(one), 0n);

const payoutOfOne = (one: AblePurchase): bigint => (one.kind === "buys" ? one.payout : 0n);

/** The fewest purchases, the largest first, that leave `missing` to the others; at least one. */
function leaveOut(able: readonly AblePurchase[], missing: bigint): AblePurchase[] {
  const bySize = able.toSorted((a, b) => Number(payoutOfOne(b) - payoutOfOne(a)));
  const count = bySize.findIndex((_, n) => payoutOf(bySize.slice(0, n + 1)) >= missing);
  return count < 0 ? bySize : bySize.slice(0, count + 1);
}

/**
 * Begins to broadcast as many of the purchases as the budgets and the wallet's balance allow. Rejects when gas costs more than
 * the cap, when the node or the database is down, and with LeaseLost.
 */
async function sendAble(
  context: RelayContext,
  wallet: Wallet,
  { block, capacityLeft }: SimulatedRound,
  able: readonly AblePurchase[],
): Promise<SigningOutcomes> {
  if (able.length === 0) return new Map();
  const { market, wallets, maxCallFee, budgets, meter } = context;
  const [now, balance] = await Promise.all([market.now(), context.balanceOf(wallet.address)]);
  const fees = initialFees(now, maxCallFee);
  if (!fees) throw new Error("gas costs more than the cap");
  const groups = await Promise.all(able.map((one) => groupOf(context, wallet, fees, one)));
  const wanted = new Map(groups.map((group) => [group.id, group]));
  const { choice, sent } = await sendRound(context, wallet, fees, {
    candidates: (tx) => readCandidates(tx, wallet.lease, [...wanted.keys()], SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates, spending) => choosePurchases(candidates, wanted, spending, { ...budgets, balance }),
    async verify(tx, { send }) {
      const ids = send.map(({ id }) => id);
      const missing = (await coverInFlight(tx, context.chainId, block, ids)) - capacityLeft;
      if (missing > 0n) throw new CapacityInDoubt(missing);
    },
  });
  meter.signed(sent.filter(({ id }) => wanted.has(id)));
  if (choice.walletFault !== undefined) suspendWallet(wallets, wallet.address, choice.walletFault);
  else if (choice.send.length > 0) resumeWallet(wallets, wallet.address);
  return outcomesOfChoice(choice, new Map(sent.map(({ id, broadcast }) => [id, broadcast])));
}

/** The calls of a purchase with what they may cost: its permit where it needs one, and its own. */
async function groupOf(
  context: RelayContext,
  wallet: Wallet,
  fees: Fees,
  one: AblePurchase,
): Promise<WantedGroup> {
  const { id, request, permit } = one.purchase;
  const calling = { request, marks: one.marks };
  const { address } = wallet;
  const priced = async ({ to, data }: CallRequest, gasLimit: bigint) => {
    const call = await context.price({ to, data, value: 0n, gasLimit });
    return { call, cost: costOf(call, fees.maxFee) };
  };
  const calls: WantedCall[] = [];
  if (permit && one.permitGasLimit !== undefined) {
    const call = await priced(permitCall(context, address, calling, permit.permit), one.permitGasLimit);
    const runsCodeOf = one.ownerHasCode ? request.buyer : null;
    calls.push({ kind: "permit", id: permit.id, purchaseId: id, ...call, runsCodeOf });
  }
  if (one.kind === "buys") {
    const call = await priced(purchaseCall(context, address, calling), withMargin(one.gas));
    calls.push({ kind: "purchase", id, ...call });
  }
  return { id, calls };
}
