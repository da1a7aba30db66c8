/** `npm run dev`, besides what the end of docs.test.ts proves on a stack that is in use. */
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, testClient } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { devChildren, devLeftovers, devSettings, startDev } from "../support/dev-stack.ts";
import { http } from "../support/http.ts";
import * as act from "../support/protocol-actions.ts";
import { testnetState } from "./support/dev-checks.ts";

const healthShape = z.object({
  status: z.string(),
  chain: z.object({ chainId: z.int() }),
  contracts: z.object({ coverRouter: z.string() }),
});

describe("npm run dev", () => {
  test("runs on a fork and a Postgres of one's own, goes on after a new phase of a feed, and Ctrl-C leaves nothing behind", async () => {
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

    const protocol = openProtocol(deployment, forkUrl);
    await act.proposeAggregator(protocol, upstream.owner, "ETH");
    await act.confirmAggregator(protocol, upstream.owner, "ETH");
    await expect.poll(run.output).toMatch(/indexer starts again: a feed has a new aggregator/);
    const isReady = () =>
      http(`http://127.0.0.1:${settings.env.PONDER_PORT}/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await expect.poll(isReady).toBe(true);

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
