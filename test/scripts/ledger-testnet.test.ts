/** `npm run ledger` on the testnet: claims, wallets and stops. */
import { getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { STATUS, startFaucet, type TestFaucet } from "../api/support/faucet.ts";
import { runLedger } from "./support/ledger-command.ts";

let world: TestFaucet;

beforeAll(async () => {
  world = await startFaucet();
});

const run = async (...args: readonly string[]) => (await runLedger(world.stack.databaseUrl, args)).said;
const sandbox = () => world.stack.request("/sandbox/try", { method: "POST" });
const statusOf = async (path: string) => (await world.stack.request(path)).json;
const sandboxReady = () =>
  waitFor({
    what: "the sandbox to be ready",
    probe: async () => {
      const { text } = await world.stack.request("/sandbox/info");
      return text.includes('"status":"ready"') || undefined;
    },
  });

test("a claim shows both transfers, and each wallet its role and the value it sent", async () => {
  await sandboxReady();
  expect((await world.claim()).status).toBe(200);
  expect((await sandbox()).status).toBe(200);
  const said = await run();
  const { keeper: _ofTheMainChain, ...wallets } = serviceWallets;
  for (const [role, { address }] of Object.entries(wallets)) {
    expect(said, role).toMatch(new RegExp(`84532 +${role} +${getAddress(address)} `));
  }
  const [row] = await world.sql<{ claim: string; hashes: string[] }[]>`
    select claim_id as claim, array_agg(tx_hash) as hashes from service.service_transaction_progress where claim_id is not null group by 1`;
  const shown = await run("show", row?.claim ?? "");
  expect(shown).toContain(`Faucet claim ${row?.claim}`);
  expect(row?.hashes).toHaveLength(2);
  for (const hash of row?.hashes ?? []) expect(shown).toContain(hash);
  const spent = await waitFor({
    what: "the gas cost in the ledger",
    probe: async () => {
      const now = await run();
      return / faucet +0x\w+ +2 +0\.\d+ +0\.050000$/m.test(now) ? now : undefined;
    },
  });
  expect(spent).toMatch(/In flight, the oldest 50\n +none/);
});

test("a wallet's stop disables only its own part, a global stop both, and resuming enables them again", async () => {
  await sandboxReady();
  const { faucet, sandbox: buyer } = serviceWallets;
  const all = { faucet: { enabled: true }, sandbox: { enabled: true } };
  const state = async () => ({ faucet: await statusOf(STATUS), sandbox: await statusOf("/sandbox/info") });
  for (const { target, off, refused, stillOn } of [
    { target: ["wallet", faucet.address], off: { faucet: false }, refused: world.claim, stillOn: sandbox },
    { target: ["wallet", buyer.address], off: { sandbox: false }, refused: sandbox, stillOn: world.claim },
    { target: ["global"], off: { faucet: false, sandbox: false }, refused: sandbox, stillOn: undefined },
  ]) {
    const said = await run("stop", ...target, "--reason", "a test");
    expect(said).toContain("Stopped: ");
    expect(said).not.toContain("No writer sends from this wallet");
    const enabled = Object.entries(off).map(([part, on]) => [part, { enabled: on }] as const);
    await expect
      .poll(state, { message: target.join(" ") })
      .toMatchObject({ ...all, ...Object.fromEntries(enabled) });
    expect((await refused()).status, target.join(" ")).toBe(503);
    if (stillOn) expect((await stillOn()).status, target.join(" ")).toBe(200);
    else expect((await world.claim()).status).toBe(503);
    expect(await run("resume", ...target)).toContain("Resumed: ");
    await expect.poll(state).toMatchObject(all);
    expect((await refused()).status, target.join(" ")).toBe(200);
  }
});
