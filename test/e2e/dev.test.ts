import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, testClient } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { runCommand } from "../support/command.ts";
import { freshDatabase } from "../support/database.ts";
import { type DevSettings, devChildren, devLeftovers, devSettings, startDev } from "../support/dev-stack.ts";
import { http } from "../support/http.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

const healthShape = z.object({
  status: z.string(),
  chain: z.object({ chainId: z.int() }),
  contracts: z.object({ coverRouter: z.string() }),
});

/** What the api says of sandbox and faucet. */
async function testnetState(api: string): Promise<unknown> {
  const [sandbox, faucet] = await Promise.all(
    ["/sandbox/info", "/api/v1/faucet/status"].map(async (path) => (await http(`${api}${path}`)).json),
  );
  return { sandbox, faucet };
}

/** On a busy machine the index may be a block late for a moment. */
async function expectSynced(api: string): Promise<void> {
  await expect.poll(async () => (await http(`${api}/health`)).json).toMatchObject({ status: "ok" });
  const indexer = async () => (await http(`${api}/api/v1/indexer/health`)).json;
  await expect.poll(indexer).toMatchObject({ status: "synced" });
}

/** `npm run dev:price` on this stack: the price is new and stays, policies are due, and what it cannot do is refused. */
async function expectPriceMoves({ env }: DevSettings): Promise<void> {
  const local = (port: string | undefined) => `http://127.0.0.1:${port}`;
  const urls = { API_URL: local(env.PORT), RPC_URL: local(env.ANVIL_PORT) };
  const type = (args: readonly string[], more: Record<string, string> = {}) =>
    runCommand(["scripts/run.mjs", "scripts/dev-price.ts", ...args], { ...urls, ...more });

  const fell = await type(["BTC", "-7%"]);
  expect(fell.code, fell.said).toBe(0);
  const [, before = "", after = ""] = /^BTC on chain 8453: ([\d.]+) → ([\d.]+) USD$/m.exec(fell.said) ?? [];
  expect(Number(after) / Number(before), fell.said).toBeCloseTo(0.93, 6);
  expect(fell.said.match(/^ {2}round \d+ at /gm)).toHaveLength(3);
  // The seeded history has open policies on BTC.
  expect(fell.said).toMatch(/^Due in block \d+: [1-9]/m);

  const stays = await type(["BTC", "+0%"]);
  expect(stays.said).toContain(`BTC on chain 8453: ${after} → ${after} USD`);

  const refused = async (more: Record<string, string>, reason: RegExp) => {
    const { code, said } = await type(["BTC", "-7%"], more);
    expect(said).toMatch(reason);
    expect(code, said).toBe(1);
  };
  const otherNode = await startRpcProxy(urls.RPC_URL);
  otherNode.intercept(async ({ method }, forward) =>
    method === "web3_clientVersion" ? { result: "Geth/v1.16.0" } : forward(),
  );
  await refused({ API_URL: local("1") }, /^The api at http:\/\/127.0.0.1:1 does not answer/);
  await refused({ RPC_URL: local(env.TESTNET_ANVIL_PORT) }, /is chain 84532, and the api .* serves 8453/);
  await refused({ RPC_URL: otherNode.url }, /is not anvil: this command is for the local chain/);
}

describe("npm run dev", () => {
  test("comes up, survives a kill -9 of its last run, and goes down as a whole when a part of it dies", async () => {
    const settings = await devSettings();
    const api = `http://127.0.0.1:${settings.env.PORT}`;

    const first = startDev(settings);
    await first.ready();
    await expectSynced(api);
    const ready = { sandbox: { enabled: true, status: "ready", chainId: 84532 }, faucet: { enabled: true } };
    await expect.poll(() => testnetState(api)).toMatchObject(ready);
    expect((await http(`${api}/sandbox/try`, { method: "POST" })).json).toMatchObject({ ok: true });
    expect(first.output()).toContain(`curl -X POST ${api}/sandbox/try`);

    const beside = startDev(settings);
    expect((await beside.exited).code).toBe(1);
    expect(beside.output()).toMatch(/runs in this folder already, as process \d+/);
    expect((await http(`${api}/health`)).status).toBe(200);

    first.signal("SIGKILL");
    await first.exited;
    expect((await devLeftovers(settings)).length, "a killed stack leaves its processes").toBeGreaterThan(0);

    const second = startDev(settings);
    await second.ready();
    await expectSynced(api);

    await expectPriceMoves(settings);

    const writer = devChildren(settings).find(({ name }) => name === "writer");
    process.kill(writer?.pid ?? 0, "SIGKILL");
    expect((await second.exited).code).toBe(1);
    expect(second.output()).toMatch(/writer was ended by SIGKILL/);
    expect(await devLeftovers(settings)).toEqual([]);
  }, 600_000);

  test("runs on a fork and a Postgres of one's own, and Ctrl-C leaves nothing behind", async () => {
    // Of the testnet's own number: then there is no other testnet beside it, which the ledger could not tell apart.
    const upstream = await startChain({ chainId: 84532, relayers: [anvilAccount(5)] });
    const settings = await devSettings();
    const run = startDev(settings, ["--fork", upstream.url, "--deployment", upstream.deploymentFile], {
      DATABASE_URL: await freshDatabase({ empty: true }),
    });
    await run.ready();

    const health = healthShape.parse((await http(`http://127.0.0.1:${settings.env.PORT}/health`)).json);
    expect(health).toMatchObject({ status: "ok", chain: { chainId: upstream.deployment.chainId } });
    expect(health.contracts.coverRouter).toBe(upstream.deployment.contracts.coverRouter);
    expect(await testnetState(`http://127.0.0.1:${settings.env.PORT}`)).toMatchObject({
      sandbox: { enabled: false, status: "disabled" },
      faucet: { enabled: false },
    });

    const { relayer, deployment } = upstream;
    const forkUrl = `http://127.0.0.1:${settings.env.ANVIL_PORT}`;
    const mayRelay = (url: string) =>
      testClient(chainOf(deployment, url), url).readContract({
        address: deployment.contracts.coverRouter,
        abi: coverRouterAbi,
        functionName: "authorizedRelayers",
        args: [relayer.address],
      });
    expect({ fork: await mayRelay(forkUrl), upstream: await mayRelay(upstream.url) }).toEqual({
      fork: true,
      upstream: false,
    });

    run.signal("SIGINT");
    expect((await run.exited).code).toBe(0);
    expect(await devLeftovers(settings)).toEqual([]);
  });

  test("Ctrl-C while it comes up leaves nothing behind either", async () => {
    const settings = await devSettings();
    const run = startDev(settings);
    await waitFor({
      what: "the first processes",
      probe: () => devChildren(settings).length > 0 || undefined,
    });
    run.signal("SIGINT");
    expect((await run.exited).code).toBe(0);
    expect(await devLeftovers(settings)).toEqual([]);
  });

  test("names every port that is taken, and the variable that moves it", async () => {
    const settings = await devSettings();
    const occupied = createServer();
    await new Promise<void>((resolve) =>
      occupied.listen(Number(settings.env.ANVIL_PORT), "127.0.0.1", () => resolve()),
    );
    atEnd(() => new Promise((resolve) => occupied.close(() => resolve())));
    const run = startDev(settings, [], { PONDER_PORT: settings.env.PORT ?? "" });
    expect((await run.exited).code).toBe(1);
    expect(run.output()).toMatch(new RegExp(`ANVIL_PORT ${settings.env.ANVIL_PORT} is taken`));
    expect(run.output()).toMatch(/PONDER_PORT and PORT are both/);
  });

  test("an argument that it does not know is answered with its usage", async () => {
    const run = startDev(await devSettings(), ["--fork", "http://127.0.0.1:1"]);
    expect((await run.exited).code).toBe(1);
    expect(run.output()).toMatch(/--fork and --deployment go together/);
  });
});
