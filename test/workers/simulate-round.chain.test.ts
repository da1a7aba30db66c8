/** The simulation of a signing round, against a real node, with a count of its requests. */
import { encodeErrorResult, toHex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { withMargin } from "../../lib/ledger/gas-limits.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { lower } from "../../lib/lower.ts";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import {
  latestRound,
  nextBlockAt,
  openProtocol,
  refreshFeeds,
} from "../../scripts/local/protocol/actions/index.ts";
import { openChain } from "../../workers/relayer/chain.ts";
import { purchaseCalldata } from "../../workers/relayer/purchase-calls.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { newBuyer, purchaseRequest, usdc } from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { openRoundSimulator } from "./support/round-simulator.ts";

let chain: TestChain;
let rpc: RpcProxy;

beforeAll(async () => {
  chain = await startChain({ maximumCoverage: 10n ** 13n });
  rpc = await startRpcProxy(chain.url);
});
beforeEach(() => rpc.intercept());

/** `restMs`: when a node that failed at a sequence is asked for one again. */
function newSimulator(restMs?: number) {
  const run = openRoundSimulator(chain, rpc.url, restMs);
  return (requests: readonly PurchaseRequest[]) =>
    run(requests.map((request) => ({ request, permit: undefined, ownerHasCode: false })));
}
const simulate = (requests: readonly PurchaseRequest[]) => newSimulator()(requests);

/** The premium of 100 USDC of the first product. */
const PREMIUM = 292_000n;

test.each([
  { how: "one request", hasMethod: true },
  { how: "requests for each purchase, on a node without eth_simulateV1", hasMethod: false },
])("each purchase runs after those before it, with $how", async ({ hasMethod }) => {
  rpc.intercept(async (call, forward) =>
    !hasMethod && call.method === "eth_simulateV1" ? { error: { code: -32601, message: "no" } } : forward(),
  );
  const rich = await newBuyer(chain);
  const without = await newBuyer(chain, { approve: false });
  const before = new Map(rpc.counts);
  const { block, capacityLeft, purchases } = await simulate([
    purchaseRequest(rich.address),
    purchaseRequest(without.address),
    { ...purchaseRequest(rich.address), coverageAmount: usdc(4_200_000) },
    { ...purchaseRequest(rich.address), coverageAmount: usdc(4_200_000) },
    purchaseRequest(rich.address),
  ]);
  expect(purchases).toMatchObject([
    { kind: "buys", premium: PREMIUM },
    { kind: "reverts", revert: { name: "ERC20InsufficientAllowance" } },
    { kind: "buys" },
    { kind: "reverts", revert: { name: "InsufficientCapacity" } },
    { kind: "buys", premium: PREMIUM },
  ]);
  // A vault with 3.5 million for payouts of 80 %: 3.36 million and two payouts of 80.
  expect(capacityLeft).toBe(usdc(3_500_000 - 3_360_000 - 160));
  expect(block).toBe(await chain.client.getBlockNumber());
  if (hasMethod) {
    const asked = [...rpc.counts].filter(([method, count]) => count > (before.get(method) ?? 0));
    expect(asked.map(([method]) => method)).toEqual(["eth_getBlockByNumber", "eth_simulateV1"]);
  }
});

test("each purchase of a round has enough gas to be mined first", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  const [[alone], both] = [
    (await simulate([request])).purchases,
    (await simulate([request, request])).purchases,
  ];
  expect(both).toEqual([alone, alone]);
});

test("the gas with its margin is enough for the transaction", async () => {
  const buyer = await newBuyer(chain);
  const [one] = (await simulate([purchaseRequest(buyer.address)])).purchases;
  if (one?.kind !== "buys") throw new Error(`it ${one?.kind}`);
  const call = {
    from: lower(chain.relayer.address),
    to: lower(chain.deployment.contracts.coverRouter),
    data: purchaseCalldata(purchaseRequest(buyer.address)),
  };
  await openChain(chain.deployment, chain.url).call({ ...call, gas: withMargin(one.gas) }, "latest");
  expect(withMargin(one.gas)).toBeGreaterThan(await openChain(chain.deployment, chain.url).estimateGas(call));
});

/** Answers the simulation with failed calls in the first place and nothing else. */
const answerFailed = (call: Record<string, unknown>, block: Record<string, unknown> = {}) =>
  rpc.intercept(async ({ method }, forward) =>
    method === "eth_simulateV1"
      ? {
          result: [
            {
              number: "0x8",
              parentHash: `0x${"7".repeat(64)}`,
              ...block,
              calls: [{ status: "0x0", gasUsed: "0x5208", ...call }],
            },
          ],
        }
      : forward(),
  );

test("a revert is read from geth's answer, and the block that it ran on", async () => {
  const data = encodeErrorResult({ abi: coverRouterAbi, errorName: "ContractPaused" });
  answerFailed({ returnData: "0x", error: { code: 3, message: "execution reverted", data } });
  const { block, capacityLeft, purchases } = await simulate([purchaseRequest(chain.owner.address)]);
  expect(purchases).toMatchObject([{ kind: "reverts", revert: { name: "ContractPaused" } }]);
  expect([block, capacityLeft]).toEqual([7n, 0n]);
});

test("a failure without a reason is looked at alone: it may be the node's limit on a sequence's gas", async () => {
  answerFailed({ returnData: "0x", error: { code: -32015, message: "out of gas" } });
  const able = await newBuyer(chain);
  expect((await simulate([purchaseRequest(able.address)])).purchases).toMatchObject([{ kind: "unknown" }]);
  const without = await newBuyer(chain, { approve: false });
  expect((await simulate([purchaseRequest(without.address)])).purchases).toMatchObject([
    { kind: "reverts", revert: { name: "ERC20InsufficientAllowance" } },
  ]);
});

test("a node that refuses a sequence gets single calls, and a sequence again after a while", async () => {
  rpc.intercept(async (call, forward) =>
    call.method === "eth_simulateV1"
      ? { error: { code: -38026, message: "client adjusted gas limit" } }
      : forward(),
  );
  const requests = [purchaseRequest((await newBuyer(chain)).address)];
  const asked = () => rpc.counts.get("eth_simulateV1") ?? 0;
  // Each time for the latest state, and for that of the newest block that was read.
  for (const [restMs, times] of [
    [undefined, 2],
    [0, 4],
  ] as const) {
    const before = asked();
    const run = newSimulator(restMs);
    for (let n = 0; n < 2; n += 1)
      expect((await run(requests)).purchases).toMatchObject([{ kind: "buys", premium: PREMIUM }]);
    expect(asked() - before).toBe(times);
  }
});

/** The parameters of an `eth_simulateV1`, as far as a time needs them. */
const simulateParams = z.tuple([z.object({ blockStateCalls: z.array(z.looseObject({})) }), z.unknown()]);

test.each([
  { left: 1n, kind: "buys" },
  { left: 0n, kind: "reverts" },
])(
  "purchases run a second after the newest block: one $kind when its price is stale in more than $left s",
  async ({ left, kind }) => {
    const protocol = openProtocol(chain.deployment, chain.url);
    const requests = [purchaseRequest((await newBuyer(chain)).address)];
    const id = await chain.client.snapshot();
    await refreshFeeds(protocol, chain.owner);
    const { updatedAt } = await latestRound(protocol, "BTC");
    const head = updatedAt + BigInt(MAX_PRICE_AGE) - left;
    await nextBlockAt(protocol, head);
    await chain.client.mine({ blocks: 1 });
    // As geth does where it is told no time.
    rpc.intercept(async (call, forward) => {
      if (call.method !== "eth_simulateV1") return forward();
      const [{ blockStateCalls }, at] = simulateParams.parse(call.params);
      const blocks = blockStateCalls.map((block) => ({
        blockOverrides: { time: toHex(head + 12n) },
        ...block,
      }));
      return forward({ method: call.method, params: [{ blockStateCalls: blocks }, at] });
    });
    expect((await simulate(requests)).purchases).toMatchObject([{ kind }]);
    await chain.client.revert({ id });
  },
);

test("a block that comes between the time and the simulation does not end sequences", async () => {
  const requests = [purchaseRequest((await newBuyer(chain)).address)];
  // As geth does with a time that is not after its latest block's.
  rpc.intercept(async (call, forward) =>
    call.method === "eth_simulateV1" && call.params[1] === "latest"
      ? { error: { code: -38021, message: "block timestamps must be in order" } }
      : forward(),
  );
  const alone = rpc.counts.get("eth_estimateGas");
  expect((await simulate(requests)).purchases).toMatchObject([{ kind: "buys", premium: PREMIUM }]);
  expect(rpc.counts.get("eth_estimateGas")).toBe(alone);
});

test("an error of every call is no answer", async () => {
  rpc.intercept(async () => ({ error: { code: -32000, message: "header not found" } }));
  await expect(simulate([purchaseRequest(chain.owner.address)])).rejects.toThrow("header not found");
});
