/**
 * Two writers with the faucet's key; the one that owns the wallet is suspended (SIGSTOP). What this proves, checked on the
 * chain: the other writer takes over, and each claim is paid once, also after the suspended writer resumes.
 */
import { beforeAll, expect, test } from "vitest";
import type { Child } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import type { RpcCall, RpcProxy } from "../support/rpc-proxy.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { claimUntilPaid, expectPaidOnce } from "./support/faucet-calls.ts";
import { isSending } from "./support/testnet-faults.ts";
import { newClients, stackOptions, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

type Writer = { readonly stack: Stack; readonly proxy: RpcProxy; readonly child: Child };

let setup: TestnetSetup;
let writers: readonly Writer[];
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "faucet" });
  const proxy = await startRpcProxy(setup.testnet.url);
  const second = await startStack({
    ...stackOptions(setup.main, setup.testnet, { parts: "faucet" }),
    services: [],
    databaseUrl: setup.stack.databaseUrl,
    testnetRpcUrl: proxy.url,
  });
  writers = [
    { stack: setup.stack, proxy: setup.proxy, child: await setup.stack.restart("writer") },
    { stack: second, proxy, child: await second.start("writer") },
  ];
});

/** Waits until a writer other than `not` owns the faucet's wallet. Resolves to that writer. */
const owner = (not?: Writer): Promise<Writer> =>
  waitFor({
    what: "a writer to own the faucet's wallet",
    probe: async () => {
      const [row] = await setup.connection.sql<{ pid: string }[]>`
        select split_part(lease_owner, '-', -2) as pid from service.relayer_wallet where role = 'faucet'`;
      const found = writers.find(({ child }) => child.pid === Number(row?.pid));
      return found === not ? undefined : found;
    },
  });

const steps: readonly (readonly [name: string, matches: (call: RpcCall) => boolean])[] = [
  ["during the simulations", ({ method }) => method === "eth_estimateGas"],
  ["during the broadcasts, which arrive after the other writer took over", isSending],
];

test.each(steps)("the owner is suspended %s: each claim is paid once", async (_, matches) => {
  const suspended = await owner();
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let stopped = false;
  suspended.proxy.intercept(async (call, forward) => {
    if (!matches(call)) return forward();
    if (!stopped) process.kill(suspended.child.pid, "SIGSTOP");
    stopped = true;
    await held;
    return forward();
  });
  const claimants = newClients(4);
  const results = Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  results.catch(() => {}); // awaited below
  await owner(suspended);
  expect(stopped).toBe(true);
  release();
  process.kill(suspended.child.pid, "SIGCONT");
  await results;
  suspended.proxy.intercept();
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
});

test("the owner shuts down during claims: the other writer pays the rest at once", async () => {
  const leaving = await owner();
  leaving.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));
  const claimants = newClients(3);
  const results = Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  results.catch(() => {}); // awaited below
  await waitFor({
    what: "a transfer to be signed",
    probe: async () =>
      (
        await setup.connection.sql`select 1 from service.service_transaction_progress where state = 'signed'`
      ).at(0) && true,
  });
  await leaving.stack.stopService("writer");
  expect(leaving.child.exit()).toEqual({ code: 0, signal: null });
  await results;
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
});
