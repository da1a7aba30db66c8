/** A faucet that cannot pay now, and claims whose result no caller has received. */
import { parseEther } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { failure, repeatWhile, startApi } from "./support/api.ts";
import {
  balancesOf,
  CLAIM,
  countTransfersTo,
  grantOf,
  newClientAddress,
  newWallet,
  retryAfter,
  STATUS,
  startFaucet,
  statusOf,
  type TestFaucet,
} from "./support/faucet.ts";

const WAIT_MS = 4000;
const GRANT = { wei: 50_000_000_000_000_000n, usdc: 10_000_000_000n };

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

/** Claims, and repeats the claim while its result may still come: a busy machine's relayer or chain may be slow. */
const claimOnce = (claimant = { wallet: newWallet(), from: newClientAddress() }) =>
  repeatWhile(["relayer_unavailable", "claim_pending"], () => faucet.claim(claimant));

const readStatus = async () => statusOf(await faucet.request(STATUS));

describe("a disabled faucet", () => {
  test("without a testnet a claim gets 503 faucet_disabled, and the status is disabled", async () => {
    const { request } = await startApi();
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
    expect(failure(await claimOnce())).toEqual([503, "faucet_disabled"]);
    await expect.poll(readStatus).toMatchObject({ enabled: false, status: "disabled" });
    await faucet.sql`delete from service.stop`;
    expect((await claimOnce()).status).toBe(200);
    await expect.poll(readStatus).toMatchObject({ enabled: true, status: "ready", reason: null });
  });
});

describe("out_of_eth", () => {
  const setBalance = (value: bigint) => faucet.testnet.client.setBalance({ address: faucetAddress, value });

  test("a claim gets 503 without starting a limit, and is paid once the wallet has ether", async () => {
    await setBalance(parseEther("0.05"));
    const [wallet, from] = [newWallet(), newClientAddress()];
    await refreshBalance();
    const answer = await faucet.claim({ wallet, from });
    expect(failure(answer)).toEqual([503, "out_of_eth"]);
    expect(retryAfter(answer)).toBe(30);
    expect(await readStatus()).toMatchObject({ enabled: true, status: "unready" });
    expect(await faucet.sql`select 1 from service.faucet_slot`).toHaveLength(0);
    await setBalance(parseEther("10"));
    // Calls within 250 ms share one read of the newest block.
    await expect.poll(async () => (await faucet.claim({ wallet, from })).status).toBe(200);
    expect(await balancesOf(faucet, wallet)).toEqual(GRANT);
  });

  test("of 40 simultaneous claims only those that the balance covers are paid, each in full", async () => {
    await setBalance(parseEther("0.16"));
    await refreshBalance();
    const claimants = Array.from({ length: 40 }, () => ({ wallet: newWallet(), from: newClientAddress() }));
    const answers = await Promise.all(claimants.map(claimOnce));
    const outcomes = answers.map((answer) => (answer.status === 200 ? "paid" : failure(answer)[1])).sort();
    expect(outcomes).toEqual([...Array(37).fill("out_of_eth"), ...Array(3).fill("paid")]);
    const held = await Promise.all(claimants.map(({ wallet }) => balancesOf(faucet, wallet)));
    const paid = answers.map(({ status }) => status === 200);
    expect(held).toEqual(paid.map((isPaid) => (isPaid ? GRANT : { wei: 0n, usdc: 0n })));
    await setBalance(parseEther("10"));
  });

  test("a claim gets relayer_unavailable while the writer is behind: unsettled grants would count twice", async () => {
    await setBalance(parseEther("0.05"));
    await faucet.testnet.client.mine({ blocks: 1 });
    await refreshBalance();
    await faucet.stack.kill9("writer");
    await faucet.testnet.client.mine({ blocks: 1 });
    expect(failure(await faucet.claim())).toEqual([503, "relayer_unavailable"]);
    await setBalance(parseEther("10"));
    await faucet.stack.start("writer");
    await expect.poll(readStatus).toMatchObject({ status: "ready" });
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
    const claimant = { wallet: newWallet(), from: newClientAddress() };
    // The writer may still wait for the lease of a killed writer: a repeated call joins the claim.
    await expect.poll(async () => (await faucet.claim(claimant)).status).toBe(200);
    const all = 10n ** 24n;
    await spend(all);
    await expectUnready("The gas that may be spent in a day (UTC) is spent.");
    expect(failure(await faucet.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
    await faucet.forgetClaims();
    await expectRefused(/gas that may be spent/);
    await spend(-all);
    await expectReady();
    expect((await claimOnce()).status).toBe(200);
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

describe("a claim whose result no caller has received", () => {
  const newClaimant = () => ({ wallet: newWallet(), from: newClientAddress() });
  const mining = (on: boolean) => faucet.testnet.client.setAutomine(on);

  test("gets claim_pending until it is mined; a repeated call gets the result, and it is paid once", async () => {
    const claimant = newClaimant();
    await mining(false);
    const first = await faucet.claim(claimant);
    expect(failure(first)).toEqual([503, "claim_pending"]);
    expect(retryAfter(first)).toBe(5);
    expect(failure(await faucet.claim({ ...claimant, from: newClientAddress() }))).toEqual([
      429,
      "wallet_rate_limited",
    ]);
    expect(failure(await faucet.claim({ ...claimant, wallet: newWallet() }))).toEqual([
      429,
      "ip_rate_limited",
    ]);
    const [again, meanwhile] = await Promise.all([faucet.claim(claimant), faucet.claim(claimant)]);
    expect([again, meanwhile].map(failure).sort()).toEqual([
      [429, "wallet_rate_limited"],
      [503, "claim_pending"],
    ]);
    await mining(true);
    await faucet.testnet.client.mine({ blocks: 1 });
    const last = await claimOnce(claimant);
    const { nextEligibleAt } = grantOf(last);
    const [claim] = await faucet.sql<{ ms: number }[]>`
      select extract(epoch from claimed_at)::float8 * 1000 as ms from service.faucet_claim
      where wallet = ${claimant.wallet.toLowerCase()}`;
    expect(new Date(nextEligibleAt).getTime()).toBe((claim?.ms ?? 0) + 24 * 3_600_000);
    expect(failure(await faucet.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
    expect(await balancesOf(faucet, claimant.wallet)).toEqual(GRANT);
    expect(await countTransfersTo(faucet, claimant.wallet)).toBe(2);
  });

  test("the client disconnected: it gets the result with its next call", async () => {
    const claimant = newClaimant();
    await mining(false);
    await expect(faucet.claim({ ...claimant, request: { timeoutMs: 400 } })).rejects.toThrow();
    await mining(true);
    await faucet.testnet.client.mine({ blocks: 1 });
    const answer = await waitFor({
      what: "the claim to be joined",
      probe: async () => {
        const answer = await faucet.claim(claimant);
        return answer.status === 200 ? answer : undefined;
      },
      intervalMs: 50,
    });
    grantOf(answer);
    expect(await balancesOf(faucet, claimant.wallet)).toEqual(GRANT);
  });

  test("the process died: the client gets the result from the next process", async () => {
    const claimant = newClaimant();
    await mining(false);
    const lost = faucet.claim(claimant).catch(() => "lost");
    await waitFor({
      what: "the claim to be recorded",
      probe: async () =>
        (
          await faucet.sql`select 1 from service.faucet_claim where wallet = ${claimant.wallet.toLowerCase()}`
        )[0],
    });
    await faucet.stack.kill9("api");
    expect(await lost).toBe("lost");
    await mining(true);
    await faucet.testnet.client.mine({ blocks: 1 });
    await faucet.stack.start("api");
    // The claim belongs to the dead process until its wait would have ended.
    await expect.poll(async () => (await faucet.claim(claimant)).status).toBe(200);
    expect(await balancesOf(faucet, claimant.wallet)).toEqual(GRANT);
    expect(await countTransfersTo(faucet, claimant.wallet)).toBe(2);
  });
});

test("the client address of expired limits is deleted on the next status read", async () => {
  const from = newClientAddress();
  expect((await claimOnce({ wallet: newWallet(), from })).status).toBe(200);
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
    const claimant = { wallet: newWallet(), from: newClientAddress() };
    expect((await claimOnce(claimant)).status).toBe(200);
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
