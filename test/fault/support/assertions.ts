/** Assertions that hold after every fault, checked against the chain. */
import { type Address, type Hex, isAddressEqual } from "viem";
import { expect } from "vitest";
import type { Connection } from "../../../lib/db/connect.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { policiesOnChain } from "../../support/ledger.ts";
import type { FinalAnswer } from "./purchase-client.ts";
import type { PurchaseSetup } from "./purchase-setup.ts";

/** A purchase of one of the setup's buyers, and the answer that each of its callers received. */
export type CompletedPurchase = {
  readonly planned: { readonly buyer: number; readonly key: string };
  readonly answers: readonly FinalAnswer[];
};

type Policy = Awaited<ReturnType<typeof policiesOnChain>>[number];

const receiptFromEvent = ({ transactionHash, blockNumber, args }: Policy) => ({
  txHash: transactionHash,
  blockNumber: Number(blockNumber),
  policyId: String(args.policyId),
  buyer: args.buyer,
  productId: args.productId,
  coverageAmount: String(args.coverage),
  premiumPaid: String(args.premium),
});

/** Each key has one policy on the chain, all its callers received that policy, and at most one of them a 201. */
export async function expectOnePolicyPerKey(
  setup: Pick<PurchaseSetup, "chain" | "buyers">,
  purchases: readonly CompletedPurchase[],
  fromBlock = 0n,
): Promise<void> {
  const buyers: Address[] = setup.buyers.map(({ account }) => account.address);
  const onChain = (await Promise.all(buyers.map((buyer) => policiesOnChain(setup.chain, buyer))))
    .flat()
    .filter(({ blockNumber }) => blockNumber >= fromBlock)
    .map(receiptFromEvent);
  const received = purchases.map(({ planned, answers }) => {
    const [first, ...others] = answers.map(({ receipt }) => receipt);
    if (!first) throw new Error("no call was made");
    for (const other of others) expect(other, `two receipts of ${planned.key}`).toEqual(first);
    expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
    const buyer = buyers[planned.buyer];
    expect(buyer && isAddressEqual(buyer, first.buyer as Address), "somebody else's policy").toBe(true);
    const { purchaseId: _, ...receipt } = first;
    return receipt;
  });
  const byHash = (a: { txHash: string }, b: { txHash: string }) => a.txHash.localeCompare(b.txHash);
  expect(received.toSorted(byHash)).toEqual(onChain.toSorted(byHash));
}

/**
 * Each purchase was signed for one nonce only, and one of its forms is a policy on the chain. A transaction that waits
 * long gets another form with a higher fee: that cannot buy twice, because the nonce is the same.
 */
export async function expectOneNonceEach(
  { sql }: Connection,
  purchaseIds: readonly string[],
  policies: readonly { readonly transactionHash: Hex }[],
): Promise<void> {
  const forms = await sql<{ purchase: string; transaction: string; hash: Hex; fee: string }[]>`
    select t.intent as purchase, t.id as transaction, a.hash, a.max_fee as fee
    from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent = any(${[...purchaseIds]}::uuid[]) order by a.id`;
  const mined = new Set(policies.map(({ transactionHash }) => transactionHash));
  for (const id of purchaseIds) {
    const own = forms.filter(({ purchase }) => purchase === id);
    expect(new Set(own.map(({ transaction }) => transaction)).size, `nonces of purchase ${id}`).toBe(1);
    expect(
      own.some(({ hash }) => mined.has(hash)),
      `purchase ${id} is a policy on the chain`,
    ).toBe(true);
    const fees = own.map(({ fee }) => BigInt(fee));
    const areRising = fees.every((fee, n) => n === 0 || fee > (fees[n - 1] ?? fee));
    expect(areRising, `purchase ${id} was signed again only for higher fees: ${fees}`).toBe(true);
  }
}

/** Every nonce that the ledger gave out on this chain is mined, and belongs to a transaction of the ledger. */
export async function expectNoNonceGaps({
  chain,
  connection,
}: Pick<PurchaseSetup, "chain" | "connection">): Promise<void> {
  const { chainId } = chain.deployment;
  const state = async () => {
    const wallets = await connection.sql<{ address: Address; next: string; rows: string }[]>`
      select address, next_nonce as next,
        (select count(*) from service.transaction t where t.chain_id = ${chainId} and t.wallet = w.address) as rows
      from service.relayer_wallet w where chain_id = ${chainId} order by address`;
    return Promise.all(
      wallets.map(async ({ address, next, rows }) => ({
        address,
        next: Number(next),
        rows: Number(rows),
        mined: await chain.client.getTransactionCount({ address }),
      })),
    );
  };
  await waitFor({
    what: "every nonce to be used",
    probe: async () => ((await state()).every(({ next, mined }) => next === mined) ? true : undefined),
  }).catch(() => {}); // the assertions below explain it better
  for (const { address, next, rows, mined } of await state()) {
    expect({ address, next, rows }).toEqual({ address, next: mined, rows: mined });
  }
}

/** No purchase that the ledger calls failed succeeded on the chain. */
export async function expectNoFalseFailures({
  chain,
  connection,
}: Pick<PurchaseSetup, "chain" | "connection">): Promise<void> {
  const failed = await connection.sql<{ id: string; hash: `0x${string}` }[]>`
    select p.id, a.hash from service.purchase_progress p
      join service.transaction t on t.intent = p.id join service.attempt a on a.transaction_id = t.id
    where p.state not in ('accepted', 'signed', 'broadcast', 'mined', 'confirmed')`;
  for (const { id, hash } of failed) {
    const receipt = await chain.client.getTransactionReceipt({ hash }).catch(() => undefined);
    expect(receipt?.status, `purchase ${id} is called failed`).not.toBe("success");
  }
}
