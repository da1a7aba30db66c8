import { costOf } from "../../ledger/assign-nonces.ts";
import { LeaseLost } from "../../ledger/leases.ts";
import { lacksFinal, reopenFinal } from "../../ledger/outcomes.ts";
import { busyWallets, type OpenTransaction, openTransactions } from "../../ledger/transactions.ts";
import { initialFees } from "../fees.ts";
import { signAssigned } from "../send-round.ts";
import { forgetLease, leasedWallets, type Wallet } from "../wallets.ts";
import { compareUncompared, compareWallet } from "./compare-wallets.ts";
import { emptyTransfer, type RecoveryContext } from "./context.ts";
import { isDue, LOOK_AFTER, nextStep } from "./next-step.ts";
import { affordRaises, cancelPurchase, raiseFees } from "./raise-fees.ts";
import { closeNonceGaps, settleUsedNonces } from "./used-nonces.ts";

/** Most open transactions of a wallet that one round handles, lowest nonces first. */
const ROUND = 200;
/**
 * How often the chain's count of an idle wallet is asked for, in ms: another program may have its key, or a deep reorganisation undid
 * final transactions.
 */
const COUNT_AGAIN_MS = 30_000;
/** A round signs cancellations no longer, in ms: the next one goes on. A signer may take a second for each. */
const CANCELLING_MS = 20_000;

/**
 * Takes open transactions of our wallets to an outcome, also those that another writer signed: sends stored bytes
 * again, finds transactions that were mined while no writer watched, raises the fees of stuck ones, replaces a purchase
 * that waited too long with an empty transfer, closes nonce gaps. Rejects when the node or the database is down.
 */
export async function recover(context: RecoveryContext): Promise<void> {
  if (leasedWallets(context.wallets).length > 0) await compareUncompared(context);
  const wallets = await walletsToRecover(context);
  // A fault of one wallet must not stop the recovery of the others.
  const results = await Promise.allSettled(wallets.map((wallet) => recoverWallet(context, wallet)));
  const faults = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  for (const fault of faults) if (fault instanceof LeaseLost) forgetLease(context.wallets, fault.lease);
  const other = faults.find((fault) => !(fault instanceof LeaseLost));
  if (other !== undefined) throw other;
}

/** The leased wallets with something to recover. While there is none, one statement finds that for all of them. */
async function walletsToRecover(context: RecoveryContext): Promise<Wallet[]> {
  const { sql, chain, chainId, wallets, finalMissingAt, countedAt } = context;
  const leased = leasedWallets(wallets);
  if (leased.length === 0) return [];
  const counts = await Promise.all(
    leased.map(async ({ address }) => {
      const now = performance.now();
      if (now - (countedAt.get(address) ?? -Infinity) < COUNT_AGAIN_MS)
        return { address, mined: null, pooled: null };
      const [mined, pooled] = await Promise.all([
        chain.nonce(address, "latest"),
        chain.nonce(address, "pending"),
      ]);
      countedAt.set(address, now);
      return { address, mined, pooled };
    }),
  );
  const busy = await busyWallets(sql, chainId, counts);
  // A difference that is over is to be forgotten, too.
  return leased.filter(({ address }) => busy.has(address) || finalMissingAt.has(address));
}

async function recoverWallet(context: RecoveryContext, wallet: Wallet): Promise<void> {
  const { sql, chain, chainId, market, send, ttl } = context;
  const { address } = wallet;
  const open = await openTransactions(sql, chainId, address, ROUND);
  const [lowest] = open;
  // Under load all transactions are young.
  const isYoung = ({ attempts, openFor }: OpenTransaction) =>
    (attempts.length === 0 ? openFor : (attempts.at(-1)?.sentAgo ?? Infinity)) < LOOK_AFTER;
  if (lowest && open.every(isYoung)) return;
  const [minedNonce, pooledNonce, { baseFee }] = await Promise.all([
    chain.nonce(address, "latest"),
    chain.nonce(address, "pending"),
    market.now(),
  ]);
  await compareWallet(context, wallet, pooledNonce);
  await reopenLacked(context, wallet, minedNonce);
  if (!lowest) return;
  const height = context.height();
  const noNewBlock = height !== undefined && context.repeatedAt.get(address) === height;
  const view = { minedNonce, pooledNonce, baseFee, noNewBlock };
  const steps = open.map((transaction) => ({ transaction, step: nextStep(transaction, view, ttl) }));
  if (steps.some(({ step }) => step.do === "send" || step.do === "bump"))
    context.repeatedAt.set(address, height);
  const used = steps.flatMap(({ transaction, step }) => (step.do === "look" ? [transaction] : []));
  await signUnsigned(
    context,
    wallet,
    steps.flatMap(({ transaction, step }) =>
      step.do === "sign" ? [{ transaction, cancels: step.cancels }] : [],
    ),
  );
  await Promise.all(steps.flatMap(({ step }) => (step.do === "send" ? [send(step.attempt, "again")] : [])));
  const stuck = steps.flatMap(({ transaction, step }) =>
    step.do === "bump" ? [{ transaction, attempt: step.attempt }] : [],
  );
  const raised = await raiseFees(context, wallet, stuck);
  const unchanged = stuck.filter(({ transaction, attempt }) => !raised.has(transaction.id) && isDue(attempt));
  await Promise.all(unchanged.map(({ attempt }) => send(attempt, "again")));
  // The highest nonces first: a purchase whose permit is cancelled and mined before it would revert, at our cost.
  const until = performance.now() + CANCELLING_MS;
  for (const { transaction, step } of steps.toReversed()) {
    if (performance.now() > until) break;
    if (step.do === "cancel" && !(await cancelPurchase(context, wallet, transaction, step.attempt))) break;
  }
  if (used.length > 0) await settleUsedNonces(context, wallet, used);
  if (!lowest.halted) await closeNonceGaps(context, wallet, lowest, view);
}

/**
 * Signs and sends calls that have nonces and no bytes, or the empty transfers that cancel them. Where gas costs more than
 * the cap, the next round tries again. A call that costs more than it has reserved waits, as a higher fee does, while the day's
 * gas budget or the balance does not allow it, and with it everything behind it. An empty transfer itself does not wait for the
 * budget.
 */
async function signUnsigned(
  context: RecoveryContext,
  wallet: Wallet,
  unsigned: readonly { transaction: OpenTransaction; cancels: boolean }[],
): Promise<void> {
  if (unsigned.length === 0) return;
  const fees = initialFees(await context.market.now(), context.maxCallFee);
  if (!fees) return;
  const priced = await Promise.all(
    unsigned.map(async ({ transaction: { id, nonce, kind, reserved, ...call }, cancels }) => {
      const { to, data, value, gasLimit } = call;
      const one = await context.price(cancels ? emptyTransfer(wallet) : { to, data, value, gasLimit });
      const isEmpty = cancels || kind === "filler";
      return { id, nonce, reserved, isEmpty, cancels, call: one, cost: costOf(one, fees.maxFee) };
    }),
  );
  const costlier = priced.filter(({ isEmpty, cost, reserved }) => !isEmpty && cost > reserved);
  const afforded = costlier.length === 0 ? [] : await affordRaises(context, wallet, costlier);
  const waiting = costlier.find((one) => !afforded.includes(one));
  if (waiting) {
    const reason = "the gas budget or the wallet's balance does not allow its cost at the present fee";
    context.log.warn({ wallet: wallet.address, nonce: waiting.nonce, reason }, "a call without bytes waits");
  }
  const calls = priced
    .filter(({ nonce }) => !waiting || nonce < waiting.nonce)
    .map(({ id, ...one }) => ({ ...one, id: String(id), transactionId: id }));
  const sent = await signAssigned(context, wallet, fees, calls);
  if (sent.length > 0) {
    const signed = calls.filter(({ id }) => sent.some((one) => one.id === id));
    context.log.warn(
      { wallet: wallet.address, nonces: signed.map(({ nonce }) => nonce) },
      "signed calls whose nonces had no bytes",
    );
  }
  await Promise.all(sent.map(({ broadcast }) => broadcast));
}

/**
 * Opens final transactions again that the chain lacks, because a reorganisation went deeper than the watched blocks. A
 * node that is behind, or syncs anew, lacks them too: two heads must agree, each at least as high as a block of such a
 * transaction, and the nonce is read at the head's own height.
 */
async function reopenLacked(
  { sql, chain, chainId, finalMissingAt, log }: RecoveryContext,
  { address }: Wallet,
  minedNonce: number,
): Promise<void> {
  const head = (await lacksFinal(sql, chainId, address, minedNonce)) && (await chain.block("latest"));
  const atHead = head ? await chain.nonce(address, head.number) : minedNonce;
  if (!head || !(await lacksFinal(sql, chainId, address, atHead, head.number))) {
    finalMissingAt.delete(address);
    return;
  }
  const first = finalMissingAt.get(address) ?? head.number;
  finalMissingAt.set(address, first);
  if (head.number === first) return;
  finalMissingAt.delete(address);
  const hashes = await reopenFinal(sql, chainId, address, atHead);
  log.error(
    { wallet: address, minedNonce: atHead, hashes },
    "a deep reorganisation undid final transactions: they are sent again",
  );
}
