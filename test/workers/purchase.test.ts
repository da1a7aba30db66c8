import type { LocalAccount } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import type { Purchase } from "../../lib/ledger/purchase.ts";
import { liveRelayers } from "../../lib/ledger/relayers.ts";
import {
  openProtocol,
  type Protocol,
  setGlobalPause,
  setPriceStale,
  setProductActive,
  setRelayer,
  setRouterPaused,
  setTokenPrice,
} from "../../scripts/local/protocol/actions/index.ts";
import { retiredTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { newBuyer, openLedger, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import { setSequencer } from "../support/protocol-actions.ts";
import { type Stack, startStack } from "../support/stack.ts";

const hour = termsOf("FLASHBTC1H-001");
let chain: TestChain;
let stack: Stack;
let ledger: TestLedger;
let protocol: Protocol;
let buyer: LocalAccount;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, maximumCoverage: 10n ** 13n });
  protocol = openProtocol(chain.deployment, chain.url);
  stack = await startStack({
    chain,
    services: ["writer"],
    env: { writer: { CONFIRMATIONS: "2", ARCHIVE_AFTER_DAYS: "3" } },
  });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
  buyer = await newBuyer(chain);
});

const relayerNonce = () => chain.client.getTransactionCount({ address: chain.relayer.address });

describe("a relayed purchase", () => {
  test("is confirmed once its block lies deep enough", async () => {
    const id = await ledger.buy(purchaseRequest(buyer.address), "confirms");
    const { receipt } = settledReceipt(await ledger.inState(id, "confirmed"));
    expect(await chain.client.getBlockNumber()).toBeGreaterThanOrEqual(receipt.blockNumber + 2n);
  });

  test("is archived by the writer after ARCHIVE_AFTER_DAYS, and a repeated call finds it", async () => {
    const { sql } = ledger.connection;
    const id = await ledger.buy(purchaseRequest(buyer.address), "archived");
    const purchase = await ledger.inState(id, "confirmed");
    await sql`update service.transaction set final_at = final_at - interval '3 days' where intent = ${id}`;
    await sql`select service.raise_watermarks(8453, 1000000)`;
    await stack.restart("writer");
    await expect.poll(() => sql`select id from service.archived_purchase`).toEqual([{ id }]);
    expect(await ledger.buy(purchaseRequest(buyer.address), "archived")).toBe(id);
    expect(await ledger.read(id)).toEqual(purchase);
  });

  test("of a wallet that no writer sends from, and that is open, is named in the log at the start", async () => {
    const { sql } = ledger.connection;
    const wallet = `0x${"ab".repeat(20)}`;
    await sql`insert into service.relayer_wallet (chain_id, address, next_nonce) values (8453, ${wallet}, 1)`;
    await sql`
      insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
      values (8453, ${wallet}, 0, 'filler', ${wallet}, '0x', 21000)`;
    await stack.restart("writer");
    const named = () =>
      stack
        .output("writer")
        .split("\n")
        .filter((line) => line.includes("no writer sends from a wallet"));
    await expect.poll(named).toEqual([expect.stringContaining(wallet)]);
    await sql`delete from service.transaction where wallet = ${wallet}`;
  });

  test("is relayed from a wallet that the api can name", async () => {
    const relayers = await liveRelayers(ledger.connection.sql, 8453);
    expect(relayers).toEqual([{ address: chain.relayer.address, chainId: 8453, seenAt: expect.any(Date) }]);
  });
});

function settledReceipt(purchase: Purchase) {
  if (purchase.state !== "mined" && purchase.state !== "confirmed")
    throw new Error(`it is ${purchase.state}`);
  return purchase;
}

describe("a purchase that would revert fails with the contract's reason, and uses neither gas nor a nonce", () => {
  type Refusal = {
    name: string;
    code: string;
    message: RegExp;
    product?: { productId: `0x${string}`; asset: `0x${string}` };
    dollars?: number;
    before?: () => Promise<unknown>;
    after?: () => Promise<unknown>;
    poor?: "no allowance" | "no balance";
  };
  const refusals: Refusal[] = [
    {
      name: "router paused",
      code: "contract_paused",
      message: /ContractPaused/,
      before: () => setRouterPaused(protocol, chain.owner, true),
      after: () => setRouterPaused(protocol, chain.owner, false),
    },
    {
      name: "paused everywhere",
      code: "contract_paused",
      message: /ContractPaused/,
      before: () => setGlobalPause(protocol, chain.owner, true),
      after: () => setGlobalPause(protocol, chain.owner, false),
    },
    {
      name: "relayer not allowed",
      code: "not_authorized_relayer",
      message: /NotAuthorizedRelayer\(0x7099/,
      before: () => setRelayer(protocol, chain.owner, chain.relayer.address, false),
      after: () => setRelayer(protocol, chain.owner, chain.relayer.address, true),
    },
    {
      name: "product that the router does not sell",
      code: "product_inactive",
      message: /ProductInactive\(0x/,
      product: hour,
      before: () => setProductActive(protocol, chain.owner, hour.productId, false),
      after: () => setProductActive(protocol, chain.owner, hour.productId, true),
    },
    {
      name: "product that the manager does not sell",
      code: "product_inactive",
      message: /ProductNotActive\(0x/,
      product: retiredTerms,
    },
    {
      name: "token price too low",
      code: "contract_paused",
      message: /Protocol auto-paused/,
      before: () => setTokenPrice(protocol, chain.owner, "0.004"),
      after: () => setTokenPrice(protocol, chain.owner, "0.1"),
    },
    {
      name: "no token price",
      code: "oracle_stale",
      message: /OracleStale\(/,
      before: () => setPriceStale(protocol, chain.owner, true),
      after: () => setPriceStale(protocol, chain.owner, false),
    },
    {
      name: "more than the vault can pay",
      code: "coverage_above_maximum",
      message: /InsufficientCapacity\(5600000, /,
      dollars: 7_000_000,
    },
    {
      name: "more than a policy may cover",
      code: "coverage_above_maximum",
      message: /InvalidCoverage\(10000001000000\)/,
      dollars: 10_000_001,
    },
    {
      name: "no allowance",
      code: "onchain_revert",
      message: /ERC20InsufficientAllowance\(/,
      poor: "no allowance",
    },
    { name: "no balance", code: "onchain_revert", message: /ERC20InsufficientBalance\(/, poor: "no balance" },
    {
      name: "wrong asset",
      code: "onchain_revert",
      message: /InvalidAsset\(0x4554480/,
      product: {
        productId: purchaseRequest("0x").productId,
        asset: purchaseRequest("0x", "FLASHETH1H-001").asset,
      },
    },
    {
      name: "sequencer down",
      code: "sequencer_down",
      message: /SEQUENCER_DOWN/,
      before: () => setSequencer(protocol, chain.owner, { down: true, startedAt: 0n }),
    },
  ];

  test.each(refusals)("$name", async ({ code, message, product, dollars, before, after, poor }) => {
    const payer =
      poor === "no allowance"
        ? await newBuyer(chain, { approve: false })
        : poor === "no balance"
          ? await newBuyer(chain, { dollars: 0 })
          : buyer;
    await before?.();
    const nonce = await relayerNonce();
    const request = { ...purchaseRequest(payer.address, "FLASHBTC1H-001", dollars ?? 100) };
    if (product) Object.assign(request, { productId: product.productId, asset: product.asset });
    const failed = await ledger.settled(await ledger.buy(request));
    await after?.();
    expect(failed).toMatchObject({
      state: "failed",
      code,
      message: expect.stringMatching(message),
      txHash: null,
    });
    expect(await relayerNonce()).toBe(nonce);
  });
});
