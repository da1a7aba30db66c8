/**
 * Reorganisations deeper than CONFIRMATIONS. What this proves: outcomes that were final are undone, the same signed bytes
 * are sent again, and the ledger ends with the chain's receipts; a wallet is not left with a nonce that the chain lacks. A
 * reverted purchase is not bought once a newer one has used its idempotency key.
 */
import { parseGwei } from "viem";
import { beforeAll, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import type { PurchaseReceipt } from "../../lib/ledger/purchase.ts";
import { openProtocol, setRouterPaused } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { runLedger } from "../scripts/support/ledger-command.ts";
import {
  mineEverySecond,
  mineNothing,
  mineOnlyTransactions,
  startChain,
  type TestChain,
} from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  signedForms,
  type TestLedger,
} from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";

const CONFIRMATIONS = "2";

let chain: TestChain;
let databaseUrl: string;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  const env = { writer: { CONFIRMATIONS } };
  ({ databaseUrl } = await startStack({ chain, services: ["writer"], env }));
  ledger = await openLedger(chain, { databaseUrl });
});

/** The receipts of purchases that are confirmed, and not in one of the blocks `gone`. */
const confirmed = (ids: readonly string[], gone: readonly string[] = []) =>
  Promise.all(
    ids.map((id) =>
      waitFor({
        what: `purchase ${id} to be confirmed in another block`,
        probe: async () => {
          const purchase = await ledger.read(id);
          return purchase.state === "confirmed" && !gone.includes(purchase.receipt.blockHash)
            ? purchase.receipt
            : undefined;
        },
      }),
    ),
  );

/** Drops the blocks from this one on; as many empty ones take their place. */
async function dropFrom(block: bigint): Promise<void> {
  await mineOnlyTransactions(chain);
  const depth = Number((await chain.client.getBlockNumber()) - block) + 1;
  expect(await askRpc(chain.url, "anvil_reorg", [depth, []])).toEqual({ result: null });
  await mineEverySecond(chain);
}

const lowestBlock = (receipts: readonly PurchaseReceipt[]): bigint =>
  BigInt(Math.min(...receipts.map(({ blockNumber }) => Number(blockNumber))));

test.each([
  { depth: "five blocks deeper than the confirmations", blocks: 5, forgotten: false },
  { depth: "deeper than the blocks that are still watched", blocks: 80, forgotten: true },
])(
  "a reorganisation $depth: sent again under the same nonces, bought once each, receipts as on the chain",
  async ({ blocks, forgotten }) => {
    const buyer = await newBuyer(chain);
    await chain.client.mine({ blocks: 3 }); // keeps the approval out of the reorganisation
    const buy = (key: string) => ledger.buy(purchaseRequest(buyer.address), key);
    const ids = await Promise.all(["a", "b", "c"].map(buy));
    const before = await confirmed(ids);
    const forms = await signedForms(ledger.connection, ...ids);
    await chain.client.mine({ blocks });
    if (forgotten) {
      await waitFor({
        what: "the ledger to forget the final transactions",
        probe: async () => {
          const rows = await ledger.connection.sql`
          select 1 from service.relayer_wallet w join service.transaction t on t.wallet = w.address
          where t.intent = any(${ids}::uuid[]) and t.nonce >= w.final_below`;
          return rows.length === 0 || undefined;
        },
      });
    }
    await dropFrom(lowestBlock(before));

    const after = await confirmed(
      ids,
      before.map(({ blockHash }) => blockHash),
    );
    const policies = await policiesOnChain(chain, buyer.address);
    expect(
      after.map(({ txHash, blockHash, policyId }) => ({ txHash, blockHash, policyId })).toSorted(byHash),
    ).toEqual(
      policies
        .map(({ transactionHash, blockHash, args }) => ({
          txHash: transactionHash,
          blockHash,
          policyId: args.policyId,
        }))
        .toSorted(byHash),
    );
    expect(policies).toHaveLength(3);
    expect(await signedForms(ledger.connection, ...ids)).toEqual(expect.arrayContaining(forms));
    // The wallet goes on.
    expect(await ledger.settled(await buy("d"))).toMatchObject({ receipt: { policyId: expect.any(BigInt) } });
  },
);

const byHash = (a: { txHash: string }, b: { txHash: string }) => (a.txHash < b.txHash ? -1 : 1);

test("a reorganisation drops another program's transaction for good: its nonce is filled, and what waits above it is bought once", async () => {
  const buyer = await newBuyer(chain);
  await chain.client.mine({ blocks: 3 });
  const foreign = await chain.client.sendTransaction({
    ...{ account: chain.relayer, to: chain.owner.address, value: 1n, chain: null },
  });
  const { blockNumber } = await chain.client.waitForTransactionReceipt({ hash: foreign });
  await waitFor({
    what: "the operator's acceptance of the transaction",
    probe: async () => {
      const env = { RPC_URL: chain.url, DEPLOYMENT_FILE: chain.deploymentFile, CONFIRMATIONS };
      const { said } = await runLedger(databaseUrl, ["reconcile", "--accept", foreign], env);
      return said.includes("Accepted 1 of 1.") || undefined;
    },
  });
  const ids = [await ledger.buy(purchaseRequest(buyer.address), "above")];
  const before = await confirmed(ids);
  await chain.client.mine({ blocks: 5 });
  await dropFrom(blockNumber);

  await confirmed(
    ids,
    before.map(({ blockHash }) => blockHash),
  );
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
  const next = await ledger.buy(purchaseRequest(buyer.address), "next");
  expect(await ledger.settled(next)).toMatchObject({ receipt: { policyId: expect.any(BigInt) } });
});

test("a reorganisation drops a final revert and the pause that caused it, after its key was used again: bought once", async () => {
  const buyer = await newBuyer(chain);
  await chain.client.mine({ blocks: 3 });
  const buy = () => ledger.buy(purchaseRequest(buyer.address), "used again");
  await mineNothing(chain);
  const reverted = await buy();
  await ledger.atNode(reverted);
  // The block has the pause first, because it pays more.
  await chain.client.writeContract({
    ...{ address: chain.deployment.contracts.coverRouter, abi: coverRouterAbi },
    ...{ functionName: "setPaused", args: [true], account: chain.owner, chain: null },
    ...{ maxFeePerGas: parseGwei("100"), maxPriorityFeePerGas: parseGwei("50") },
  });
  await mineEverySecond(chain);
  const first = await ledger.inState(reverted, "failed");
  expect(first).toMatchObject({ code: "onchain_revert", message: expect.stringContaining("ContractPaused") });
  if (!("txHash" in first) || first.txHash === null) throw new Error("no hash");
  const { blockNumber } = await chain.client.getTransactionReceipt({ hash: first.txHash });
  await setRouterPaused(openProtocol(chain.deployment, chain.url), chain.owner, false);
  const repeated = await waitFor({
    what: "the key of the reverted purchase to be free",
    probe: async () => {
      const id = await buy();
      return id === reverted ? undefined : id;
    },
  });
  const before = await confirmed([repeated]);
  await dropFrom(blockNumber);

  await confirmed(
    [repeated],
    before.map(({ blockHash }) => blockHash),
  );
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
  expect((await ledger.read(reverted)).state).toBe("replaced");
});
