/** Purchases of the service and transactions sent to the chain directly, as both are measured. */
import { encodeFunctionData, type Hex } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { type Agents, type Answer, type BuyerKey, createKeys, openAgents, PRODUCT } from "./purchase-load.ts";
import type { PurchasesStack } from "./purchases-stack.ts";
import { minedOf, sendAndMine, signCalls, untilMined } from "./raw-transactions.ts";

export const CONNECTIONS = 100;
const MINED_WITHIN_MS = 120_000;
/** More than a purchase uses, by the same margin as the service's. */
const RAW_GAS = 600_000n;

/** Load that fills all connections, without or with waiting for the outcome. */
export const inTurn = (count: number) => ({ count, connections: CONNECTIONS, wait: false });
export const waitingFor = (count: number) => ({ count, connections: CONNECTIONS, wait: true });

/** Creates a key for each of the stack's buyers. */
export const createKeysOf = (
  { buyers }: PurchasesStack,
  { apiUrl, settings }: ServiceStack,
): Promise<BuyerKey[]> =>
  createKeys(
    apiUrl,
    settings.adminToken,
    buyers.map(({ address }) => address),
  );

export const openAgentsOf = async (stack: PurchasesStack, services: ServiceStack): Promise<Agents> =>
  openAgents([services.apiUrl], await createKeysOf(stack, services), CONNECTIONS);

/** Signs `count` purchases from other wallets, in an order in which they can be sent. */
export async function signRaw(
  { node, chain: { deployment }, buyers, rivals }: PurchasesStack,
  count: number,
): Promise<Hex[]> {
  const product = entryByName(PRODUCT);
  if (!product) throw new Error(`the catalogue lacks ${PRODUCT}`);
  const signed = await Promise.all(
    rivals.map(async (rival, index) => {
      const own = Array.from({ length: count / rivals.length }, (_, n) => {
        const buyer = buyers[(n * rivals.length + index) % buyers.length];
        if (!buyer) throw new Error("there are no buyers");
        const data = encodeFunctionData({
          abi: coverRouterAbi,
          functionName: "purchasePolicyFor",
          args: [product.productId, MINIMUM_COVERAGE, product.asset, buyer.address],
        });
        return { to: deployment.contracts.coverRouter, data, gas: RAW_GAS };
      });
      return signCalls(rival, deployment.chainId, await minedOf(node, rival.address), own);
    }),
  );
  // Alternating, so that the nonces of each wallet arrive in order.
  return Array.from({ length: count }, (_, n) => {
    const bytes = signed[n % rivals.length]?.[Math.floor(n / rivals.length)];
    if (!bytes) throw new Error("too few transactions were signed");
    return bytes;
  });
}

/** Sends `count` purchases of other wallets to the chain directly. Returns the rate per second. */
export async function measureRaw(stack: PurchasesStack, count: number): Promise<number> {
  const signed = await signRaw(stack, count);
  const wallets = stack.rivals.map(({ address }) => address);
  return count / (await sendAndMine(stack.node, wallets, signed));
}

export type Measured = { perSecond: number; answers: readonly Answer[] };

/**
 * Buys and waits until all purchases are mined, each with `transactions` of the relayers. The rate covers the time from the first
 * call to the last block.
 */
export async function measureService(
  { node, relayers }: PurchasesStack,
  count: number,
  buy: () => Promise<Answer[]>,
  transactions = 1,
): Promise<Measured> {
  const wallets = relayers.map(({ address }) => address);
  const before = await Promise.all(wallets.map((wallet) => minedOf(node, wallet)));
  const goal = before.reduce((a, b) => a + b, 0) + count * transactions;
  const started = performance.now();
  const [answers] = await Promise.all([buy(), untilMined(node, wallets, goal, MINED_WITHIN_MS)]);
  return { perSecond: (count * 1000) / (performance.now() - started), answers };
}
