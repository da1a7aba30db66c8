/**
 * Clients that hang up as soon as they have asked. What this proves: whoever is gone before it can be named is counted as
 * nobody else, so that it gets no more than its own share.
 */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { readSandbox } from "../../api/sandbox/wallet.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { claim } from "./support/faucet-truth.ts";
import { randomWallet, startTestnetWorld } from "./support/testnet-world.ts";

/** Sends a request and breaks the connection `ms` later. */
const hangUp = (url: string, path: string, body: string, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
      socket.write(`${head}\r\n\r\n${body}`, () => {
        setTimeout(() => {
          socket.resetAndDestroy();
          resolve();
        }, ms);
      });
    });
    socket.on("error", () => resolve());
  });

test("one address that hangs up gets one grant of the faucet and ten of the sandbox's calls", async () => {
  const world = await startTestnetWorld({
    parts: "both",
    env: { api: { TRUST_PROXY: "", SANDBOX_RATE_LIMIT: "10" } },
  });
  const { stack, connection, testnet } = world;
  const { sql, db } = connection;
  await waitFor({
    what: "the sandbox to be ready",
    probe: async () =>
      (await readSandbox(db, testnet.deployment.chainId)).status === "ready" ? true : undefined,
    timeoutMs: 60_000,
  });
  const { apiUrl } = stack;
  for (let n = 0; n < 60; n += 1) {
    await hangUp(apiUrl, "/api/v1/faucet/claim", JSON.stringify({ wallet: randomWallet() }), n % 6);
    await hangUp(apiUrl, "/sandbox/try", "{}", n % 6);
  }
  await waitFor({
    what: "a claim and a purchase of those who hung up",
    probe: async () => {
      const [rows] = await sql`
        select exists (select 1 from service.faucet_claim) and exists (select 1 from service.purchase) as both`;
      return rows?.both === true || undefined;
    },
    timeoutMs: 60_000,
  });
  // The same address, and it stays: it has what is left of its share, if anything is.
  expect([200, 429, 503]).toContain(
    (await claim(world, { wallet: randomWallet(), from: "127.0.0.1" })).status,
  );
  expect([200, 403, 503]).toContain(
    (await stack.request("/sandbox/try", { method: "POST", body: {} })).status,
  );
  // Once the api and its statements have ended, all that was accepted is in the tables.
  await stack.stopService("api");
  await waitFor({
    what: "the api's statements to end",
    probe: async () => {
      const rows = await sql`
        select 1 from pg_stat_activity where datname = current_database() and application_name like 'api%'`;
      return rows.length === 0 || undefined;
    },
    timeoutMs: 60_000,
  });
  const claims = await sql`select client from service.faucet_claim`;
  expect(claims).toEqual([{ client: "127.0.0.1" }]);
  const bought = await sql`select id from service.purchase`;
  expect(bought.length).toBeGreaterThan(0);
  expect(bought.length).toBeLessThanOrEqual(10);
});
