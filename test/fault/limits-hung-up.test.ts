/**
 * A client that closes its connections right after the request. What this proves: no call counts for another or an unknown
 * address, so that the client cannot exceed its own limits.
 */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { readSandbox } from "../../api/sandbox/wallet.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { claim } from "./support/faucet-calls.ts";
import { randomWallet, startTestnetSetup } from "./support/testnet-setup.ts";

/** Sends a request and resets the connection `ms` later. */
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

test("one address that hangs up gets one faucet claim and at most ten sandbox purchases", async () => {
  const setup = await startTestnetSetup({
    parts: "both",
    env: { api: { TRUST_PROXY: "", SANDBOX_RATE_LIMIT: "10" } },
  });
  const { stack, connection, testnet } = setup;
  const { sql } = connection;
  await waitFor({
    what: "the sandbox to be ready",
    probe: async () =>
      (await readSandbox(sql, testnet.deployment.chainId)).status === "ready" ? true : undefined,
  });
  const { apiUrl } = stack;
  const claimedAndBought = async () => {
    const [rows] = await sql`
      select exists (select 1 from service.faucet_claim) and exists (select 1 from service.purchase_progress) as both`;
    return rows?.both === true;
  };
  // Each hangs up a little later, until the api has had time to accept a call of each kind.
  for (let n = 0; n < 60 || !(await claimedAndBought()); n += 1) {
    await hangUp(apiUrl, "/api/v1/faucet/claim", JSON.stringify({ wallet: randomWallet() }), n);
    await hangUp(apiUrl, "/sandbox/try", "{}", n);
  }
  // The same address waits for its answer now: it gets what its limits still allow.
  expect([200, 429, 503]).toContain((await claim(setup, { wallet: randomWallet(), ip: "127.0.0.1" })).status);
  expect([200, 403, 503]).toContain(
    (await stack.request("/sandbox/try", { method: "POST", body: {} })).status,
  );
  // Once the api and its statements have ended, all accepted calls are in the tables.
  await stack.stopService("api");
  await waitFor({
    what: "the api's statements to end",
    probe: async () => {
      const rows = await sql`
        select 1 from pg_stat_activity where datname = current_database() and application_name like 'api%'`;
      return rows.length === 0 || undefined;
    },
  });
  const claims = await sql`select client from service.faucet_claim`;
  expect(claims).toEqual([{ client: "127.0.0.1" }]);
  const bought = await sql`select id from service.purchase_progress`;
  expect(bought.length).toBeGreaterThan(0);
  expect(bought.length).toBeLessThanOrEqual(10);
});
