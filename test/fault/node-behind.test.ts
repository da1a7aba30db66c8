/**
 * The writer's node is a block behind the node that a client or the api has asked. What this proves: an approval that was
 * just mined counts, and a lack of funds is an answer only once the next block shows it too.
 */
import { numberToHex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { approveUsdc, openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import type { TestChain } from "../support/chain.ts";
import {
  isSimulation,
  newBuyer,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { changePremium, premiumOf } from "../support/protocol-actions.ts";
import { askRpc, type RpcProxy } from "../support/rpc-proxy.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

let chain: TestChain;
let proxy: RpcProxy;
let ledger: TestLedger;

beforeAll(async () => {
  ({ chain, proxy, ledger } = await startWriterSetup());
});
afterEach(() => proxy.intercept());

/** Lets the first simulation run after this block. @returns how many there were. */
function simulateFirstAt(block: bigint): () => number {
  let simulations = 0;
  proxy.intercept(async (call, forward) => {
    if (!isSimulation(call)) return forward();
    simulations += 1;
    return simulations === 1
      ? askRpc(chain.url, call.method, [call.params[0], numberToHex(block)])
      : forward();
  });
  return () => simulations;
}

test("an approval that the writer's node has not seen at the first simulation counts: bought", async () => {
  const buyer = await newBuyer(chain, { approve: false });
  const before = await chain.client.getBlockNumber();
  await approveUsdc(openProtocol(chain.deployment, chain.url), buyer, chain.deployment.contracts.coverRouter);
  const simulations = simulateFirstAt(before);
  const purchase = await ledger.settled(await ledger.buy(purchaseRequest(buyer.address)));
  expect(purchase).toMatchObject({ receipt: { policyId: expect.any(BigInt) } });
  expect(simulations()).toBeGreaterThan(1);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
});

test("a premium that fell before the purchase, and that the writer's node has not seen fall: bought", async () => {
  const buyer = await newBuyer(chain);
  const protocol = openProtocol(chain.deployment, chain.url);
  const request = purchaseRequest(buyer.address);
  const quoted = (request.coverageAmount * (await premiumOf(protocol, "FLASHBTC1H-001"))) / 1_000_000n;
  await changePremium(protocol, chain.owner, "FLASHBTC1H-001", 100);
  const dear = await chain.client.getBlockNumber();
  await changePremium(protocol, chain.owner, "FLASHBTC1H-001", -100);
  const simulations = simulateFirstAt(dear);
  const purchase = await ledger.settled(await ledger.buy(request, undefined, quoted));
  expect(purchase).toMatchObject({ receipt: { premiumPaid: quoted } });
  expect(simulations()).toBeGreaterThan(1);
});

test("a buyer without an approval is refused once the next block shows it too", async () => {
  const buyer = await newBuyer(chain, { approve: false });
  const heads = new Set<bigint>();
  proxy.intercept(async (call, forward) => {
    if (isSimulation(call)) heads.add(await chain.client.getBlockNumber());
    return forward();
  });
  const purchase = await ledger.settled(await ledger.buy(purchaseRequest(buyer.address)));
  expect(purchase).toMatchObject({ state: "failed", code: "onchain_revert", txHash: null });
  expect(heads.size).toBeGreaterThan(1);
});
