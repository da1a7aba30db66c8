/** Purchases with permits in the simulation of a signing round. */
import { numberToHex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { MAX_PERMIT_GAS, type Permit } from "../../lib/chain/permit.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { newBuyer, purchaseRequest, usdc } from "../support/ledger.ts";
import { signPermit } from "../support/permit.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { openRoundSimulator } from "./support/round-simulator.ts";

/** The premium of 100 USDC of the first product. */
const PREMIUM = 292_000n;

let chain: TestChain;
let rpc: RpcProxy;
beforeAll(async () => {
  chain = await startChain();
  rpc = await startRpcProxy(chain.url);
});
beforeEach(() => rpc.intercept());

/** The parameters of an `eth_simulateV1`. */
const simulated = z.tuple([
  z.object({
    blockStateCalls: z.array(z.object({ calls: z.array(z.object({ gas: z.string().optional() })) })),
  }),
  z.unknown(),
]);

/** `permit` is that of the first purchase. */
const simulate = (requests: readonly PurchaseRequest[], permit: Permit) =>
  openRoundSimulator(
    chain,
    rpc.url,
  )(requests.map((request, n) => ({ request, permit: n === 0 ? permit : undefined, ownerHasCode: false })));

test("a contract wallet that burns gas in its permit's check leaves the gas to the purchases after it", async () => {
  const burner = await newBuyer(chain, { approve: false });
  // JUMPDEST, PUSH1 0, JUMP: an endless loop.
  await chain.client.setCode({ address: burner.address, bytecode: "0x5b600056" });
  const rich = await newBuyer(chain);
  const requests = [burner, rich, rich].map(({ address }) => purchaseRequest(address));
  const permit = await signPermit(chain, burner, { value: PREMIUM });
  // Anvil gives each call the gas of a whole block, geth what those before it left: the limit is seen in the request.
  const limits: unknown[] = [];
  rpc.intercept(async (call, forward) => {
    if (call.method === "eth_simulateV1") {
      const [{ blockStateCalls }] = simulated.parse(call.params);
      limits.push(...blockStateCalls.flatMap(({ calls }) => calls.map(({ gas }) => gas ?? "none")));
    }
    return forward();
  });
  expect((await simulate(requests, permit)).purchases).toMatchObject([
    {
      kind: "reverts",
      revert: {
        name: "ERC20InsufficientAllowance",
        text: expect.stringContaining("its permit would revert"),
      },
    },
    { kind: "buys" },
    { kind: "buys" },
  ]);
  // The allowance, the permit, three purchases, the vault's capacity.
  expect(limits).toEqual(["none", numberToHex(MAX_PERMIT_GAS), "none", "none", "none", "none"]);
});

describe("on a node without eth_simulateV1", () => {
  beforeEach(() =>
    rpc.intercept(async (call, forward) =>
      call.method === "eth_simulateV1" ? { error: { code: -32601, message: "no" } } : forward(),
    ),
  );

  test("a permit is sent alone, before its purchase can be simulated", async () => {
    const buyer = await newBuyer(chain, { approve: false });
    const permit = await signPermit(chain, buyer, { value: PREMIUM });
    const { purchases } = await simulate([purchaseRequest(buyer.address)], permit);
    expect(purchases).toMatchObject([{ kind: "needs_permit" }]);
  });

  test("a permit is not sent for a buyer who lacks the premium", async () => {
    const buyer = await newBuyer(chain, { approve: false, dollars: 0 });
    const permit = await signPermit(chain, buyer, { value: PREMIUM });
    const { purchases } = await simulate([purchaseRequest(buyer.address)], permit);
    expect(purchases).toMatchObject([{ kind: "reverts", revert: { name: "ERC20InsufficientBalance" } }]);
  });

  test("a permit is not sent for a purchase that fails whatever its allowance is", async () => {
    const buyer = await newBuyer(chain, { approve: false });
    const permit = await signPermit(chain, buyer, { value: usdc(1_000_000) });
    const request = { ...purchaseRequest(buyer.address), coverageAmount: usdc(99) };
    expect((await simulate([request], permit)).purchases).toMatchObject([
      { kind: "reverts", revert: { name: "InvalidCoverage" } },
    ]);
  });
});
