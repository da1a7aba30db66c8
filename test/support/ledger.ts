/** Purchases in the ledger, as the api puts them there, and what became of them on the chain. */
import { type Address, getAbiItem, type LocalAccount, parseAbiItem, toFunctionSelector } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { acceptPurchases } from "../../api/buying/accept.ts";
import type { Funds } from "../../api/buying/guards.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { isSettled, type Purchase, type PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { noteTold, readPurchase } from "../../lib/ledger/purchases.ts";
import { catalogue, type ProductName } from "../../lib/products.ts";
import { openPurchaseQueue } from "../../lib/queues.ts";
import { approveUsdc, mintUsdc, openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import type { TestChain } from "./chain.ts";
import { atEnd } from "./cleanup.ts";
import { redisOf } from "./redis.ts";
import type { RpcCall } from "./rpc-proxy.ts";

/** USDC base units of a whole number of dollars. */
export const usdc = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;

/** An account with USDC that lets the router take all of it; it owns ether for its approval and nothing else. */
export async function newBuyer(
  chain: TestChain,
  { dollars = 1_000_000, approve = true } = {},
): Promise<LocalAccount> {
  const buyer = privateKeyToAccount(generatePrivateKey());
  const protocol = openProtocol(chain.deployment, chain.url);
  await chain.client.setBalance({ address: buyer.address, value: 10n ** 18n });
  await mintUsdc(protocol, chain.owner, buyer.address, usdc(dollars));
  if (approve) await approveUsdc(protocol, buyer, chain.deployment.contracts.coverRouter);
  return buyer;
}

export function purchaseRequest(
  buyer: Address,
  name: ProductName = "FLASHBTC1H-001",
  dollars = 100,
): PurchaseRequest {
  const entry = catalogue.find((product) => product.name === name);
  if (!entry) throw new Error(`no product ${name}`);
  return { productId: entry.productId, asset: entry.asset, coverageAmount: usdc(dollars), buyer };
}

/** Of a buyer whose purchases are not to be held up by each other. */
export const plenty: Funds = { block: 2n ** 62n, balance: 2n ** 255n, allowance: 2n ** 255n };

const purchaseSelector = toFunctionSelector(getAbiItem({ abi: coverRouterAbi, name: "purchasePolicyFor" }));

/** Whether a call is the writer's simulation of a purchase: an estimate, or a plain call of the same function. */
export const isSimulation = ({ method, params: [request] }: RpcCall): boolean =>
  method === "eth_estimateGas" ||
  (method === "eth_call" && JSON.stringify(request ?? null).includes(`"${purchaseSelector}`));

export type TestLedger = {
  readonly connection: Connection;
  /** Accepts a purchase and wakes the writer; the row's id. */
  readonly buy: (request: PurchaseRequest, idempotencyKey?: string) => Promise<string>;
  readonly read: (id: string) => Promise<Purchase>;
  /** Waits until the purchase is mined, confirmed or failed, and counts as a caller who was told. */
  readonly settled: (id: string, timeoutMs?: number) => Promise<Purchase>;
  /** Waits until the purchase is in this state. */
  readonly inState: (id: string, state: Purchase["state"], timeoutMs?: number) => Promise<Purchase>;
};

/** Does what the api does: the ledger's rows, a key for each wallet, and wake-ups through the queue. */
export async function openLedger(
  chain: TestChain,
  { databaseUrl, redisUrl }: { databaseUrl: string; redisUrl?: string },
): Promise<TestLedger> {
  await migrateService(databaseUrl);
  const connection = connect(databaseUrl, { name: "test" });
  const queue = openPurchaseQueue({ databaseUrl, redisUrl: redisUrl ?? (await redisOf(databaseUrl)) });
  atEnd(async () => {
    await queue.close();
    await connection.close();
  });

  const read = async (id: string): Promise<Purchase> => {
    const purchase = await readPurchase(connection.db, id);
    if (!purchase) throw new Error(`no purchase ${id}`);
    return purchase;
  };
  const until = (id: string, what: string, test: (purchase: Purchase) => boolean, timeoutMs: number) =>
    waitFor({
      what: `purchase ${id} to be ${what}`,
      probe: async () => {
        const purchase = await read(id);
        return test(purchase) ? purchase : undefined;
      },
      timeoutMs,
      intervalMs: 25,
    });

  return {
    connection,
    read,
    async buy(request, idempotencyKey) {
      const wallet = request.buyer;
      const [key] = await connection.sql<{ id: string }[]>`
        insert into service.api_key (key_hash, wallet, tier) values (${wallet.toLowerCase()}, ${wallet.toLowerCase()}, 'paid')
        on conflict (key_hash) do update set tier = 'paid' returning id`;
      const purchase = {
        chainId: chain.deployment.chainId,
        router: chain.deployment.contracts.coverRouter,
        wallet,
        keyId: Number(key?.id),
        idempotencyKey: idempotencyKey ?? null,
        request,
        quotedPremium: 0n,
        funds: plenty,
      };
      const accepted = (await acceptPurchases(connection, [purchase])).get(purchase);
      if (!accepted || !("purchase" in accepted)) throw new Error(`not accepted: ${accepted?.outcome}`);
      // A queue that is away is no fault: the writer's sweeper finds the row.
      await queue.wake(accepted.purchase.id).catch(() => {});
      return accepted.purchase.id;
    },
    async settled(id, timeoutMs = 60_000) {
      const purchase = await until(id, "settled", isSettled, timeoutMs);
      await noteTold(connection.db, id);
      return purchase;
    },
    inState: (id, state, timeoutMs = 60_000) =>
      until(id, state, (purchase) => purchase.state === state, timeoutMs),
  };
}

/** The hashes of all that was signed for a purchase: one transaction, with a higher fee in later forms. */
export async function signedForms({ sql }: Connection, purchaseId: string): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.purchase_id = ${purchaseId}`;
  return rows.map(({ hash }) => hash);
}

const purchased = parseAbiItem(
  "event PolicyPurchased(bytes32 indexed productId, uint256 indexed policyId, address indexed buyer, uint256 coverage, uint256 premium, uint256 payout, address paidBy)",
);

/** The policies that the chain says a buyer has, counted from its own logs. */
export const policiesOnChain = (chain: TestChain, buyer: Address) =>
  chain.client.getLogs({
    address: chain.deployment.contracts.coverRouter,
    event: purchased,
    args: { buyer },
    fromBlock: 0n,
    strict: true,
  });
