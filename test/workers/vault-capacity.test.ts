/**
 * A signing round is simulated as a sequence, and payouts in flight count against the vault's capacity. What this proves: with
 * room for one payout one purchase is mined and the others are refused, with no gas, nonce or strike, also with several wallets
 * and on a node without `eth_simulateV1`; nobody pays a higher premium than was quoted.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { openProtocol, type Protocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import {
  isSimulation,
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { changePremium, premiumOf } from "../support/protocol-actions.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";

const wallets = [anvilAccount(1), anvilAccount(2)] as const;
const noSuchMethod = { error: { code: -32601, message: "the method eth_simulateV1 does not exist" } };

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;
let protocol: Protocol;

beforeAll(async () => {
  chain = await startChain({ relayers: wallets, maximumCoverage: 10n ** 13n });
  protocol = openProtocol(chain.deployment, chain.url);
  proxy = await startRpcProxy(chain.url);
  const relayerKeys = wallets.map(privateKeyOf);
  stack = await startStack({ chain, rpcUrl: proxy.url, relayerKeys, services: ["writer"] });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});

describe.each([
  { node: "a node that simulates sequences", hasMethod: true },
  { node: "a node without eth_simulateV1", hasMethod: false },
])("on $node", ({ hasMethod }) => {
  /** What the writer had said and the node was asked before these tests. */
  let earlier: { said: number; asked: number };
  const askedSoFar = () => proxy.counts.get("eth_simulateV1") ?? 0;
  const said = () => stack.output("writer").slice(earlier.said);

  beforeAll(() => {
    earlier = { said: stack.output("writer").length, asked: askedSoFar() };
    intercept();
  });
  afterEach(async () => {
    intercept();
    await chain.client.setAutomine(true);
    await chain.client.mine({ blocks: 1 });
  });

  /** Runs `before` ahead of the first simulation. */
  function intercept(before: () => Promise<unknown> = async () => {}): void {
    let begun: Promise<unknown> | undefined;
    proxy.intercept(async (call, forward) => {
      if (isSimulation(call)) {
        begun ??= before();
        await begun;
      }
      return !hasMethod && call.method === "eth_simulateV1" ? noSuchMethod : forward();
    });
  }

  /** A request that takes six tenths of what the vault has left: the payout is 80 % of the coverage. */
  async function mostOfTheVault() {
    const capacity = await chain.client.readContract({
      address: chain.deployment.contracts.bondVault,
      abi: bondVaultAbi,
      functionName: "availableCapacityUSD",
    });
    const buyer = await newBuyer(chain);
    return { ...purchaseRequest(buyer.address), coverageAmount: (capacity * 1_000_000n * 3n) / 4n };
  }

  const noncesUsed = async () => {
    const counts = wallets.map(({ address }) => chain.client.getTransactionCount({ address }));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };

  const inFlight = async () =>
    (await ledger.connection.sql`select 1 from service.transaction where state = 'open'`).length;

  test("four purchases at once, room for one: one is mined, three are refused for nothing", async () => {
    const request = await mostOfTheVault();
    const before = await noncesUsed();
    await chain.client.setAutomine(false);
    const keys = ["first", "second", "third", "fourth"];
    const ids = await Promise.all(keys.map((key) => ledger.buy(request, key)));
    await waitFor({
      what: "one to be in flight",
      probe: async () => (await inFlight()) > 0 || undefined,
    });
    // The others had a round too, and every wallet its turn.
    const waits = () => said().split(/a purchase has to wait|a purchase failed/).length - 1;
    await expect.poll(waits).toBeGreaterThanOrEqual(3);
    expect(await inFlight()).toBe(1);
    await chain.client.setAutomine(true);
    await chain.client.mine({ blocks: 1 });

    const settled = await Promise.all(ids.map((id) => ledger.settled(id)));
    const refused = settled.filter(({ state }) => state === "failed");
    expect(refused).toHaveLength(3);
    for (const purchase of refused) {
      expect(purchase).toMatchObject({
        code: "coverage_above_maximum",
        message: expect.stringContaining("InsufficientCapacity("),
        txHash: null,
      });
    }
    expect(await policiesOnChain(chain, request.buyer)).toHaveLength(1);
    expect(await noncesUsed()).toBe(before + 1);
    expect(await ledger.connection.sql`select 1 from service.buyer_revert`).toHaveLength(0);
    // Their keys are free.
    const again = { ...request, coverageAmount: 100_000_000n };
    const key = keys[settled.indexOf(refused[0] ?? expect.fail())];
    expect(await ledger.settled(await ledger.buy(again, key))).toHaveProperty("receipt");
  });

  test("a purchase waits for the one in flight that takes the vault's room, and is then refused; smaller ones go on", async () => {
    const request = await mostOfTheVault();
    const other = await newBuyer(chain);
    await chain.client.setAutomine(false);
    const first = await ledger.buy(request, "in-flight");
    await ledger.atNode(first);
    const before = said().length;
    const [second, small] = await Promise.all([
      ledger.buy(request, "behind"),
      ledger.buy(purchaseRequest(other.address), "small"),
    ]);
    await expect
      .poll(() => said().slice(before))
      .toContain("the payouts of transactions in flight may take the vault's capacity");
    await ledger.atNode(small);
    expect(await ledger.read(second)).toMatchObject({ state: "accepted" });
    await chain.client.setAutomine(true);
    await chain.client.mine({ blocks: 1 });
    expect(await ledger.settled(first)).toHaveProperty("receipt");
    expect(await ledger.settled(second)).toMatchObject({ code: "coverage_above_maximum", txHash: null });
  });

  test("a premium that rises before the signature is refused, and the buyer can buy again at the new one", async () => {
    const buyer = await newBuyer(chain);
    const request = purchaseRequest(buyer.address, "FLASHETH24-001");
    const ppm = await premiumOf(protocol, "FLASHETH24-001");
    const at = (millionths: bigint) => (request.coverageAmount * millionths) / 1_000_000n;
    const [quoted, risen] = [at(ppm), at(ppm + 100n)];
    intercept(() => changePremium(protocol, chain.owner, "FLASHETH24-001", 100));
    const id = await ledger.buy(request, "risen", quoted);
    expect(await ledger.settled(id)).toMatchObject({
      state: "failed",
      code: "price_mismatch",
      message: expect.stringContaining(`rose from ${quoted} to ${risen} `),
      txHash: null,
    });
    const again = await ledger.buy(request, "risen", risen);
    expect(await ledger.settled(again)).toMatchObject({ receipt: { premiumPaid: risen } });
    expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
  });

  test("the log says each time that the node failed at a sequence", () => {
    const asked = askedSoFar() - earlier.asked;
    const warned = said().split("eth_simulateV1 failed").length - 1;
    expect(asked).toBeGreaterThan(0);
    // Each time for the latest state, and for that of the newest block that was read.
    expect(2 * warned).toBe(hasMethod ? 0 : asked);
  });
});
