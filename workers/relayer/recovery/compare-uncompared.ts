import { costOf } from "../../ledger/call-cost.ts";
import {
  FENCE,
  fencedBlock,
  noteCompared,
  noteFenced,
  placeFence,
  type UncomparedWallet,
  uncomparedWallets,
} from "../../ledger/fences.ts";
import { compareNonce } from "../compare-nonces.ts";
import { initialFees } from "../fees.ts";
import { signAssigned } from "../send-round.ts";
import { canSign, type Wallet } from "../wallets.ts";
import { emptyTransfer, HEADS, type RecoveryContext } from "./context.ts";

/**
 * Compares the wallets that nobody has compared with the chain since the database's server was started. Its own wallets a writer fences;
 * those that cannot be fenced are compared at the block of a fence, or after so many heads that no node is behind any more.
 */
export async function compareUncompared(context: RecoveryContext): Promise<void> {
  const { sql, chainId, wallets, log } = context;
  const uncompared = await uncomparedWallets(sql, chainId);
  const [first] = uncompared;
  const head = context.height();
  if (!first || head === undefined) {
    context.comparing = undefined;
    return;
  }
  if (context.comparing?.server !== first.server) {
    context.comparing = { server: first.server, from: head };
    const addresses = uncompared.map(({ address }) => address);
    log.warn(
      { chainId, wallets: addresses },
      "commits may have been lost: wallets are compared before any signs",
    );
  }
  const isLate = head - context.comparing.from >= HEADS;
  const unfenced: UncomparedWallet[] = [];
  for (const one of uncompared) {
    const own = wallets.leased.get(one.address);
    const isFenced = own !== undefined && !one.halted && (await fence(context, own));
    // Another writer fences those that it holds.
    if (isLate || !(isFenced || (one.held && !own))) unfenced.push(one);
  }
  await noteFenced(sql, chainId);
  const at = isLate ? head : await fencedBlock(sql, chainId);
  if (at !== undefined) for (const one of unfenced) await compareAt(context, one, at);
}

/** Compares a wallet with its count in the blocks up to `at`, and with that of the node's pool, if it is higher. */
async function compareAt(context: RecoveryContext, wallet: UncomparedWallet, at: bigint): Promise<void> {
  const { sql, chain, chainId } = context;
  const { address } = wallet;
  const counts = await Promise.all([chain.nonce(address, at), chain.nonce(address, "pending")]);
  await compareNonce(context, address, Math.max(...counts));
  await noteCompared(sql, chainId, wallet);
}

/** Gives a wallet's next nonces to empty transfers, once, and sends them. @returns false where it cannot pay for them, or sign */
async function fence(context: RecoveryContext, wallet: Wallet): Promise<boolean> {
  const { sql, chain, market, price, maxCallFee } = context;
  const { address, lease } = wallet;
  const fees = initialFees(await market.now(), maxCallFee);
  if (!canSign(wallet) || !fees) return false;
  await compareNonce(context, address, await chain.nonce(address, "pending"));
  const call = await price(emptyTransfer(wallet));
  const cost = costOf(call, fees.maxFee);
  if ((await chain.balance(address)) < cost * BigInt(FENCE)) return false;
  const fillers = await placeFence(sql, lease, call);
  if (fillers.length === 0) return true;
  context.log.warn({ wallet: address, from: fillers[0]?.nonce, count: fillers.length }, "fenced a wallet");
  const calls = fillers.map(({ id, nonce }) => ({
    ...{ id: String(id), transactionId: id, nonce, isEmpty: true, cancels: false, call, cost },
  }));
  const sent = await signAssigned(context, wallet, fees, calls);
  await Promise.all(sent.map(({ broadcast }) => broadcast));
  return true;
}
