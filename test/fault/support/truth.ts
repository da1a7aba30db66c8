/** What must hold whatever failed, counted on the chain. */
import { type Address, isAddressEqual } from "viem";
import { expect } from "vitest";
import { waitFor } from "../../../scripts/local/wait.ts";
import { policiesOnChain } from "../../support/ledger.ts";
import type { Told } from "./client.ts";
import type { World } from "./world.ts";

/** A purchase of one of the world's buyers, and what each of its callers was told. */
export type Bought = {
  readonly planned: { readonly buyer: number; readonly key: string };
  readonly told: readonly Told[];
};

type Policy = Awaited<ReturnType<typeof policiesOnChain>>[number];

const ofPolicy = ({ transactionHash, blockNumber, args }: Policy) => ({
  txHash: transactionHash,
  blockNumber: Number(blockNumber),
  policyId: String(args.policyId),
  buyer: args.buyer,
  productId: args.productId,
  coverageAmount: String(args.coverage),
  premiumPaid: String(args.premium),
});

/** Each key is one policy of the chain's, all its callers were told of that one, and at most one of them made it. */
export async function expectOnePolicyPerKey(
  world: World,
  bought: readonly Bought[],
  fromBlock = 0n,
): Promise<void> {
  const buyers: Address[] = world.buyers.map(({ account }) => account.address);
  const found = (await Promise.all(buyers.map((buyer) => policiesOnChain(world.chain, buyer))))
    .flat()
    .filter(({ blockNumber }) => blockNumber >= fromBlock)
    .map(ofPolicy);
  const claimed = bought.map(({ planned, told }) => {
    const [first, ...others] = told.map(({ receipt }) => receipt);
    if (!first) throw new Error("nobody asked");
    for (const other of others) expect(other, `two receipts of ${planned.key}`).toEqual(first);
    expect(told.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
    const buyer = buyers[planned.buyer];
    expect(buyer && isAddressEqual(buyer, first.buyer as Address), "somebody else's policy").toBe(true);
    const { purchaseId: _, ...receipt } = first;
    return receipt;
  });
  const byHash = (a: { txHash: string }, b: { txHash: string }) => a.txHash.localeCompare(b.txHash);
  expect(claimed.toSorted(byHash)).toEqual(found.toSorted(byHash));
}

/** Every nonce of this chain that was given out is used on it, and by a row of the ledger. */
export async function expectNoGaps({
  chain,
  connection,
}: Pick<World, "chain" | "connection">): Promise<void> {
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
    timeoutMs: 60_000,
  }).catch(() => {}); // said better by what follows
  for (const { address, next, rows, mined } of await state()) {
    expect({ address, next, rows }).toEqual({ address, next: mined, rows: mined });
  }
}

/** Nothing that the ledger calls failed is on the chain. */
export async function expectNoFalseFailures({ chain, connection }: World): Promise<void> {
  const failed = await connection.sql<{ id: string; hash: `0x${string}` }[]>`
    select p.id, a.hash from service.purchase p
      join service.transaction t on t.purchase_id = p.id join service.attempt a on a.transaction_id = t.id
    where p.state not in ('accepted', 'signed', 'broadcast', 'mined', 'confirmed')`;
  for (const { id, hash } of failed) {
    const receipt = await chain.client.getTransactionReceipt({ hash }).catch(() => undefined);
    expect(receipt?.status, `purchase ${id} is called failed`).not.toBe("success");
  }
}
