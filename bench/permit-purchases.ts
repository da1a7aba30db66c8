/** Purchases that come with permits, each by a buyer of its own, and as many plain ones in turn. */

import type { LocalAccount } from "viem";
import { permitTypes } from "../lib/chain/permit.ts";
import { freePort } from "../scripts/local/ports.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { CONNECTIONS, inTurn, measureService, openAgentsOf } from "./measure-purchases.ts";
import { type Agents, buyAtFullLoad, createKeys, openAgents, type PermitBody } from "./purchase-load.ts";
import { type PurchasesStack, untilFinal } from "./purchases-stack.ts";
import { type Finding, median } from "./report.ts";
import { startRpcMeter } from "./rpc-meter.ts";

const PURCHASES = 1000;
const ROUNDS = 3;
/** A permit and its purchase. */
const TRANSACTIONS = 2;
/** What each permit allows, more than a premium: 10 USDC, with 6 decimals. */
const VALUE = 10_000_000n;
/** In the year 2100, in Unix seconds. */
const DEADLINE = 4_102_444_800n;

/** A buyer's permit with this nonce, as the body of a purchase has it. */
async function signPermit(
  { chain: { deployment } }: PurchasesStack,
  buyer: LocalAccount,
  nonce: bigint,
): Promise<PermitBody> {
  const { usdc, coverRouter } = deployment.contracts;
  const signature = await buyer.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: deployment.chainId, verifyingContract: usdc },
    types: permitTypes,
    primaryType: "Permit",
    message: { owner: buyer.address, spender: coverRouter, value: VALUE, nonce, deadline: DEADLINE },
  });
  return { value: String(VALUE), deadline: String(DEADLINE), signature };
}

/** Buys once per buyer, each with its permit of this nonce. @returns purchases a second. */
async function buyWithPermits(
  stack: PurchasesStack,
  agents: Agents,
  name: string,
  { buyers, nonce }: { buyers: readonly LocalAccount[]; nonce: number },
): Promise<number> {
  const permits = await Promise.all(buyers.map((buyer) => signPermit(stack, buyer, BigInt(nonce))));
  const { length: count } = buyers;
  const buy = () => buyAtFullLoad(agents, name, inTurn(count), permits);
  return (await measureService(stack, count, buy, TRANSACTIONS)).perSecond;
}

/** The rates of both in turn, and then the RPC calls of those with permits. */
export async function measurePermits(
  stack: PurchasesStack,
  { purchases = PURCHASES, rounds = ROUNDS } = {},
): Promise<Finding[]> {
  const buyers = await stack.newBuyers(purchases);
  const addresses = buyers.map(({ address }) => address);
  const [plain, permits]: [number[], number[]] = [[], []];
  const services = await stack.serve(stack.chain.url);
  const agents = await openAgentsOf(stack, services);
  // A wallet has three keys at most: one here and one of the metered service.
  const ofBuyers = async ({ apiUrl, settings }: ServiceStack) =>
    openAgents([apiUrl], await createKeys(apiUrl, settings.adminToken, addresses), CONNECTIONS);
  const permitted = await ofBuyers(services);
  await measureService(stack, CONNECTIONS, () => buyAtFullLoad(agents, "warm-permits", inTurn(CONNECTIONS)));
  for (let nonce = 0; nonce < rounds; nonce += 1) {
    await untilFinal(stack);
    const buy = () => buyAtFullLoad(agents, `plain-${nonce}`, inTurn(purchases));
    plain.push((await measureService(stack, purchases, buy)).perSecond);
    await untilFinal(stack);
    permits.push(await buyWithPermits(stack, permitted, `permit-${nonce}`, { buyers, nonce }));
  }
  await Promise.all([agents.close(), permitted.close()]);
  await untilFinal(stack);
  await services.stop();

  const meter = await startRpcMeter(stack.chain.url, await freePort());
  const metered = await stack.serve(meter.url);
  const meteredAgents = await ofBuyers(metered);
  meter.reset();
  await buyWithPermits(stack, meteredAgents, "permit-metered", { buyers, nonce: rounds });
  const calls = [...meter.calls.values()].reduce((total, count) => total + count, 0);
  await meteredAgents.close();
  await metered.stop();
  await meter.stop();
  return [
    { what: `${purchases} purchases in turn, respond-async`, value: median(plain), unit: "/s" },
    {
      what: `${purchases} with a permit, each of its own buyer`,
      value: median(permits),
      unit: "/s",
      compared: { with: median(plain) },
    },
    { what: "RPC calls per purchase with a permit", value: calls / purchases, unit: "" },
  ];
}
