/** Unexpected answers of contracts and nodes may fail one purchase, and never the service. */
import { Registry } from "prom-client";
import { encodeErrorResult, type Hex, numberToHex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { createLogger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { ownTransactions } from "../../workers/ledger/transactions.ts";
import { createMeter } from "../../workers/metrics/relay-meter.ts";
import { openChain, type Receipt } from "../../workers/relayer/chain.ts";
import { settleReceipts } from "../../workers/relayer/settle-receipts.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { storeSignedFiller } from "./support/signed-filler.ts";

describe("the reason of a revert", () => {
  const reason = (text: string) =>
    decodeRevert(
      encodeErrorResult({
        abi: [{ type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] }],
        errorName: "Error",
        args: [text],
      }),
    );

  test("contains no character that Postgres or a log refuses", () => {
    expect(reason("a\0b\u001b[31mc\nd")).toMatchObject({ name: "ab[31mcd", text: "ab[31mcd" });
  });

  test("is cut at 500 characters, and never within a character", () => {
    expect(reason("x".repeat(10_000)).text).toBe("x".repeat(500));
    expect(reason(`${"x".repeat(499)}🙂`).text).toBe("x".repeat(499));
    expect(decodeRevert(`0x12345678${"ab".repeat(10_000)}`).text).toHaveLength(500);
  });
});

let chain: TestChain;
let rpc: RpcProxy;
beforeAll(async () => {
  chain = await startChain();
  rpc = await startRpcProxy(chain.url);
});
afterEach(() => rpc.intercept());

describe("the receipts of a block", () => {
  let hashes: Hex[];
  let number: bigint;
  beforeAll(async () => {
    const to = chain.owner.address;
    await chain.client.setAutomine(false);
    // One after the other: anvil can give two concurrent transactions the same nonce.
    hashes = [];
    for (const value of [1n, 2n]) hashes.push(await chain.client.sendTransaction({ account: to, to, value }));
    await chain.client.mine({ blocks: 1 });
    await chain.client.setAutomine(true);
    number = await chain.client.getBlockNumber();
  });

  const refuse = (code: number) =>
    rpc.intercept(async ({ method }, forward) =>
      method === "eth_getBlockReceipts" ? { error: { code, message: "no" } } : forward(),
    );
  const asked = () => rpc.counts.get("eth_getBlockReceipts") ?? 0;

  test.each([
    ["cannot answer now", -32000],
    ["has an internal error", -32603],
    ["limits requests", -32005],
  ])("are read one by one when the node %s, and together again the next time", async (_what, code) => {
    const node = openChain(chain.deployment, rpc.url);
    refuse(code);
    const found = await node.receiptsIn({ number }, hashes);
    expect(found.map(({ hash }) => hash)).toEqual(hashes);
    rpc.intercept();
    const before = asked();
    expect(await node.receiptsIn({ number }, hashes)).toHaveLength(2);
    expect(asked()).toBe(before + 1);
  });

  test("are read one by one from then on when the node does not know eth_getBlockReceipts", async () => {
    const node = openChain(chain.deployment, rpc.url);
    refuse(-32601);
    expect(await node.receiptsIn({ number }, hashes)).toHaveLength(2);
    const before = asked();
    expect(await node.receiptsIn({ number }, hashes)).toHaveLength(2);
    expect(asked()).toBe(before);
  });

  test("are not read one by one when the node is away", async () => {
    const node = openChain(chain.deployment, rpc.url);
    rpc.intercept(async ({ method }, forward) => (method === "eth_getBlockReceipts" ? "lost" : forward()));
    const before = rpc.counts.get("eth_getTransactionReceipt");
    await expect(node.receiptsIn({ number }, hashes)).rejects.toThrow("HTTP request failed");
    expect(rpc.counts.get("eth_getTransactionReceipt")).toBe(before);
  });
});

test("an outcome that cannot be stored does not block the others", async () => {
  const databaseUrl = await freshDatabase();
  const connection: Connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const { sql } = connection;
  const { chainId, contracts } = chain.deployment;
  const wallet = lower(chain.relayer.address);
  const hashes = [1, 2, 3].map((n) => numberToHex(n, { size: 32 }));
  const lease = await takeLease(sql, { chainId, address: wallet, owner: "me" });
  if (!lease) throw new Error("no lease");
  await startNonces(sql, lease, hashes.length);
  for (const [nonce, hash] of hashes.entries()) {
    await storeSignedFiller(sql, lease, nonce, hash);
  }
  const settler = {
    sql,
    chain: openChain(chain.deployment, chain.url),
    coverRouter: lower(contracts.coverRouter),
    meter: createMeter(new Registry()),
    log: createLogger("test", "silent"),
  };
  const receipts = hashes.map(
    (hash, n): Receipt => ({
      hash,
      // Too large for the column.
      blockNumber: n === 1 ? 2n ** 70n : 7n,
      blockHash: hash,
      succeeded: true,
      logs: [],
      gasCost: 1n,
    }),
  );
  await settleReceipts(settler, await ownTransactions(sql, chainId, hashes), receipts);
  const states = await sql`select state from service.transaction order by nonce`;
  expect(states.map(({ state }) => state)).toEqual(["mined", "open", "mined"]);
});
