/**
 * A reorganisation removes the blocks in which a claim was paid, or the sandbox bought. What this proves, checked on the testnet:
 * both transfers are mined again, each once, and the wallet cannot claim meanwhile; a key answers the policy that the chain has.
 */
import type { Hex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { openProtocol, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { newBuyer, usdc } from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { claim, claimUntilPaid, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-calls.ts";
import {
  expectBoughtOnce,
  nextBlock,
  parsePurchase,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import { isSending, restartWriter } from "./support/testnet-faults.ts";
import { type NewClient, newClient, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

const CONFIRMATIONS = 10;
const DEPTH = 5;

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({
    parts: "both",
    env: { writer: { CONFIRMATIONS: String(CONFIRMATIONS) } },
  });
  await waitUntilSandboxReady(setup);
});
afterEach(() => setup.proxy.intercept());

const loseTransactions = () =>
  setup.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));

/** Pays a claim in one of the newest blocks, then loses all broadcasts and mines no empty blocks. */
async function payClaim(): Promise<{ claimant: NewClient; bytes: Hex[] }> {
  const { testnet, connection } = setup;
  await testnet.client.mine({ blocks: DEPTH }); // keeps everything else out of the reorganisation
  await mineOnlyTransactions(testnet);
  const claimant = newClient();
  const { grant } = await claimUntilPaid(setup, claimant);
  loseTransactions();
  const rows = await connection.sql<{ signed: Hex }[]>`
    select a.signed from service.attempt a join service.transaction t on t.id = a.transaction_id
    where a.hash = any(${[grant.ethTxHash, grant.usdcTxHash]}::text[]) order by t.nonce`;
  return { claimant, bytes: rows.map(({ signed }) => signed) };
}

/** Replaces the newest blocks by blocks with only these transactions, and mines again. */
async function reorganise(bytes: readonly Hex[]): Promise<void> {
  const { testnet } = setup;
  const pairs = bytes.map((one) => [one, 1]);
  expect(await askRpc(testnet.url, "anvil_reorg", [DEPTH, pairs])).toEqual({ result: null });
  await mineEverySecond(testnet);
  await testnet.client.mine({ blocks: 1 });
}

const statesOf = (claimant: NewClient) => setup.connection.sql<{ purpose: string; state: string }[]>`
  select e.purpose, e.state from service.service_transaction_progress e join service.faucet_claim c on c.id = e.claim_id
  where c.wallet = ${claimant.wallet.toLowerCase()} order by e.purpose`;

const waitForStates = (claimant: NewClient, wanted: RegExp) =>
  waitFor({
    what: `the transfers to be in states ${wanted}`,
    probe: async () => {
      const found = (await statesOf(claimant)).map(({ state }) => state).join(" ");
      return wanted.test(found) ? true : undefined;
    },
  });

/** Both transfers are on the chain, each once, in the blocks that the ledger names. */
async function expectBothOnChain(claimant: NewClient): Promise<void> {
  const { testnet, connection } = setup;
  await sendingAgainAtOnce(connection.sql, expectPaidOnce(setup, [claimant.wallet]));
  expect((await statesOf(claimant)).map(({ state }) => state)).toEqual(["confirmed", "confirmed"]);
  // Perhaps not the first hashes: a transfer that waits too long is sent with a higher fee.
  const rows = await connection.sql<{ hash: Hex; block: Hex }[]>`
    select e.tx_hash as hash, e.block_hash as block from service.service_transaction_progress e join service.faucet_claim c on c.id = e.claim_id
    where c.wallet = ${claimant.wallet.toLowerCase()}`;
  expect(rows).toHaveLength(2);
  for (const { hash, block } of rows) {
    const receipt = await testnet.client.getTransactionReceipt({ hash });
    expect([receipt.status, receipt.blockHash]).toEqual(["success", block]);
  }
}

test("both transfers are dropped: the wallet cannot claim meanwhile, and both are sent again", async () => {
  const { claimant } = await payClaim();
  await reorganise([]);
  expect(await paidOnChain(setup, claimant.wallet)).toEqual(NOTHING);
  await waitForStates(claimant, /^(signed|broadcast) (signed|broadcast)$/);
  // The claim still counts towards the limits.
  expect((await claim(setup, claimant)).status).toBe(429);
  setup.proxy.intercept();
  await expectBothOnChain(claimant);
});

test("one of the two transfers is dropped: only that one is sent again", async () => {
  const { claimant, bytes } = await payClaim();
  await reorganise(bytes.slice(0, 1));
  await waitForStates(claimant, /broadcast|signed/);
  setup.proxy.intercept();
  await expectBothOnChain(claimant);
});

test("both transfers are mined in another block: the ledger names that block", async () => {
  const { claimant, bytes } = await payClaim();
  await reorganise(bytes);
  await expectBothOnChain(claimant);
});

test("both transfers are dropped while the writer is dead: it sends them after its restart", async () => {
  const { claimant } = await payClaim();
  await setup.stack.kill9("writer");
  await reorganise([]);
  await restartWriter(setup);
  await expectBothOnChain(claimant);
});

test("a reorganisation gives a purchase another policy number: its key answers the new number", async () => {
  const { testnet, proxy, connection } = setup;
  const protocol = openProtocol(testnet.deployment, testnet.url);
  const rival = await newBuyer(testnet);
  await testnet.client.mine({ blocks: DEPTH }); // keeps everything else out of the reorganisation
  // No empty blocks from here on, so that the purchase stays in one of the newest.
  await mineOnlyTransactions(testnet);
  const fromBlock = await nextBlock(setup);
  const [call] = severalCalls(1);
  const [product] = catalogueTerms;
  if (!call || !product) throw new Error("nothing to buy");
  const before = await tryUntilBought(setup, call);
  loseTransactions();
  expect(await askRpc(testnet.url, "anvil_reorg", [DEPTH, []])).toEqual({ result: null });
  await testnet.client.mine({ blocks: 1 });
  // Another buyer's policy of the same product takes its number.
  const taken = await purchase(protocol, rival, product, usdc(100));
  expect(String(taken.policyId)).toBe(before.policyId);
  await mineEverySecond(testnet);
  await waitFor({
    what: "the key to answer 503",
    probe: async () => ((await tryOnce(setup, call)).status === 503 ? true : undefined),
  });
  proxy.intercept();
  const after = await sendingAgainAtOnce(
    connection.sql,
    waitFor({
      what: "the key to answer 200",
      probe: async () => {
        const answer = await tryOnce(setup, call);
        return answer.status === 200 ? parsePurchase(answer) : undefined;
      },
    }),
  );
  expect(after.policyId).not.toBe(before.policyId);
  await expectBoughtOnce(setup, [after], fromBlock);
});
