/** `npm run fork`, of a chain that is like the live one, behind a node with a public node's limits. */
import { erc20Abi, isAddressEqual } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { anvilAccount, chainOf, createReadClient } from "../../lib/chain/client.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import { DEV_ADMIN_TOKEN } from "../../lib/off-local.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { seedHistory } from "../../scripts/local/seed.ts";
import { startChain, type TestChain, testClient } from "../support/chain.ts";
import { runCommand } from "../support/command.ts";
import { freshDatabase } from "../support/database.ts";
import { type DevSettings, devLeftovers, devSettings, startFork } from "../support/dev-stack.ts";
import { http } from "../support/http.ts";
import { closeFeeds, DELEGATION, delegateAccounts, giveToContract } from "../support/live-likeness.ts";
import * as act from "../support/protocol-actions.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { testnetState } from "./support/dev-checks.ts";

const early = anvilAccount(8);
const buyer = anvilAccount(9);
/** Buys the demo's bonds. */
const holder = anvilAccount(7);
const DAY = 86_400n;
const btc24 = termsOf("FLASHBTC24-001");
const eth1 = termsOf("FLASHETH1H-001");

/** Two policies, each in a block of its own. @returns the block of the first one */
async function sellTwo(upstream: TestChain): Promise<bigint> {
  const protocol = openProtocol(upstream.deployment, upstream.url);
  await act.mintUsdc(protocol, early, early.address, 1_000_000_000n);
  await act.approveUsdc(protocol, early, upstream.deployment.contracts.coverRouter);
  const { receipt } = await act.purchase(protocol, early, btc24, 100_000_000n);
  await act.purchase(protocol, early, btc24, 200_000_000n);
  return receipt.blockNumber;
}

const logs = z.tuple([z.object({ address: z.unknown(), fromBlock: z.string(), toBlock: z.string() })]);

/** 60 requests a second, and logs of 50 blocks. */
async function publicNode(upstream: TestChain): Promise<RpcProxy> {
  const { usdc } = upstream.deployment.contracts;
  const node = await startRpcProxy(upstream.url);
  node.limit(60);
  node.intercept(async ({ method, params }, forward) => {
    const range = method === "eth_getLogs" ? logs.safeParse(params).data?.[0] : undefined;
    // A live chain has more logs of USDC than anybody can read.
    if (
      JSON.stringify(range?.address ?? "")
        .toLowerCase()
        .includes(usdc.toLowerCase())
    )
      return { error: { code: -32602, message: "too many logs" } };
    const isLong = range && Number(range.toBlock) - Number(range.fromBlock) >= 50;
    return isLong ? { error: { code: -32602, message: "no more than 50 blocks" } } : forward();
  });
  return node;
}

const urlsOf = ({ env }: DevSettings) => {
  const local = (port: string | undefined) => `http://127.0.0.1:${port}`;
  return {
    API_URL: local(env.PORT),
    RPC_URL: local(env.ANVIL_PORT),
    TESTNET_RPC_URL: local(env.TESTNET_ANVIL_PORT),
  };
};

const list = z.object({ policies: z.array(z.object({ policyId: z.string() })) });
const policiesOf = async (api: string, wallet: string) =>
  list.parse((await http(`${api}/api/v1/policies/by-buyer/${wallet}`)).json).policies.length;

async function keyOf(api: string, wallet: string): Promise<{ "x-api-key": string }> {
  const issued = await http(`${api}/api/v1/keys/generate`, {
    ...{ method: "POST", headers: { "x-admin-token": DEV_ADMIN_TOKEN }, body: { wallet } },
  });
  return { "x-api-key": z.object({ apiKey: z.string() }).parse(issued.json).apiKey };
}

async function stop(run: ReturnType<typeof startFork>, settings: DevSettings): Promise<void> {
  run.signal("SIGINT");
  expect((await run.exited).code).toBe(0);
  expect(await devLeftovers(settings)).toEqual([]);
}

test("a fork of a chain like the live one: a purchase, its payment, a sale, an expiry, a redemption; again; and at an older block", async () => {
  const timestamp = BigInt(Math.floor(Date.now() / 1000)) - 800n * DAY;
  const upstream = await startChain({ relayers: [anvilAccount(5)], retired: false, timestamp });
  const { deployment } = upstream;
  const { contracts } = deployment;
  await seedHistory({ rpcUrl: upstream.url, deployment });
  const firstSale = await sellTwo(upstream);
  await closeFeeds(upstream);
  await giveToContract(upstream, contracts.bondVault);
  await delegateAccounts(upstream);
  await upstream.client.mine({ blocks: 1 });
  const newest = await upstream.client.getBlockNumber();
  const node = await publicNode(upstream);
  const settings = await devSettings();
  const { API_URL: api, RPC_URL: rpc, ...testnet } = urlsOf(settings);
  const fork = (...more: string[]) =>
    startFork(settings, ["--rpc", node.url, "--deployment", upstream.deploymentFile, ...more]);

  const run = fork();
  await run.ready();
  expect(run.output()).toContain(`forks block ${newest} of chain 8453`);
  expect(run.output()).toMatch(
    new RegExp(`history: block ${newest} of ${newest}, 100 %, \\d+ requests a second`),
  );

  // Wallets and roles are the fork's alone.
  const forked = testClient(chainOf(deployment, rpc), rpc);
  const { relayer } = upstream;
  const mayRelay = (client: typeof forked) =>
    client.readContract({
      ...{ address: contracts.coverRouter, abi: coverRouterAbi },
      ...{ functionName: "authorizedRelayers", args: [relayer.address] },
    });
  const state = async (client: typeof forked) => ({
    relays: await mayRelay(client),
    code: await client.getCode({ address: buyer.address }),
    hasUsdc:
      (await client.readContract({
        ...{ address: contracts.usdc, abi: erc20Abi, functionName: "balanceOf", args: [buyer.address] },
      })) > 0n,
  });
  expect(await state(forked)).toEqual({ relays: true, code: undefined, hasUsdc: true });
  expect(await state(upstream.client)).toEqual({
    relays: false,
    code: DELEGATION.toLowerCase(),
    hasUsdc: false,
  });
  for (const { adapter } of await sellingAdapters(createReadClient(deployment, rpc), contracts)) {
    const keeper = await forked.readContract({
      address: adapter,
      abi: shieldAdapterAbi,
      functionName: "keeper",
    });
    expect(contracts.shieldKeeper && isAddressEqual(keeper, contracts.shieldKeeper)).toBe(true);
  }

  // The history is indexed; the demo buys with a permit, is paid after three observations, lists, sells and withdraws.
  expect(await policiesOf(api, early.address)).toBe(2);
  const demo = await runCommand(["scripts/run.mjs", "scripts/demo.ts"], {
    ...{ ADMIN_TOKEN: "", API_URL: api, RPC_URL: rpc, ...testnet },
  });
  expect(demo.code, demo.said).toBe(0);
  const [, epoch = ""] = /✓ 800 bonds of (\d{6}) are sold/.exec(demo.said) ?? [];

  // With an approval, and an expiry.
  const protocol = openProtocol(deployment, rpc);
  await act.approveUsdc(protocol, buyer, contracts.coverRouter);
  const bought = await http(`${api}/api/v1/policies`, {
    ...{ method: "POST", headers: await keyOf(api, buyer.address) },
    body: { productName: "FLASHETH1H-001", coverageAmount: "100000000", buyer: buyer.address },
  });
  expect(bought.status, JSON.stringify(bought.json)).toBe(201);
  const { policyId } = z.object({ policyId: z.string() }).parse(bought.json);
  const moved = await runCommand(["scripts/run.mjs", "scripts/dev-price.ts", "ETH", "+1%"], {
    ...{ API_URL: api, RPC_URL: rpc },
  });
  expect(moved.code, moved.said).toBe(0);
  await act.timeTravel(protocol, 3601n);
  const read = async () => (await http(`${api}/policies/${eth1.productId}/${policyId}`)).json;
  await expect.poll(read).toMatchObject({ status: "Expired" });
  await expect.poll(() => act.coverOf(protocol, eth1, BigInt(policyId))).toMatchObject({ finalized: true });

  // A burn, and the queue of the next week.
  const { receipt } = await act.executeBurn(protocol, buyer);
  const activity = async () => JSON.stringify((await http(`${api}/api/v1/stats/activity`)).json);
  await expect.poll(activity).toContain(receipt.transactionHash);
  // Some of the week's entries fit into its cap.
  const waiting = async () =>
    z
      .object({ waiting: z.object({ entries: z.int() }) })
      .parse((await http(`${api}/api/v1/stats/queue`)).json).waiting.entries;
  const queued = await waiting();
  await act.timeTravel(protocol, 7n * DAY);
  await expect.poll(waiting).toBeLessThan(queued);

  // A redemption after two years.
  await act.timeTravel(protocol, 762n * DAY);
  await act.redeem(protocol, holder, BigInt(epoch), 10n);
  const headers = await keyOf(api, holder.address);
  const bonds = async () => (await http(`${api}/api/v1/bonds/${holder.address}`, { headers })).json;
  await expect.poll(async () => JSON.stringify(await bonds())).toContain('"790"');
  await stop(run, settings);

  // Again: what was read is kept.
  const before = new Map(node.counts);
  const again = fork("--block", String(newest));
  await again.ready();
  // Anvil asks for the receipts of the fork's own transactions as often as somebody waits for them.
  const asked = [...node.counts]
    .filter(([method]) => method !== "eth_getTransactionReceipt")
    .map(([method, count]) => [method, count - (before.get(method) ?? 0)]);
  expect(
    asked.reduce((sum, [, count]) => sum + Number(count), 0),
    JSON.stringify(asked),
  ).toBeLessThan(60);
  expect(await policiesOf(api, early.address)).toBe(2);
  await stop(again, settings);

  const older = fork("--block", String(firstSale));
  await older.ready();
  expect(await policiesOf(api, early.address)).toBe(1);
  await stop(older, settings);
}, 900_000);

test("a fork of the testnet, in a Postgres of one's own: no sandbox beside it; it goes on after a new phase of a feed", async () => {
  // Of the testnet's own number: then there is no other testnet beside it, which the ledger could not tell apart.
  const upstream = await startChain({ chainId: 84532 });
  const { deployment } = upstream;
  const settings = await devSettings();
  const { API_URL: api, RPC_URL: rpc } = urlsOf(settings);
  const run = startFork(settings, ["--rpc", upstream.url, "--deployment", upstream.deploymentFile], {
    DATABASE_URL: await freshDatabase({ empty: true }),
  });
  await run.ready();
  expect((await http(`${api}/health`)).json).toMatchObject({
    status: "ok",
    chain: { chainId: 84532 },
    contracts: { coverRouter: deployment.contracts.coverRouter },
  });
  expect(await testnetState(api)).toMatchObject({
    sandbox: { enabled: false, status: "disabled" },
    faucet: { enabled: false },
  });

  const protocol = openProtocol(deployment, rpc);
  await act.proposeAggregator(protocol, upstream.owner, "ETH");
  await act.confirmAggregator(protocol, upstream.owner, "ETH");
  await expect.poll(run.output).toMatch(/indexer starts again: a feed has a new aggregator/);
  const isReady = () =>
    http(`http://127.0.0.1:${settings.env.PONDER_PORT}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await expect.poll(isReady).toBe(true);
  await stop(run, settings);
});
