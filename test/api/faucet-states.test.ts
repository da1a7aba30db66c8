/** A faucet that cannot pay, or not yet: what is told then, and what becomes of a claim whose outcome nobody was told. */
import { parseEther } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { failure, startApi } from "./support/api.ts";
import {
  CLAIM,
  type FaucetWorld,
  holdings,
  newClient,
  newWallet,
  paidOf,
  retryAfter,
  STATUS,
  startFaucet,
  statusOf,
  transfersTo,
} from "./support/faucet.ts";

const WAIT_MS = 4000;
const GRANT = { wei: 50_000_000_000_000_000n, usdc: 10_000_000_000n };

let world: FaucetWorld;
beforeAll(async () => {
  world = await startFaucet({ env: { api: { PURCHASE_WAIT_MS: String(WAIT_MS) } } });
});
beforeEach(async () => {
  await world.reset();
});

const faucet = serviceWallets.faucet.address;
/**
 * Restarts the api, which caches the balance for five seconds: the gate counts what it has promised since, but no gifts
 * and losses. It reads the balance anew as of the block that the writer has settled, which is the newest one.
 */
async function forgotten(): Promise<void> {
  await waitFor({
    what: "the writer to have settled the newest block",
    probe: async () => {
      const head = await world.testnet.client.getBlockNumber();
      const [row] = await world.sql<{ number: string }[]>`
        select number::text from service.watched_block where chain_id = 84532`;
      return row?.number === String(head) || undefined;
    },
    timeoutMs: 60_000,
  });
  await world.stack.restart("api");
}

const readStatus = async () => statusOf(await world.request(STATUS));

describe("a faucet that is off", () => {
  test("for want of a testnet is 503 faucet_disabled, and says so", async () => {
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

  test("for want of a wallet is the same, though there is a testnet", async () => {
    const { chain, testnet } = world;
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
    ["the wallet", "wallet", faucet.toLowerCase()],
    ["everything", "global", ""],
  ])("because the operator stopped %s is 503 faucet_disabled until that ends", async (_, scope, subject) => {
    await world.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
    expect(failure(await world.claim())).toEqual([503, "faucet_disabled"]);
    await expect.poll(readStatus).toMatchObject({ enabled: false, status: "disabled" });
    await world.sql`delete from service.stop`;
    expect((await world.claim()).status).toBe(200);
    await expect.poll(readStatus).toMatchObject({ enabled: true, status: "ready", reason: null });
  });
});

describe("out_of_eth", () => {
  const setBalance = (value: bigint) => world.testnet.client.setBalance({ address: faucet, value });

  test("is told before anything is promised, and over when the wallet was filled up", async () => {
    await setBalance(parseEther("0.05"));
    const [wallet, from] = [newWallet(), newClient()];
    await forgotten();
    const answer = await world.claim({ wallet, from });
    expect(failure(answer)).toEqual([503, "out_of_eth"]);
    expect(retryAfter(answer)).toBe(30);
    expect(await readStatus()).toMatchObject({ enabled: true, status: "unready" });
    expect(await world.sql`select 1 from service.faucet_slot`).toHaveLength(0);
    await setBalance(parseEther("10"));
    // Calls of the same quarter of a second share a look at the newest block.
    await expect.poll(async () => (await world.claim({ wallet, from })).status).toBe(200);
    expect(await holdings(world, wallet)).toEqual(GRANT);
  });

  test("under forty claims at once: as many are paid as it has ether for, and each of these whole", async () => {
    await setBalance(parseEther("0.16"));
    await forgotten();
    const claimants = Array.from({ length: 40 }, () => ({ wallet: newWallet(), from: newClient() }));
    const answers = await Promise.all(claimants.map((claimant) => world.claim(claimant)));
    const outcomes = answers.map((answer) => (answer.status === 200 ? "paid" : failure(answer)[1])).sort();
    expect(outcomes).toEqual([...Array(37).fill("out_of_eth"), ...Array(3).fill("paid")]);
    const held = await Promise.all(claimants.map(({ wallet }) => holdings(world, wallet)));
    const paid = answers.map(({ status }) => status === 200);
    expect(held).toEqual(paid.map((whole) => (whole ? GRANT : { wei: 0n, usdc: 0n })));
    await setBalance(parseEther("10"));
  });

  test("is not told while the writer is behind the chain: what it has not settled would count twice", async () => {
    await setBalance(parseEther("0.05"));
    await world.testnet.client.mine({ blocks: 1 });
    await forgotten();
    await world.stack.kill9("writer");
    await world.testnet.client.mine({ blocks: 1 });
    expect(failure(await world.claim())).toEqual([503, "relayer_unavailable"]);
    await setBalance(parseEther("10"));
    await world.stack.start("writer");
    await expect.poll(readStatus).toMatchObject({ status: "ready" });
  });
});

describe("gas that may not be bought", () => {
  const spend = (wei: bigint) => world.sql`
    insert into service.gas_day as g (chain_id, day, wallet, wei)
    values (84532, (now() at time zone 'utc')::date, '', ${String(wei)})
    on conflict (chain_id, day, wallet) do update set wei = g.wei + excluded.wei`;
  const isUnready = (reason: string) =>
    expect.poll(readStatus).toMatchObject({ enabled: true, status: "unready", reason });
  const isReady = () => expect.poll(readStatus).toMatchObject({ status: "ready" });

  async function isRefused(reason: RegExp): Promise<void> {
    const answer = await world.claim();
    expect(failure(answer)).toEqual([503, "relayer_unavailable"]);
    expect(answer.text).toMatch(reason);
    expect(retryAfter(answer)).toBe(30);
    expect(await world.sql`select 1 from service.faucet_slot`).toHaveLength(0);
    expect(await world.sql`select 1 from service.errand where state = 'accepted'`).toHaveLength(0);
  }

  test("because the day's is spent is told before anything is promised, but after what limits the client", async () => {
    const claimant = { wallet: newWallet(), from: newClient() };
    // The writer may still wait for the lease of one that was killed: a repetition joins the claim.
    await expect.poll(async () => (await world.claim(claimant)).status).toBe(200);
    const all = 10n ** 24n;
    await spend(all);
    await isUnready("The gas that may be spent in a day (UTC) is spent.");
    expect(failure(await world.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
    await world.reset();
    await isRefused(/gas that may be spent/);
    await spend(-all);
    await isReady();
    expect((await world.claim()).status).toBe(200);
  });

  test("because the base fee is above the operator's cap is told so too", async () => {
    const { client } = world.testnet;
    const { baseFeePerGas } = await client.getBlock();
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 15n });
    await client.mine({ blocks: 1 });
    await isUnready("Gas costs more at present than the operator lets it cost.");
    await isRefused(/Gas costs more/);
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFeePerGas ?? 1n });
    await client.mine({ blocks: 1 });
    await isReady();
  });
});

describe("a claim whose outcome nobody was told", () => {
  const newClaimant = () => ({ wallet: newWallet(), from: newClient() });
  const mining = (on: boolean) => world.testnet.client.setAutomine(on);

  test("is pending while it is not mined, and its repetition gets the outcome: paid once", async () => {
    const claimant = newClaimant();
    await mining(false);
    const first = await world.claim(claimant);
    expect(failure(first)).toEqual([503, "claim_pending"]);
    expect(retryAfter(first)).toBe(5);
    expect(failure(await world.claim({ ...claimant, from: newClient() }))).toEqual([
      429,
      "wallet_rate_limited",
    ]);
    expect(failure(await world.claim({ ...claimant, wallet: newWallet() }))).toEqual([
      429,
      "ip_rate_limited",
    ]);
    const [again, meanwhile] = await Promise.all([world.claim(claimant), world.claim(claimant)]);
    expect([again, meanwhile].map(failure).sort()).toEqual([
      [429, "wallet_rate_limited"],
      [503, "claim_pending"],
    ]);
    await mining(true);
    await world.testnet.client.mine({ blocks: 1 });
    const last = await world.claim(claimant);
    const { nextEligibleAt } = paidOf(last);
    const [claim] = await world.sql<{ ms: number }[]>`
      select extract(epoch from claimed_at)::float8 * 1000 as ms from service.faucet_claim
      where wallet = ${claimant.wallet.toLowerCase()}`;
    expect(new Date(nextEligibleAt).getTime()).toBe((claim?.ms ?? 0) + 24 * 3_600_000);
    expect(failure(await world.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
    expect(await holdings(world, claimant.wallet)).toEqual(GRANT);
    expect(await transfersTo(world, claimant.wallet)).toBe(2);
  });

  test("because the client went away is told to the same client as soon as it asks again", async () => {
    const claimant = newClaimant();
    await mining(false);
    await expect(world.claim({ ...claimant, request: { timeoutMs: 400 } })).rejects.toThrow();
    await mining(true);
    await world.testnet.client.mine({ blocks: 1 });
    const answer = await waitFor({
      what: "the claim to be joined",
      probe: async () => {
        const answer = await world.claim(claimant);
        return answer.status === 200 ? answer : undefined;
      },
      timeoutMs: 60_000,
      intervalMs: 50,
    });
    paidOf(answer);
    expect(await holdings(world, claimant.wallet)).toEqual(GRANT);
  });

  test("because the process died is told by the next one", async () => {
    const claimant = newClaimant();
    await mining(false);
    const lost = world.claim(claimant).catch(() => "lost");
    await waitFor({
      what: "the claim to be recorded",
      probe: async () =>
        (
          await world.sql`select 1 from service.faucet_claim where wallet = ${claimant.wallet.toLowerCase()}`
        )[0],
      timeoutMs: 60_000,
    });
    await world.stack.kill9("api");
    expect(await lost).toBe("lost");
    await mining(true);
    await world.testnet.client.mine({ blocks: 1 });
    await world.stack.start("api");
    // Until the dead process would have given up, the claim is its own.
    await expect.poll(async () => (await world.claim(claimant)).status).toBe(200);
    expect(await holdings(world, claimant.wallet)).toEqual(GRANT);
    expect(await transfersTo(world, claimant.wallet)).toBe(2);
  });
});

test("what limits nothing any more is forgotten by whoever looks next", async () => {
  const from = newClient();
  expect((await world.claim({ from })).status).toBe(200);
  await world.sql`update service.faucet_claim set claimed_at = claimed_at - interval '3 days'`;
  await world.sql`update service.faucet_slot set until = until - interval '3 days'`;
  await world.stack.restart("api");
  await world.request(STATUS);
  await expect
    .poll(async () =>
      JSON.stringify(
        await world.sql`select client, '' from service.faucet_claim
      union all select subject, kind from service.faucet_slot`,
      ),
    )
    .not.toContain(from);
});

describe("last: a faucet whose writer or node is away", () => {
  test("a node that is away is 503 chain_not_found, and who is limited hears that all the same", async () => {
    const claimant = { wallet: newWallet(), from: newClient() };
    expect((await world.claim(claimant)).status).toBe(200);
    await forgotten();
    await world.testnet.stop();
    expect(failure(await world.claim())).toEqual([503, "chain_not_found"]);
    expect(failure(await world.request(STATUS))).toEqual([503, "chain_not_found"]);
    expect(failure(await world.claim(claimant))).toEqual([429, "wallet_rate_limited"]);
  });

  test("a writer that is gone is 503 relayer_unavailable, and after an hour the faucet is off", async () => {
    await world.stack.kill9("writer");
    const gone = (interval: string) =>
      world.sql`update service.relayer_wallet set heartbeat_at = now() - ${interval}::interval where role = 'faucet'`;
    await gone("16 seconds");
    expect(failure(await world.claim())).toEqual([503, "relayer_unavailable"]);
    await gone("61 minutes");
    expect(failure(await world.claim())).toEqual([503, "faucet_disabled"]);
    expect(await readStatus()).toMatchObject({ enabled: false, relayerEthBalance: "0" });
  });
});
