/** `npm run ledger` on what the testnet has done and is told to stop. */
import { getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type FaucetWorld, STATUS, startFaucet } from "../api/support/faucet.ts";
import { typeLedger } from "./support/ledger-command.ts";

let world: FaucetWorld;

beforeAll(async () => {
  world = await startFaucet();
});

const type = async (...args: readonly string[]) => (await typeLedger(world.stack.databaseUrl, args)).said;
const sandbox = () => world.stack.request("/sandbox/try", { method: "POST" });
const statusOf = async (path: string) => (await world.stack.request(path)).json;
const sandboxReady = () =>
  waitFor({
    what: "the sandbox to be ready",
    probe: async () => {
      const { text } = await world.stack.request("/sandbox/info");
      return text.includes('"status":"ready"') || undefined;
    },
    timeoutMs: 60_000,
  });

test("a claim shows with both transfers, and every wallet with its role and what it gave", async () => {
  await sandboxReady();
  expect((await world.claim()).status).toBe(200);
  expect((await sandbox()).status).toBe(200);
  const said = await type();
  for (const [role, { address }] of Object.entries(serviceWallets)) {
    expect(said, role).toMatch(new RegExp(`84532 +${role} +${getAddress(address)} `));
  }
  const [row] = await world.sql<{ claim: string; hashes: string[] }[]>`
    select claim_id as claim, array_agg(tx_hash) as hashes from service.errand where claim_id is not null group by 1`;
  const shown = await type("show", row?.claim ?? "");
  expect(shown).toContain(`Claim of the faucet ${row?.claim}`);
  expect(row?.hashes).toHaveLength(2);
  for (const hash of row?.hashes ?? []) expect(shown).toContain(hash);
  const spent = await waitFor({
    what: "the gas to be on record",
    probe: async () => {
      const now = await type();
      return / faucet +0x\w+ +2 +0\.\d+ +0\.050000$/m.test(now) ? now : undefined;
    },
    timeoutMs: 60_000,
  });
  expect(spent).toMatch(/In flight, the oldest 50\n +none/);
});

test("a stop of a wallet turns its part off and no other, a global one both, and each comes back", async () => {
  await sandboxReady();
  const { faucet, sandbox: buyer } = serviceWallets;
  const all = { faucet: { enabled: true }, sandbox: { enabled: true } };
  const state = async () => ({ faucet: await statusOf(STATUS), sandbox: await statusOf("/sandbox/info") });
  for (const { target, off, refused, stillOn } of [
    { target: ["wallet", faucet.address], off: { faucet: false }, refused: world.claim, stillOn: sandbox },
    { target: ["wallet", buyer.address], off: { sandbox: false }, refused: sandbox, stillOn: world.claim },
    { target: ["global"], off: { faucet: false, sandbox: false }, refused: sandbox, stillOn: undefined },
  ]) {
    const said = await type("stop", ...target, "--reason", "a test");
    expect(said).toContain("Stopped: ");
    expect(said).not.toContain("No writer sends from this wallet");
    const enabled = Object.entries(off).map(([part, on]) => [part, { enabled: on }] as const);
    await expect
      .poll(state, { message: target.join(" ") })
      .toMatchObject({ ...all, ...Object.fromEntries(enabled) });
    expect((await refused()).status, target.join(" ")).toBe(503);
    if (stillOn) expect((await stillOn()).status, target.join(" ")).toBe(200);
    else expect((await world.claim()).status).toBe(503);
    expect(await type("resume", ...target)).toContain("Resumed: ");
    await expect.poll(state).toMatchObject(all);
    expect((await refused()).status, target.join(" ")).toBe(200);
  }
});
