/**
 * The faucet's wallet is emptied, or its key is used by another program. What this proves, checked on the chain: a claim
 * with a signed transfer is paid in full, once, however late.
 */
import { type Hex, parseEther } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { isSimulation } from "../support/ledger.ts";
import {
  claim,
  claimOnceAvailable,
  claimUntilPaid,
  expectPaidOnce,
  NOTHING,
  paidOnChain,
} from "./support/faucet-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import { isSending } from "./support/testnet-faults.ts";
import {
  type NewClient,
  newClient,
  newClients,
  startTestnetSetup,
  type TestnetSetup,
} from "./support/testnet-setup.ts";
import { backdateBroadcasts, mineAndWaitUntilSettled, waitForFundsCacheToExpire } from "./support/waits.ts";

const { faucet } = serviceWallets;

let setup: TestnetSetup;
beforeAll(async () => {
  // Shorter than these claims take: an empty transfer may replace a late purchase, but never a grant.
  setup = await startTestnetSetup({ parts: "faucet", env: { writer: { PURCHASE_TTL: "2" } } });
});
afterEach(() => setup.proxy.intercept());

const loseTransactions = () =>
  setup.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));

/** Waits until both transfers are signed. Resolves to their nonces. */
const noncesOf = (client: NewClient) =>
  waitFor({
    what: "both transfers to be signed",
    probe: async () => {
      const rows = await setup.connection.sql<{ nonce: string }[]>`
        select t.nonce from service.transaction t join service.service_transaction_progress e on e.id = t.intent
          join service.faucet_claim c on c.id = e.claim_id
        where c.wallet = ${client.wallet.toLowerCase()} and t.state <> 'lost' order by t.nonce`;
      return rows.length === 2 ? rows.map(({ nonce }) => Number(nonce)) : undefined;
    },
  });

/** Backdates a claim's transfers by two minutes, so that nothing new is signed for them. */
const expireClaim = async (client: NewClient) => {
  const ids = setup.connection.sql`
    select e.id from service.service_transaction e join service.faucet_claim c on c.id = e.claim_id
    where c.wallet = ${client.wallet.toLowerCase()}`;
  await setup.connection.sql`
    update service.service_transaction set created_at = created_at - interval '2 minutes' where id in (${ids})`;
  await setup.connection.sql`
    update service.waiting set created_at = created_at - interval '2 minutes' where intent in (${ids})`;
};

/** What happens to each claim: the transfers whose nonces another program uses, and whether the claim has expired by then. */
const fates: readonly { readonly used: readonly (0 | 1)[]; readonly expired: boolean }[] = [
  { used: [0], expired: false },
  { used: [1], expired: true },
  { used: [0, 1], expired: true },
];

test("another program uses nonces of claims, also of all transfers of an expired one: each claim is paid once", async () => {
  const { testnet, proxy, connection } = setup;
  const claimants = newClients(fates.length);
  loseTransactions();
  const answers = await Promise.all(claimants.map((one) => claim(setup, one)));
  expect(answers.map(({ status }) => status)).toEqual(fates.map(() => 503));
  const usedByOther: (number | undefined)[] = [];
  for (const [n, claimant] of claimants.entries()) {
    const nonces = await noncesOf(claimant);
    usedByOther.push(...(fates[n]?.used ?? []).map((which) => nonces[which]));
    if (fates[n]?.expired) await expireClaim(claimant);
  }
  const signed = await waitFor({
    what: "all transfers to be signed",
    probe: async () => {
      const rows = await connection.sql<{ nonce: string; bytes: Hex }[]>`
        select distinct on (t.nonce) t.nonce, a.signed as bytes
        from service.transaction t join service.attempt a on a.transaction_id = t.id
        where t.chain_id = ${testnet.deployment.chainId} and t.wallet = ${faucet.address.toLowerCase()} and t.state = 'open'
        order by t.nonce, a.id`;
      return rows.length === 2 * fates.length ? rows : undefined;
    },
  });
  // A nonce is mined after all lower ones: the transfers whose nonces nobody else uses are broadcast from here.
  for (const { nonce, bytes } of signed) {
    const isUsed = usedByOther.includes(Number(nonce));
    const other = {
      account: faucet,
      to: testnet.owner.address,
      value: 1n,
      nonce: Number(nonce),
      chain: null,
    };
    const hash = isUsed
      ? await testnet.client.sendTransaction(other)
      : await testnet.client.sendRawTransaction({ serializedTransaction: bytes });
    await testnet.client.waitForTransactionReceipt({ hash });
  }
  proxy.intercept();
  await testnet.client.mine({ blocks: 3 });
  await sendingAgainAtOnce(connection.sql, Promise.all(claimants.map((one) => claimUntilPaid(setup, one))));
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
});

test("the node loses both transfers for a minute: no empty transfer replaces them", async () => {
  const { proxy, connection } = setup;
  const client = newClient();
  const sent: unknown[] = [];
  proxy.intercept(async (call, forward) => {
    if (!isSending(call)) return forward();
    sent.push(call.params[0]);
    return "lost";
  });
  expect((await claim(setup, client)).status).toBe(503);
  await noncesOf(client);
  await connection.sql`
    update service.transaction set opened_at = opened_at - interval '1 minute' where state = 'open'`;
  for (let times = 0; times < 2; times += 1) {
    const before = sent.length;
    await backdateBroadcasts(connection.sql);
    await waitFor({
      what: "both transfers to be sent again",
      probe: () => sent.length >= before + 2 || undefined,
    });
  }
  // The same two transactions every time: nothing else is signed.
  expect(new Set(sent).size).toBe(2);
  proxy.intercept();
  await sendingAgainAtOnce(connection.sql, claimUntilPaid(setup, client));
  await expectPaidOnce(setup, [client.wallet]);
});

test("the wallet runs out of ether after claims are signed: they are paid once it is refilled", async () => {
  const { testnet, proxy, connection } = setup;
  const { address } = faucet;
  const full = await testnet.client.getBalance({ address });
  const claimants = newClients(3);
  loseTransactions();
  const answers = await Promise.all(claimants.map((one) => claim(setup, one)));
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
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
    what: "the node to refuse three transactions",
    probe: () => refusedBytes.size >= 3 || undefined,
  });
  for (const { wallet } of claimants) expect((await paidOnChain(setup, wallet)).ether).toBe(0n);
  await Promise.all([
    mineAndWaitUntilSettled(testnet, connection.sql),
    waitForFundsCacheToExpire(connection.sql),
  ]);
  // While it is empty, new claims are refused.
  const late = newClient();
  const refused = await claimOnceAvailable(setup, late);
  expect([refused.status, refused.json]).toMatchObject([503, { error: "out_of_eth", code: "out_of_eth" }]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await paidOnChain(setup, late.wallet)).toEqual(NOTHING);

  await testnet.client.setBalance({ address, value: full });
  await sendingAgainAtOnce(
    connection.sql,
    Promise.all([...claimants, late].map((one) => claimUntilPaid(setup, one))),
  );
  await expectPaidOnce(
    setup,
    [...claimants, late].map(({ wallet }) => wallet),
  );
});

test("the wallet runs out of ether before claims are signed: one is paid after a refill, an expired one is freed", async () => {
  const { testnet, proxy, connection } = setup;
  const { address } = faucet;
  const full = await testnet.client.getBalance({ address });
  const [inTime, late] = [newClient(), newClient()];
  const wallets = [inTime, late].map(({ wallet }) => wallet.toLowerCase());
  /** Empties the wallet once both claims are accepted. */
  const drain = async () => {
    await waitFor({
      what: "both claims",
      probe: async () => {
        const rows = await connection.sql`
          select 1 from service.faucet_claim where wallet = any(${wallets}::text[])`;
        return rows.length === 2 || undefined;
      },
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
  const answers = await Promise.all([inTime, late].map((one) => claim(setup, one)));
  expect(answers.map((answer) => failure(answer))).toEqual([
    [503, "claim_pending"],
    [503, "claim_pending"],
  ]);
  await expireClaim(late);
  const code = await waitFor({
    what: "the expired claim to be freed",
    probe: async () => {
      const [row] = await connection.sql<{ code: string }[]>`
        select e.failure_code as code from service.service_transaction_progress e join service.faucet_claim c on c.id = e.claim_id
        where c.wallet = ${late.wallet.toLowerCase()} and c.freed_at is not null`;
      return row?.code;
    },
  });
  expect(code).toBe("out_of_eth");
  await testnet.client.setBalance({ address, value: full });
  await claimUntilPaid(setup, inTime);
  await expectPaidOnce(setup, [inTime.wallet], [late.wallet]);
});
