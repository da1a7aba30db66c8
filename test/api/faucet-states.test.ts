/** A faucet that cannot pay now, and claims whose result no caller has received. */
import { parseEther } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { failure } from "./support/api.ts";
import {
  balancesOf,
  CLAIM,
  claimOnce,
  GRANT,
  newClaimant,
  newClientAddress,
  newWallet,
  retryAfter,
  STATUS,
  startFaucet,
  statusOf,
  type TestFaucet,
} from "./support/faucet.ts";
import { unreceivedClaims } from "./support/unreceived-claims.ts";

const WAIT_MS = 4000;

let faucet: TestFaucet;
beforeAll(async () => {
  faucet = await startFaucet({ env: { api: { PURCHASE_WAIT_MS: String(WAIT_MS) } } });
});
beforeEach(async () => {
  await faucet.forgetClaims();
});

const faucetAddress = serviceWallets.faucet.address;
/**
 * Restarts the api, because it caches the balance for 5 s and adjusts it only for its own grants. Waits first until the
 * writer has settled the newest block, so that the api reads the balance of that block.
 */
async function refreshBalance(): Promise<void> {
  await waitFor({
    what: "the writer to settle the newest block",
    probe: async () => {
      const head = await faucet.testnet.client.getBlockNumber();
      const [row] = await faucet.sql<{ number: string }[]>`
        select number::text from service.watched_block where chain_id = 84532`;
      return row?.number === String(head) || undefined;
    },
  });
  await faucet.stack.restart("api");
}

const readStatus = async () => statusOf(await faucet.request(STATUS));

describe("a disabled faucet", () => {
  test("without a testnet a claim gets 503 faucet_disabled, and the status is disabled", async () => {
    const stack = await startStack({ chain: faucet.chain, services: ["api"] });
    const request = await checkedRequests(stack.apiUrl);
    const answer = await request(CLAIM, { body: { wallet: newWallet() } });
    expect(failure(answer)).toEqual([503, "faucet_disabled"]);
    expect(retryAfter(answer)).toBe(30);
    expect(failure(await request(CLAIM, { body: {} }))).toEqual([400, "invalid_request"]);
    expect((await request(STATUS)).json).toMatchObject({
      enabled: false,
      status: "disabled",
      relayerEthBalance: "0",
      mockUsdcAddress: null,
      claimsLast24h: 0,
    });
    await stack.stop();
  });

  test("with a testnet but without a faucet wallet a claim gets 503 faucet_disabled", async () => {
    const { chain, testnet } = faucet;
    const stack = await startStack({ chain, testnet, services: ["api"] });
    const request = await checkedRequests(stack.apiUrl);
    expect(failure(await request(CLAIM, { body: { wallet: newWallet() } }))).toEqual([
      503,
      "faucet_disabled",
    ]);
    expect((await request(STATUS)).json).toMatchObject({
      enabled: false,
      mockUsdcAddress: testnet.deployment.contracts.usdc,
    });
    await stack.stop();
  });

  test.each([
    ["the wallet", "wallet", faucetAddress.toLowerCase()],
    ["everything", "global", ""],
  ])("a claim gets 503 faucet_disabled while the operator stops %s", async (_, scope, subject) => {
    await faucet.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
    // While the writer is behind, a claim gets relayer_unavailable first.
    expect(failure(await claimOnce(faucet))).toEqual([503, "faucet_disabled"]);
    await expect.poll(readStatus).toMatchObject({ enabled: false, status: "disabled" });
    await faucet.sql`delete from service.stop`;
    expect((await claimOnce(faucet)).status).toBe(200);
    await expect.poll(readStatus).toMatchObject({ enabled: true, status: "ready", reason: null });
  });
});

describe("out_of_eth", () => {
  const setBalance = (value: bigint) => faucet.testnet.client.setBalance({ address: faucetAddress, value });

  test("a claim that the wallet cannot pay gets 503 and starts no limit, also while the writer is behind; it is paid once the wallet has ether", async () => {
    await setBalance(parseEther("0.05"));
    const [wallet, from] = [newWallet(), newClientAddress()];
    await refreshBalance();
    const answer = await faucet.claim({ wallet, from });
    expect(failure(answer)).toEqual([503, "out_of_eth"]);
    expect(retryAfter(answer)).toBe(30);
    expect(await readStatus()).toMatchObject({ enabled: true, status: "unready" });
    expect(await faucet.sql`select 1 from service.faucet_slot`).toHaveLength(0);
    // Unsettled grants would count twice. Calls within 250 ms share one read of the newest block.
    await faucet.stack.kill9("writer");
    await faucet.testnet.client.mine({ blocks: 1 });
    await expect
      .poll(async () => failure(await faucet.claim({ wallet, from })))
      .toEqual([503, "relayer_unavailable"]);
    await setBalance(parseEther("10"));
    // The dead writer's leases end at once.
    await faucet.sql`update service.relayer_wallet set lease_until = now()`;
    await faucet.stack.start("writer");
    await expect.poll(async () => (await faucet.claim({ wallet, from })).status).toBe(200);
    expect(await balancesOf(faucet, wallet)).toEqual(GRANT);
    await expect.poll(readStatus).toMatchObject({ status: "ready" });
  });

  test("of 40 simultaneous claims only those that the balance covers are paid, each in full", async () => {
    await setBalance(parseEther("0.16"));
    await refreshBalance();
    const claimants = Array.from({ length: 40 }, () => newClaimant());
    const answers = await Promise.all(claimants.map((claimant) => claimOnce(faucet, claimant)));
    const outcomes = answers.map((answer) => (answer.status === 200 ? "paid" : failure(answer)[1])).sort();
    expect(outcomes).toEqual([...Array(37).fill("out_of_eth"), ...Array(3).fill("paid")]);
    const held = await Promise.all(claimants.map(({ wallet }) => balancesOf(faucet, wallet)));
    const paid = answers.map(({ status }) => status === 200);
    expect(held).toEqual(paid.map((isPaid) => (isPaid ? GRANT : { wei: 0n, usdc: 0n })));
    await setBalance(parseEther("10"));
  });
});

describe("gas limits", () => {
  const spend = (wei: bigint) => faucet.sql`
    insert into service.gas_day as g (chain_id, day, wallet, sender, wei)
    values (84532, (now() at time zone 'utc')::date, '', '', ${String(wei)})
    on conflict (chain_id, day, wallet, sender) do update set wei = g.wei + excluded.wei`;
  const expectUnready = (reason: string) =>
    expect.poll(readStatus).toMatchObject({ enabled: true, status: "unready", reason });
  const expectReady = () => expect.poll(readStatus).toMatchObject({ status: "ready" });

  async function expectRefused(reason: RegExp): Promise<void> {
    const answer = await faucet.claim();
    expect(failure(answer)).toEqual([503, "relayer_unavailable"]);
    expect(answer.text).toMatch(reason);
    expect(retryAfter(answer)).toBe(30);
    expect(await faucet.sql`select 1 from service.faucet_slot`).toHaveLength(0);
    expect(
      await faucet.sql`select 1 from service.service_transaction_progress where state = 'accepted'`,
    ).toHaveLength(0);
  }

  test("when the daily gas budget is spent a claim gets 503, but 429 if its wallet is limited", async () => {
    const claimant = newClaimant();
    expect((await claimOnce(faucet, claimant)).status).toBe(200);
    const all = 10n ** 24n;
    await spend(all);
    await expectUnready("The gas that may be spent in a day (UTC) is spent.");
    expect(failure(await faucet.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
    await faucet.forgetClaims();
    await expectRefused(/gas that may be spent/);
    await spend(-all);
    await expectReady();
    expect((await claimOnce(faucet)).status).toBe(200);
  });

  test("when the base fee is above the operator's cap a claim gets 503", async () => {
    const { client } = faucet.testnet;
    const { baseFeePerGas } = await client.getBlock();
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 15n });
    await client.mine({ blocks: 1 });
    await expectUnready("Gas costs more at present than the operator lets it cost.");
    await expectRefused(/Gas costs more/);
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFeePerGas ?? 1n });
    await client.mine({ blocks: 1 });
    await expectReady();
  });
});

describe("a claim whose result no caller has received", () => unreceivedClaims(() => faucet));

test("the client address of expired limits is deleted on the next status read", async () => {
  const from = newClientAddress();
  expect((await claimOnce(faucet, { wallet: newWallet(), from })).status).toBe(200);
  await faucet.sql`update service.faucet_claim set claimed_at = claimed_at - interval '3 days'`;
  await faucet.sql`update service.faucet_slot set until = until - interval '3 days'`;
  await faucet.stack.restart("api");
  await faucet.request(STATUS);
  await expect
    .poll(async () =>
      JSON.stringify(
        await faucet.sql`select client, '' from service.faucet_claim
      union all select subject, kind from service.faucet_slot`,
      ),
    )
    .not.toContain(from);
});

describe("last: without node or writer", () => {
  test("without the node a claim gets 503 chain_not_found, but 429 if its wallet is limited", async () => {
    const claimant = newClaimant();
    expect((await claimOnce(faucet, claimant)).status).toBe(200);
    await refreshBalance();
    await faucet.testnet.stop();
    expect(failure(await faucet.claim())).toEqual([503, "chain_not_found"]);
    expect(failure(await faucet.request(STATUS))).toEqual([503, "chain_not_found"]);
    expect(failure(await faucet.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
  });

  test("without a writer a claim gets 503 relayer_unavailable, and after an hour faucet_disabled", async () => {
    await faucet.stack.kill9("writer");
    const setHeartbeatAge = (interval: string) =>
      faucet.sql`update service.relayer_wallet set heartbeat_at = now() - ${interval}::interval where role = 'faucet'`;
    await setHeartbeatAge("16 seconds");
    expect(failure(await faucet.claim())).toEqual([503, "relayer_unavailable"]);
    await setHeartbeatAge("61 minutes");
    expect(failure(await faucet.claim())).toEqual([503, "faucet_disabled"]);
    expect(await readStatus()).toMatchObject({ enabled: false, relayerEthBalance: "0" });
  });
});
