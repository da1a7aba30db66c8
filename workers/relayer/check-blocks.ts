import type { Address } from "viem";
import {
  confirmBlocks,
  dropBlocks,
  raiseWatermarks,
  type SettlingBlock,
  type StoredOutcome,
  settlingBlocks,
} from "../ledger/outcomes.ts";
import { ownTransactions } from "../ledger/transactions.ts";
import type { Block, Receipt } from "./chain.ts";
import type { ChainContext } from "./chain-context.ts";
import { purchasedPolicy } from "./purchase-calls.ts";
import { didAsAsked, type SettleReceipts } from "./settle-receipts.ts";

type ConfirmContext = Pick<ChainContext, "sql" | "chain" | "chainId" | "log"> & {
  /** How deep a block must lie for its outcomes to be final; 0 is the head. */
  confirmations: number;
  coverRouter: Address;
  settleReceipts: SettleReceipts;
};

/**
 * Compares the blocks that settled transactions with the chain's blocks at the same heights: those that are not final, and
 * after a reorganisation also final ones. An unchanged block that lies deep enough makes its outcomes final; those of a
 * replaced block are open again. Final is only what the receipts say once more at that depth: one false answer of a node makes no
 * outcome. Two requests per block, not per transaction.
 *
 * @returns whether transactions fell out of the chain, so that their bytes are to be sent again.
 */
export async function checkBlocks(
  context: ConfirmContext,
  head: Pick<Block, "number">,
  reorganised: boolean,
): Promise<boolean> {
  const { sql, chain, chainId, confirmations, log } = context;
  const deep = head.number - BigInt(confirmations);
  const settling = await settlingBlocks(sql, chainId, reorganised ? head.number : deep, {
    final: reorganised,
  });
  const current = await Promise.all(settling.map(({ number }) => chain.block(number)));
  // A node without a block at this height proves nothing about it.
  const known = settling.flatMap((block, index) => {
    const now = current[index];
    return now ? [{ ...block, stays: now.hash === block.hash }] : [];
  });
  const dropped = await dropBlocks(
    sql,
    chainId,
    known.filter(({ stays }) => !stays),
  );
  if (dropped.length > 0)
    log.warn({ hashes: dropped }, "transactions fell out of the chain with their blocks");
  const confirmed = await Promise.all(
    known
      .filter(({ stays, number }) => stays && number <= deep)
      .map(async (block) => ((await saysTheSame(context, block)) ? [block] : [])),
  );
  await confirmBlocks(sql, chainId, confirmed.flat());
  await raiseWatermarks(sql, chainId, deep);
  return dropped.length > 0;
}

/**
 * Whether the receipts of a block say what the ledger has of its transactions. Those that say something else are settled anew, and the
 * block is asked again at the next head.
 */
async function saysTheSame(
  { sql, chain, chainId, coverRouter, settleReceipts, log }: ConfirmContext,
  { number, hash, outcomes }: SettlingBlock & { readonly outcomes: readonly StoredOutcome[] },
): Promise<boolean> {
  // An empty transfer has no outcome but its nonce.
  const judged = outcomes.filter(({ kind, outcome }) => kind !== "filler" && outcome !== "replaced");
  if (judged.length === 0) return true;
  const hashes = judged.map((one) => one.hash);
  const receipts = (await chain.receiptsIn({ number }, hashes)).filter(({ blockHash }) => blockHash === hash);
  const isSame = (receipt: Receipt, { kind, outcome, policyId }: StoredOutcome): boolean => {
    const done = didAsAsked({ kind }, receipt, coverRouter);
    if (!done || outcome !== "done") return done === (outcome === "done");
    return kind !== "purchase" || String(purchasedPolicy(receipt.logs, coverRouter)?.policyId) === policyId;
  };
  const others = receipts.filter((receipt) =>
    judged.some((stored) => stored.hash === receipt.hash && !isSame(receipt, stored)),
  );
  if (others.length === 0) return receipts.length === judged.length;
  const changed = others.map((receipt) => receipt.hash);
  log.error({ hashes: changed }, "the node tells another outcome of transactions than before");
  await settleReceipts(await ownTransactions(sql, chainId, changed), others);
  return false;
}
