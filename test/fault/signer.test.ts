/**
 * A relayer's key is with a signer, another one in the environment. What this proves, from chain and ledger: a signer that is
 * slow, away or lies loses no purchase, buys none twice and holds up no other wallet; what was given a nonce is signed for that
 * nonce once the signer is back; no transaction of the database is open while it is asked; only the wallet's own signatures are stored.
 */
import { type Hex, isAddressEqual, parseTransaction, recoverTransactionAddress } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectNoNonceGaps, expectOneNonceEach } from "./support/assertions.ts";

const [remote, own] = [anvilAccount(1), anvilAccount(2)];
const remoteAddress = remote.address.toLowerCase();
const publicKey = publicKeyOf(privateKeyOf(remote));

let chain: TestChain;
let signer: TestSigner;
let stack: Stack;
let ledger: TestLedger;
let round = 0;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers: [remote, own] });
  signer = await startSigner([privateKeyOf(remote)]);
  stack = await startStack({
    chain,
    services: ["writer"],
    relayerKeys: [privateKeyOf(own)],
    env: { writer: { SIGNER_URL: signer.url, RELAYER_PUBLIC_KEYS: publicKey } },
  });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});

/** Each test begins with a signer that signs, and a purchase by it. */
beforeEach(async () => {
  signer.set({ kind: "signs" });
  // Outside of `waitFor`, which takes a failed expectation for a state that has not come yet.
  for (let isSigned = false; !isSigned; ) {
    const bought = await buy(2);
    await settle(bought);
    isSigned = (await nonces(bought.ids)).some(({ wallet }) => wallet === remoteAddress);
  }
});

type Bought = { readonly buyer: Hex; readonly ids: readonly string[] };

async function buy(count: number): Promise<Bought> {
  round += 1;
  const { address } = await newBuyer(chain);
  const key = (n: number) => `signer-${round}-${n}`;
  const ids = await Promise.all(
    Array.from({ length: count }, (_, n) => ledger.buy(purchaseRequest(address), key(n))),
  );
  return { buyer: address, ids };
}

type Nonce = { id: string; wallet: string; nonce: string; forms: number };

/** The purchases that have nonces, with the number of their signed forms. */
const nonces = (ids: readonly string[]) => ledger.connection.sql<Nonce[]>`
  select t.intent as id, t.wallet, t.nonce,
    (select count(*)::int from service.attempt a where a.transaction_id = t.id) as forms
  from service.transaction t where t.intent = any(${[...ids]}::uuid[]) order by t.nonce`;

const remoteOnes = async (ids: readonly string[]) =>
  (await nonces(ids)).filter(({ wallet }) => wallet === remoteAddress);

/** Waits until all are settled: each is one policy on the chain, by one nonce, and no nonce is left out. */
async function settle({ buyer, ids }: Bought): Promise<void> {
  await Promise.all(ids.map((id) => ledger.settled(id)));
  const policies = await policiesOnChain(chain, buyer);
  expect(policies).toHaveLength(ids.length);
  await expectOneNonceEach(ledger.connection, ids, policies);
  await expectNoNonceGaps({ chain, connection: ledger.connection });
}

/** Waits until the signer was asked for a transaction of each of these nonces again. */
async function askedAgainFor(waiting: readonly Nonce[]): Promise<void> {
  const before = signer.asked(publicKey).length;
  const noncesAsked = () =>
    new Set(
      signer
        .asked(publicKey)
        .slice(before)
        .filter((data) => data.startsWith("0x02"))
        .map((data) => parseTransaction(data).nonce),
    );
  await waitFor({
    what: "the signer to be asked again",
    probe: () => waiting.every(({ nonce }) => noncesAsked().has(Number(nonce))) || undefined,
  });
}

/** Buys until the signer's wallet has given nonces to some purchases. */
async function buyWithRemoteNonces(): Promise<{ bought: Bought; waiting: readonly Nonce[] }> {
  const bought = await buy(6);
  const waiting = await waitFor({
    what: "purchases to get nonces of the signer's wallet",
    probe: async () => {
      const given = await remoteOnes(bought.ids);
      return given.length > 0 ? given : undefined;
    },
  });
  return { bought, waiting };
}

/** How often the writer has found that the signer does not sign. */
const giveUps = () => stack.output("writer").split("it gets no new nonces until the signer does").length - 1;

/** Waits until the writer gives the signer's wallet no more nonces. */
const givenUp = (before: number) =>
  waitFor({ what: "the writer to give the signer up", probe: () => giveUps() > before || undefined });

/** The purchases were signed by the same wallet, for the nonces that they had got before. */
async function expectSameNonces(waiting: readonly Nonce[]): Promise<void> {
  const now = await remoteOnes(waiting.map(({ id }) => id));
  expect(now).toMatchObject(waiting.map(({ id, nonce }) => ({ id, nonce })));
}

test("each signed form is of its own wallet", async () => {
  const bought = await buy(10);
  await settle(bought);
  expect((await remoteOnes(bought.ids)).length).toBeGreaterThan(0);
  const forms = await ledger.connection.sql<{ signed: `0x02${string}`; wallet: Hex }[]>`
    select a.signed, t.wallet from service.attempt a join service.transaction t on t.id = a.transaction_id`;
  for (const { signed, wallet } of forms) {
    const sender = await recoverTransactionAddress({ serializedTransaction: signed });
    expect(isAddressEqual(sender, wallet)).toBe(true);
  }
});

test("the signer is slow: other wallets go on, the nonces are kept, and no database transaction waits for it", async () => {
  const before = giveUps();
  signer.set({ kind: "holds" });
  const { bought, waiting } = await buyWithRemoteNonces();
  type Open = { pid: number; since: string };
  const open = () => ledger.connection.sql<Open[]>`
    select pid, xact_start::text as since from pg_stat_activity
    where datname = current_database() and application_name like 'writer%' and xact_start is not null`;
  await waitFor({
    what: "all of the writer's transactions to end while the signer is asked",
    probe: async () => {
      if (signer.held() === 0) return undefined;
      const asked = signer.asked(publicKey).length;
      const begun = await open();
      while (signer.held() > 0 && signer.asked(publicKey).length === asked) {
        const now = await open();
        if (!begun.some(({ pid, since }) => now.some((one) => one.pid === pid && one.since === since)))
          return true;
      }
      return undefined;
    },
  });
  await givenUp(before);
  const later = await buy(6);
  await Promise.all(later.ids.map((id) => ledger.settled(id)));
  expect(await policiesOnChain(chain, later.buyer)).toHaveLength(6);
  await askedAgainFor(waiting);
  expect(await remoteOnes(bought.ids)).toEqual(waiting.map((one) => ({ ...one, forms: 0 })));
  signer.set({ kind: "signs" });
  await settle(bought);
  await expectSameNonces(waiting);
});

test("the signer is away with a nonce given out, and comes back: bought once, by the same nonce", async () => {
  const before = giveUps();
  signer.set({ kind: "holds" });
  const { bought, waiting } = await buyWithRemoteNonces();
  await signer.leave();
  await givenUp(before);
  const later = await buy(4);
  await Promise.all(later.ids.map((id) => ledger.settled(id)));
  expect(await remoteOnes(bought.ids)).toEqual(waiting.map((one) => ({ ...one, forms: 0 })));
  signer.set({ kind: "signs" });
  await signer.comeBack();
  await settle(bought);
  await expectSameNonces(waiting);
});

const lies = [
  ["another key's signatures", { kind: "lies", with: generatePrivateKey() }],
  ["errors", { kind: "answers", status: 500, body: "no" }],
] as const;

test.each(lies)(
  "the signer answers with %s: nothing of it is stored or sent, and all are bought once",
  async (_, mode) => {
    signer.set(mode);
    const { bought, waiting } = await buyWithRemoteNonces();
    await askedAgainFor(waiting);
    expect(await remoteOnes(bought.ids)).toMatchObject(waiting.map(({ id }) => ({ id, forms: 0 })));
    expect(await chain.client.getTransactionCount({ address: remote.address, blockTag: "pending" })).toBe(
      Number(waiting[0]?.nonce),
    );
    signer.set({ kind: "signs" });
    await settle(bought);
  },
);

test("the writer is killed while it waits for the signer: bought once, by the same nonces", async () => {
  signer.set({ kind: "holds" });
  const { bought, waiting } = await buyWithRemoteNonces();
  await stack.kill9("writer");
  signer.set({ kind: "signs" });
  await ledger.connection.sql`update service.relayer_wallet set lease_until = now()`;
  await stack.start("writer");
  await settle(bought);
  await expectSameNonces(waiting);
});
