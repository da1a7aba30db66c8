/** Policies that a fall of the price makes due, and what the chain says of them. */
import type { LocalAccount } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import type { TestChain } from "../../support/chain.ts";
import { halvePrice, passDwell, payByFalls } from "../../support/falls.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import type { KeeperSetup } from "./keeper-setup.ts";

export const btc1h = termsOf("FLASHBTC1H-001");
export const eth24 = termsOf("FLASHETH24-001");
export const owner = anvilAccount(0);
export const buyer = anvilAccount(3);
/** They buy beside each other. */
const buyers = [buyer, anvilAccount(4), anvilAccount(5), anvilAccount(6)];

type OnChain = Pick<KeeperSetup, "protocol">;

/** Gives the buyer USDC and the router's approval, and the feeds fresh prices. */
export async function prepareBuyer({ protocol }: OnChain, account: LocalAccount = buyer): Promise<void> {
  await act.mintUsdc(protocol, owner, account.address, usdc(1_000_000));
  await act.approveUsdc(protocol, account, protocol.deployment.contracts.coverRouter, usdc(1_000_000));
  await act.refreshFeeds(protocol, owner);
}

/** Buys policies of 100 USDC, one after the other. @returns their ids. */
export async function buyPolicies(
  { protocol }: OnChain,
  count: number,
  product = btc1h,
  account: LocalAccount = buyer,
): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await act.purchase(protocol, account, product, usdc(100))).policyId);
  }
  return ids;
}

/** Buys many policies for several accounts. @returns their ids. */
export async function buyPoliciesAtOnce(setup: OnChain, count: number): Promise<bigint[]> {
  for (const account of buyers) await prepareBuyer(setup, account);
  const each = Math.ceil(count / buyers.length);
  const ids = await Promise.all(buyers.map((account) => buyPolicies(setup, each, btc1h, account)));
  return ids.flat();
}

/** Lets the newest policies' dwell pass, and halves the price: all can be observed. @returns the number of the round's block. */
export async function crash({ protocol }: OnChain, feed: "BTC" | "ETH" = "BTC"): Promise<bigint> {
  await passDwell(protocol);
  return halvePrice(protocol, owner, feed);
}

/** Waits until the keeper has paid all of these policies; see {@link payByFalls}. */
export const untilPaid = ({ protocol }: OnChain, ids: readonly bigint[], product = btc1h): Promise<void> =>
  payByFalls(protocol, owner, product, ids);

/** Pushes one more round at the feed's present price. @returns the number of its block. */
export async function pushLow({ protocol }: OnChain, feed: "BTC" | "ETH"): Promise<bigint> {
  const { price } = await act.latestRound(protocol, feed);
  const { blockNumber } = await act.pushPrice(protocol, owner, feed, price);
  return blockNumber;
}

/** Whether the chain says that a policy is triggered, or closed as expired. */
export async function stateOf({ protocol }: OnChain, policyId: bigint, { productId } = btc1h) {
  const { triggered, expired } = await protocol.client.readContract({
    address: protocol.deployment.contracts.policyManager,
    abi: policyManagerAbi,
    functionName: "getPolicy",
    args: [productId, policyId],
  });
  return triggered ? "triggered" : expired ? "expired" : "open";
}

/** Waits until the chain says so of all policies. */
export const untilAll = (
  setup: OnChain,
  state: "triggered" | "expired",
  ids: readonly bigint[],
  product = btc1h,
) =>
  waitFor({
    what: `${ids.length} policies to be ${state}`,
    probe: async () => {
      const states = await Promise.all(ids.map((id) => stateOf(setup, id, product)));
      return states.every((one) => one === state) || undefined;
    },
  });

/** How many transactions the keeper's wallet has on the chain. */
export const keeperNonce = ({ client }: Pick<TestChain, "client">, address: `0x${string}`) =>
  client.getTransactionCount({ address });
