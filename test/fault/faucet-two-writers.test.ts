/**
 * Two writers with the faucet's key, of which the one that owns the wallet falls asleep (SIGSTOP). What this proves,
 * counted on the chain: the other one goes on, and each claim is paid once, whatever the sleeper does when it wakes up.
 */
import { beforeAll, expect, test } from "vitest";
import type { Child } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import type { RpcCall, RpcProxy } from "../support/rpc-proxy.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { claimPatiently, expectPaidOnce } from "./support/faucet-truth.ts";
import { isSending } from "./support/strikes.ts";
import { newcomers, stackOptions, startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

type Writer = { readonly stack: Stack; readonly proxy: RpcProxy; readonly child: Child };

let world: TestnetWorld;
let writers: readonly Writer[];
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "faucet" });
  const proxy = await startRpcProxy(world.testnet.url);
  const second = await startStack({
    ...stackOptions(world.main, world.testnet, { parts: "faucet" }),
    services: [],
    databaseUrl: world.stack.databaseUrl,
    testnetRpcUrl: proxy.url,
  });
  writers = [
    { stack: world.stack, proxy: world.proxy, child: await world.stack.restart("writer") },
    { stack: second, proxy, child: await second.start("writer") },
  ];
});

/** The writer that owns the faucet's wallet; waits until it is another than `not`. */
const owner = (not?: Writer): Promise<Writer> =>
  waitFor({
    what: "a writer to own the faucet's wallet",
    probe: async () => {
      const [row] = await world.connection.sql<{ pid: string }[]>`
        select split_part(lease_owner, '-', 2) as pid from service.relayer_wallet where role = 'faucet'`;
      const found = writers.find(({ child }) => child.pid === Number(row?.pid));
      return found === not ? undefined : found;
    },
    timeoutMs: 60_000,
  });

const steps: readonly { name: string; isIt: (call: RpcCall) => boolean }[] = [
  { name: "over the simulations", isIt: ({ method }) => method === "eth_estimateGas" },
  { name: "over the sendings, which arrive when it is long replaced", isIt: isSending },
];

test.each(steps)("it falls asleep $name", async ({ isIt }) => {
  const sleeper = await owner();
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asleep = false;
  sleeper.proxy.intercept(async (call, forward) => {
    if (!isIt(call)) return forward();
    if (!asleep) process.kill(sleeper.child.pid, "SIGSTOP");
    asleep = true;
    await held;
    return forward();
  });
  const claimants = newcomers(4);
  const told = Promise.all(claimants.map((one) => claimPatiently(world, one)));
  told.catch(() => {}); // waited for below
  await owner(sleeper);
  expect(asleep).toBe(true);
  release();
  process.kill(sleeper.child.pid, "SIGCONT");
  await told;
  sleeper.proxy.intercept();
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
});

test("it is told to stop in the middle: the other one pays the rest at once", async () => {
  const leaving = await owner();
  leaving.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));
  const claimants = newcomers(3);
  const told = Promise.all(claimants.map((one) => claimPatiently(world, one)));
  told.catch(() => {}); // waited for below
  await waitFor({
    what: "something to be signed",
    probe: async () =>
      (await world.connection.sql`select 1 from service.errand where state = 'signed'`).at(0) && true,
    timeoutMs: 60_000,
  });
  await leaving.stack.stopService("writer");
  expect(leaving.child.exit()).toEqual({ code: 0, signal: null });
  await told;
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
});
