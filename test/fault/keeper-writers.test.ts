/**
 * Writers that are keepers: one that is killed (SIGKILL) at each step of the triggers and started again, and several, with one key or
 * with two. What this proves, from the chain: each due policy is triggered once, also when the writer dies that had begun it; the
 * wallets' nonces have no gap, and nothing is signed twice for a policy; and a keeper whose node lacks
 * `eth_simulateV1` triggers them too.
 */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type RpcCall, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectNoNonceGaps } from "./support/assertions.ts";
import {
  buyPolicies,
  buyPoliciesAtOnce,
  crash,
  keeperNonce,
  prepareBuyer,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, keeperWallet, startKeeperSetup } from "./support/keeper-setup.ts";
import { expectNothingSignedTwice, expectTriggeredOnce, untilIndexed } from "./support/keeper-truth.ts";
import {
  isReceiptRead,
  isSending,
  killAtCall,
  killAtStatement,
  rpcError,
  type WriterKill,
} from "./support/testnet-faults.ts";

const otherWallet = anvilAccount(9);

let setup: KeeperSetup;
let proxy: RpcProxy;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
  proxy = await startRpcProxy(setup.chain.url);
});

async function expectAllTriggeredOnce(due: readonly bigint[]): Promise<void> {
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
  await expectNothingSignedTwice(setup, due);
  await expectNoNonceGaps(setup);
}

type Step = { readonly step: string; readonly prepare: () => Promise<WriterKill> | WriterKill };

/** The fee of a call's data is asked for before the call gets its nonce. */
const asksGasOracle = ({ method, params: [request] }: RpcCall): boolean =>
  method === "eth_call" && JSON.stringify(request).includes("0x420000000000000000000000000000000000000F");

/** In the order in which a batch comes to them. */
const steps: readonly Step[] = [
  {
    step: "before it simulates",
    prepare: () => killAtCall(setup, ({ method }) => method === "eth_simulateV1", "before"),
  },
  {
    step: "while it records a batch",
    prepare: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.keeper_task in share mode`,
        "insert into service.keeper_task",
      ),
  },
  {
    step: "after a batch is recorded",
    prepare: () => killAtCall(setup, asksGasOracle, "before"),
  },
  {
    step: "while it takes nonces",
    prepare: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.transaction in share mode`,
        "insert into service.transaction",
      ),
  },
  {
    step: "after nonces are stored, before the signed bytes are",
    prepare: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.attempt in share mode`,
        "insert into service.attempt",
      ),
  },
  { step: "before it sends stored bytes", prepare: () => killAtCall(setup, isSending, "before") },
  { step: "after the node has the bytes", prepare: () => killAtCall(setup, isSending, "after") },
  {
    step: "after mining, before it reads receipts",
    prepare: () => killAtCall(setup, isReceiptRead, "before"),
  },
];

/** More than one transaction observes. */
const DUE = 80;

test("a crash makes 80 policies due, and the writer is killed at one step after the other: each is triggered once", async () => {
  const { connection, stack } = setup;
  const due = await buyPoliciesAtOnce(setup, DUE);
  expect(due).toHaveLength(DUE);
  await untilIndexed(setup);
  let isFirst = true;
  for (const { prepare } of steps) {
    const { dead } = await prepare();
    if (isFirst) await crash(setup);
    else await stack.start("writer", { wait: false });
    isFirst = false;
    await dead;
    setup.proxy.intercept();
    await connection.sql`update service.relayer_wallet set lease_until = now()`;
  }
  await stack.start("writer");
  await expectAllTriggeredOnce(due);
});

/** A second writer on the same database, which does not run yet. */
const secondWriter = (env: Readonly<Record<string, string>> = {}): Promise<Stack> =>
  startStack({
    ...{ chain: setup.chain, services: [], keeper: true, databaseUrl: setup.stack.databaseUrl },
    relayerKeys: [privateKeyOf(anvilAccount(2))],
    env: { writer: { RPC_URL: proxy.url, CONFIRMATIONS: "3", ...env } },
  });

const nonces = () =>
  Promise.all([keeperWallet, otherWallet].map(({ address }) => keeperNonce(setup.chain, address)));
const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);

/** Lets policies fall due, and expects each to be triggered once. @returns how many transactions that took. */
async function expectTriggered(count: number): Promise<number> {
  const before = sum(await nonces());
  const due = await buyPolicies(setup, count);
  await untilIndexed(setup);
  await crash(setup);
  await expectAllTriggeredOnce(due);
  return sum(await nonces()) - before;
}

/** Lets policies fall due, and kills the first writer when it has signed for them and sent nothing. @returns the policies. */
async function dieWithSignedTriggers(): Promise<bigint[]> {
  const { stack } = setup;
  const due = await buyPolicies(setup, 3);
  await untilIndexed(setup);
  let isSigned = false;
  setup.proxy.intercept(async (call, forward) => {
    if (!isSending(call)) return forward();
    isSigned = true;
    return "lost";
  });
  await crash(setup);
  await waitFor({
    what: "the first writer to send",
    probe: () => isSigned || undefined,
  });
  await stack.kill9("writer");
  setup.proxy.intercept();
  // As if the dead one's leases had expired; a living one renews its own.
  await setup.connection.sql`update service.relayer_wallet set lease_until = now()`;
  return due;
}

test("two writers with one key: each policy is triggered once, in no more transactions than by one", async () => {
  const alone = await expectTriggered(10);
  const second = await secondWriter();
  await second.start("writer");
  expect(await expectTriggered(10)).toBeLessThanOrEqual(alone + 1);

  const due = await dieWithSignedTriggers();
  await expectAllTriggeredOnce(due);
  await second.stopService("writer");
  await setup.stack.start("writer");
});

test("two writers with two keys: each policy is triggered once; when one dies with signed triggers, the other sends its own", async () => {
  const { chain, connection, stack } = setup;
  await chain.client.setBalance({ address: otherWallet.address, value: parseEther("10") });
  const second = await secondWriter({ KEEPER_PRIVATE_KEY: privateKeyOf(otherWallet) });
  await second.start("writer");
  await expectTriggered(10);

  await second.stopService("writer");
  const due = await dieWithSignedTriggers();
  await second.start("writer");
  // As if a minute had passed without a writer that has the key.
  await connection.sql`
    update service.relayer_wallet set lease_until = now() - interval '2 minutes' where address = ${keeperWallet.address.toLowerCase()}`;
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
  // What the dead one had signed is sent at its return, and changes nothing.
  await stack.start("writer");
  await expectNoNonceGaps(setup);
  await expectTriggeredOnce(setup, due);
  await second.stopService("writer");
  await stack.stopService("writer");
});

test("without eth_simulateV1: each policy is triggered once", async () => {
  proxy.intercept(async (call, forward) =>
    call.method === "eth_simulateV1" ? rpcError("the method eth_simulateV1 does not exist") : forward(),
  );
  const writer = await secondWriter();
  await writer.start("writer");
  expect(await expectTriggered(4)).toBe(3);
  expect(proxy.counts.get("eth_simulateV1")).toBeGreaterThan(0);
});
