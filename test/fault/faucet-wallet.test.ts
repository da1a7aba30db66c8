/**
 * The faucet's wallet is emptied, or somebody else sends from it with the same key. What this proves, counted on the
 * chain: a claim of which anything was signed is paid in full, once, however late.
 */
import { parseEther } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { isSimulation } from "../support/ledger.ts";
import { claim, claimPatiently, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-truth.ts";
import { backdateBroadcasts, mineAndWaitUntilSettled, waitForFundsCacheToExpire } from "./support/rounds.ts";
import { isSending } from "./support/strikes.ts";
import {
  type Newcomer,
  newcomer,
  newcomers,
  startTestnetWorld,
  type TestnetWorld,
} from "./support/testnet-world.ts";

const { faucet } = serviceWallets;

let world: TestnetWorld;
beforeAll(async () => {
  // Shorter than these claims take: what a purchase would be replaced for is no reason to break a promise.
  world = await startTestnetWorld({ parts: "faucet", env: { writer: { PURCHASE_TTL: "2" } } });
});
afterEach(() => world.proxy.intercept());

const loseSendings = () =>
  world.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));

/** The nonces that the two transfers were signed with; waits until they are. */
const noncesOf = (who: Newcomer) =>
  waitFor({
    what: "both transfers to be signed",
    probe: async () => {
      const rows = await world.connection.sql<{ nonce: string }[]>`
        select t.nonce from service.transaction t join service.errand e on e.id = t.errand_id
          join service.faucet_claim c on c.id = e.claim_id
        where c.wallet = ${who.wallet.toLowerCase()} and t.state <> 'lost' order by t.nonce`;
      return rows.length === 2 ? rows.map(({ nonce }) => Number(nonce)) : undefined;
    },
    timeoutMs: 60_000,
  });

/** As if its transfers had been asked for two minutes ago. */
const makeOld = (who: Newcomer) => world.connection.sql`
  update service.errand e set created_at = e.created_at - interval '2 minutes'
  from service.faucet_claim c where c.id = e.claim_id and c.wallet = ${who.wallet.toLowerCase()}`;

test.each([
  { name: "the first transfer's", which: [0], old: false },
  { name: "the second's", which: [1], old: false },
  { name: "the second's, of a claim that nothing new would be signed for", which: [1], old: true },
  { name: "both, of such a claim", which: [0, 1], old: true },
])("somebody else takes the nonce: $name", async ({ which, old }) => {
  const { testnet, proxy } = world;
  const who = newcomer();
  loseSendings();
  expect((await claim(world, who)).status).toBe(503);
  const nonces = await noncesOf(who);
  if (old) await makeOld(who);
  // The one before it has to be mined for the second to be minable: it is let through by its own bytes.
  const [first] = await world.connection.sql<{ signed: `0x${string}` }[]>`
    select a.signed from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.chain_id = ${testnet.deployment.chainId} and t.nonce = ${Number(nonces[0])} and t.wallet = ${faucet.address.toLowerCase()}`;
  if (!which.includes(0) && first)
    await testnet.client.sendRawTransaction({ serializedTransaction: first.signed });
  for (const n of which) {
    const hash = await testnet.client.sendTransaction({
      account: faucet,
      to: testnet.owner.address,
      value: 1n,
      nonce: Number(nonces[n]),
      chain: null,
    });
    await testnet.client.waitForTransactionReceipt({ hash });
  }
  proxy.intercept();
  await claimPatiently(world, who);
  await expectPaidOnce(world, [who.wallet]);
});

test("nothing that was sent for so long is replaced by nothing: the node loses all for a minute", async () => {
  const { proxy, connection } = world;
  const who = newcomer();
  const sent: unknown[] = [];
  proxy.intercept(async (call, forward) => {
    if (!isSending(call)) return forward();
    sent.push(call.params[0]);
    return "lost";
  });
  expect((await claim(world, who)).status).toBe(503);
  await noncesOf(who);
  await connection.sql`
    update service.transaction set opened_at = opened_at - interval '1 minute' where state = 'open'`;
  for (let times = 0; times < 3; times += 1) {
    const before = sent.length;
    await backdateBroadcasts(connection.sql);
    await waitFor({
      what: "both transfers to be sent again",
      probe: () => sent.length >= before + 2 || undefined,
      timeoutMs: 60_000,
    });
  }
  // The same two forms every time: no other is signed in their place.
  expect(new Set(sent).size).toBe(2);
  proxy.intercept();
  await claimPatiently(world, who);
  await expectPaidOnce(world, [who.wallet]);
});

test("it runs dry over claims that are signed: they are paid by the same bytes once there is ether", async () => {
  const { testnet, proxy, connection } = world;
  const { address } = faucet;
  const full = await testnet.client.getBalance({ address });
  const claimants = newcomers(3);
  loseSendings();
  const first = await Promise.all(claimants.map((one) => claim(world, one)));
  expect(first.map(({ status }) => status)).toEqual([503, 503, 503]);
  await Promise.all(claimants.map(noncesOf));
  await testnet.client.setBalance({ address, value: parseEther("0.01") });
  const refusedBytes = new Set<unknown>();
  proxy.intercept(async (call, forward) => {
    const answer = await forward();
    if (isSending(call) && "error" in answer) refusedBytes.add(call.params[0]);
    return answer;
  });
  await backdateBroadcasts(connection.sql);
  await waitFor({
    what: "the node to refuse the ether of all three",
    probe: () => refusedBytes.size >= 3 || undefined,
    timeoutMs: 60_000,
  });
  for (const { wallet } of claimants) expect((await paidOnChain(world, wallet)).ether).toBe(0n);
  await Promise.all([
    mineAndWaitUntilSettled(testnet, connection.sql),
    waitForFundsCacheToExpire(connection.sql),
  ]);
  // Now that it is empty, nothing more is promised to anybody.
  const late = newcomer();
  const refused = await claim(world, late);
  expect([refused.status, refused.json]).toMatchObject([503, { error: "out_of_eth", code: "out_of_eth" }]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await paidOnChain(world, late.wallet)).toEqual(NOTHING);

  await testnet.client.setBalance({ address, value: full });
  await Promise.all([...claimants, late].map((one) => claimPatiently(world, one)));
  await expectPaidOnce(
    world,
    [...claimants, late].map(({ wallet }) => wallet),
  );
});

test("it runs dry between the promise and the signature: paid when there is ether in time, and given up otherwise", async () => {
  const { testnet, proxy, connection } = world;
  const { address } = faucet;
  const full = await testnet.client.getBalance({ address });
  const [inTime, late] = [newcomer(), newcomer()];
  const wallets = [inTime, late].map(({ wallet }) => wallet.toLowerCase());
  /** Both are promised their grant before it is gone. */
  const drain = async () => {
    await waitFor({
      what: "both claims",
      probe: async () => {
        const rows = await connection.sql`
          select 1 from service.faucet_claim where wallet = any(${wallets}::text[])`;
        return rows.length === 2 || undefined;
      },
      timeoutMs: 60_000,
      intervalMs: 5,
    });
    await testnet.client.setBalance({ address, value: parseEther("0.01") });
  };
  let drained: Promise<unknown> | undefined;
  proxy.intercept(async (call, forward) => {
    if (isSimulation(call)) {
      drained ??= drain();
      await drained;
    }
    return forward();
  });
  const answers = await Promise.all([inTime, late].map((one) => claim(world, one)));
  expect(answers.map((answer) => failure(answer))).toEqual([
    [503, "claim_pending"],
    [503, "claim_pending"],
  ]);
  await makeOld(late);
  const code = await waitFor({
    what: "one to be given up",
    probe: async () => {
      const [row] = await connection.sql<{ code: string }[]>`
        select e.failure_code as code from service.errand e join service.faucet_claim c on c.id = e.claim_id
        where c.wallet = ${late.wallet.toLowerCase()} and c.freed_at is not null`;
      return row?.code;
    },
    timeoutMs: 60_000,
  });
  expect(code).toBe("out_of_eth");
  await testnet.client.setBalance({ address, value: full });
  await claimPatiently(world, inTime);
  await expectPaidOnce(world, [inTime.wallet], [late.wallet]);
});
