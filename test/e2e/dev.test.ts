import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, testClient } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { devChildren, devLeftovers, devPlace, typeDev } from "../support/dev-stack.ts";
import { http } from "../support/http.ts";

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

describe("npm run dev", () => {
  test("comes up, survives a kill -9 of its last run, and goes down as a whole when a part of it dies", async () => {
    const place = await devPlace();
    const api = `http://127.0.0.1:${place.env.PORT}`;

    const first = typeDev(place);
    await first.ready();
    expect(healthShape.parse((await http(`${api}/health`)).json).status).toBe("ok");
    expect((await http(`${api}/api/v1/indexer/health`)).json).toMatchObject({ status: "synced" });
    const ready = { sandbox: { enabled: true, status: "ready", chainId: 84532 }, faucet: { enabled: true } };
    expect(await testnetState(api)).toMatchObject(ready);
    expect((await http(`${api}/sandbox/try`, { method: "POST" })).json).toMatchObject({ ok: true });
    expect(first.output()).toContain(`curl -X POST ${api}/sandbox/try`);

    const beside = typeDev(place);
    expect((await beside.exited).code).toBe(1);
    expect(beside.output()).toMatch(/runs in this folder already, as process \d+/);
    expect((await http(`${api}/health`)).status).toBe(200);

    first.signal("SIGKILL");
    await first.exited;
    expect((await devLeftovers(place)).length, "a killed stack leaves its processes").toBeGreaterThan(0);

    const second = typeDev(place);
    await second.ready();
    expect((await http(`${api}/api/v1/indexer/health`)).json).toMatchObject({ status: "synced" });

    const writer = devChildren(place).find(({ name }) => name === "writer");
    process.kill(writer?.pid ?? 0, "SIGKILL");
    expect((await second.exited).code).toBe(1);
    expect(second.output()).toMatch(/writer was ended by SIGKILL/);
    expect(await devLeftovers(place)).toEqual([]);
  }, 600_000);

  test("runs on a fork and a Postgres of one's own, and Ctrl-C leaves nothing behind", async () => {
    // Of the testnet's own number: then there is no other testnet beside it, which the ledger could not tell apart.
    const upstream = await startChain({ chainId: 84532, relayers: [anvilAccount(5)] });
    const place = await devPlace();
    const run = typeDev(place, ["--fork", upstream.url, "--deployment", upstream.deploymentFile], {
      DATABASE_URL: await freshDatabase({ empty: true }),
    });
    await run.ready();

    const health = healthShape.parse((await http(`http://127.0.0.1:${place.env.PORT}/health`)).json);
    expect(health).toMatchObject({ status: "ok", chain: { chainId: upstream.deployment.chainId } });
    expect(health.contracts.coverRouter).toBe(upstream.deployment.contracts.coverRouter);
    expect(await testnetState(`http://127.0.0.1:${place.env.PORT}`)).toMatchObject({
      sandbox: { enabled: false, status: "disabled" },
      faucet: { enabled: false },
    });

    const { relayer, deployment } = upstream;
    const forkUrl = `http://127.0.0.1:${place.env.ANVIL_PORT}`;
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
    expect(await devLeftovers(place)).toEqual([]);
  }, 400_000);

  test("Ctrl-C while it comes up leaves nothing behind either", async () => {
    const place = await devPlace();
    const run = typeDev(place);
    await waitFor({
      what: "the first processes",
      probe: () => devChildren(place).length > 0 || undefined,
      timeoutMs: 60_000,
    });
    run.signal("SIGINT");
    expect((await run.exited).code).toBe(0);
    expect(await devLeftovers(place)).toEqual([]);
  }, 120_000);

  test("names every port that is taken, and the variable that moves it", async () => {
    const place = await devPlace();
    const occupied = createServer();
    await new Promise<void>((resolve) =>
      occupied.listen(Number(place.env.ANVIL_PORT), "127.0.0.1", () => resolve()),
    );
    atEnd(() => new Promise((resolve) => occupied.close(() => resolve())));
    const run = typeDev(place, [], { PONDER_PORT: place.env.PORT ?? "" });
    expect((await run.exited).code).toBe(1);
    expect(run.output()).toMatch(new RegExp(`ANVIL_PORT ${place.env.ANVIL_PORT} is taken`));
    expect(run.output()).toMatch(/PONDER_PORT and PORT are both/);
  });

  test("an argument that it does not know is answered with its usage", async () => {
    const run = typeDev(await devPlace(), ["--fork", "http://127.0.0.1:1"]);
    expect((await run.exited).code).toBe(1);
    expect(run.output()).toMatch(/--fork and --deployment go together/);
  });
});
