/** Purchases in the ledger, accepted as by the api, and their results on the chain. */
import {
  type Address,
  getAbiItem,
  type Hex,
  type LocalAccount,
  parseAbiItem,
  toFunctionSelector,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { acceptPurchases } from "../../api/buying/accept-purchases.ts";
import type { Funds } from "../../api/buying/refusal-reasons.ts";
import type { Permit } from "../../lib/chain/permit.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { isSettled, type Purchase, type PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { noteOutcomeReceived, readPurchase } from "../../lib/ledger/purchases.ts";
import { catalogue, type ProductName } from "../../lib/products.ts";
import { openPurchaseQueue } from "../../lib/queues/queue.ts";
import { approveUsdc, mintUsdc, openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import type { TestChain } from "./chain.ts";
import { atEnd } from "./cleanup.ts";
import { redisOf } from "./redis.ts";
import type { RpcCall } from "./rpc-proxy.ts";

/** USDC base units of a whole number of dollars. */
export const usdc = (dollars: number): bigint => BigInt(dollars) * 1_000_000n;

/** A new account with USDC, an allowance for the router, and ether for the approval. */
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

/** Funds so high that a buyer's purchases do not limit each other. */
export const plenty: Funds = { block: 2n ** 62n, balance: 2n ** 255n, allowance: 2n ** 255n };

const purchaseSelector = toFunctionSelector(getAbiItem({ abi: coverRouterAbi, name: "purchasePolicyFor" }));

/** Whether a call is the writer's simulation: of a round of purchases, or of one call as an estimate or an `eth_call`. */
export const isSimulation = ({ method, params: [request] }: RpcCall): boolean =>
  method === "eth_simulateV1" ||
  method === "eth_estimateGas" ||
  (method === "eth_call" && JSON.stringify(request ?? null).includes(`"${purchaseSelector}`));

export type TestLedger = {
  readonly connection: Connection;
  /**
   * Accepts a purchase, quoted at its coverage unless told otherwise, and wakes the writer. The agent is the buyer itself, or an account
   * to which the buyer has delegated. @returns the row's id.
   */
  readonly buy: (
    request: PurchaseRequest,
    idempotencyKey?: string,
    quotedPremium?: bigint,
    permit?: Permit,
    agent?: Address,
  ) => Promise<string>;
  readonly read: (id: string) => Promise<Purchase>;
  /** Waits until the purchase is mined, confirmed or failed, and records that a caller has received the result. */
  readonly settled: (id: string) => Promise<Purchase>;
  /** Waits until the chain's node has the purchase's transaction. */
  readonly atNode: (id: string) => Promise<void>;
  /** Waits until the purchase is in this state. */
  readonly inState: (id: string, state: Purchase["state"]) => Promise<Purchase>;
};

/** Accepts purchases as the api does: inserts ledger rows and a key for each wallet, and wakes the writer through the queue. */
export async function openLedger(
  chain: TestChain,
  { databaseUrl, redisUrl }: { databaseUrl: string; redisUrl?: string },
): Promise<TestLedger> {
  await migrateService(databaseUrl);
  const connection = connect(databaseUrl, { name: "test" });
  const api = connect(asApi(databaseUrl), { name: "test-api" });
  const queue = openPurchaseQueue({
    databaseUrl: asApi(databaseUrl),
    redisUrl: redisUrl ?? (await redisOf(databaseUrl)),
  });
  atEnd(async () => {
    await queue.close();
    await Promise.all([api.close(), connection.close()]);
  });

  const read = async (id: string): Promise<Purchase> => {
    const purchase = await readPurchase(connection.sql, id);
    if (!purchase) throw new Error(`no purchase ${id}`);
    return purchase;
  };
  const until = (id: string, what: string, test: (purchase: Purchase) => boolean) =>
    waitFor({
      what: `purchase ${id} to be ${what}`,
      probe: async () => {
        const purchase = await read(id);
        return test(purchase) ? purchase : undefined;
      },
      intervalMs: 25,
    });

  return {
    connection,
    read,
    async buy(request, idempotencyKey, quotedPremium = request.coverageAmount, permit, agent) {
      const wallet = agent ?? request.buyer;
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
        quotedPremium,
        funds: plenty,
        permit,
      };
      const accepted = (await acceptPurchases(api, [purchase])).get(purchase);
      if (!accepted || !("purchase" in accepted))
        throw new Error(`the purchase was not accepted: ${accepted?.outcome}`);
      // An unreachable queue is no fault, because the writer's sweeper finds the row.
      await queue.wake(accepted.purchase.id).catch(() => {});
      return accepted.purchase.id;
    },
    async settled(id) {
      const purchase = await until(id, "settled", isSettled);
      await noteOutcomeReceived(connection.sql, id);
      return purchase;
    },
    async atNode(id) {
      await waitFor({
        what: `the node to have the transaction of purchase ${id}`,
        probe: async () => {
          const purchase = await read(id);
          if (purchase.state !== "broadcast") return undefined;
          const { txHash: hash } = purchase;
          return chain.client.getTransaction({ hash }).catch(() => undefined);
        },
        intervalMs: 25,
      });
    },
    inState: (id, state) => until(id, state, (purchase) => purchase.state === state),
  };
}

/** The hashes of all attempts at these purchases, sorted. */
export async function signedForms({ sql }: Connection, ...purchaseIds: readonly string[]): Promise<Hex[]> {
  const rows = await sql<{ hash: Hex }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent = any(${[...purchaseIds]}::uuid[])`;
  return rows.map(({ hash }) => hash).sort();
}

const purchased = parseAbiItem(
  "event PolicyPurchased(bytes32 indexed productId, uint256 indexed policyId, address indexed buyer, uint256 coverage, uint256 premium, uint256 payout, address paidBy)",
);

/** The buyer's policies on the chain, from its logs. */
export const policiesOnChain = (chain: TestChain, buyer: Address) =>
  chain.client.getLogs({
    address: chain.deployment.contracts.coverRouter,
    event: purchased,
    args: { buyer },
    fromBlock: 0n,
    strict: true,
  });
