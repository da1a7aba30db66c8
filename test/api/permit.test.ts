/** Purchases with a permit in place of an approval; and prepared ones, for which a wallet signs a permit and nothing else. */
import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { permitCalldata } from "../../lib/chain/permit.ts";
import { connect } from "../../lib/db/connect.ts";
import { approveUsdc, mintUsdc } from "../../scripts/local/protocol/actions/index.ts";
import { atEnd } from "../support/cleanup.ts";
import { compact } from "../support/compact-signature.ts";
import { newBuyer, usdc } from "../support/ledger.ts";
import { allowanceOf, type PermitTerms, permitBody, signPermit } from "../support/permit.ts";
import { failure, invalidFields, repeatWhile, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createKeyHolder, receiptOf } from "./support/buyer.ts";
import { type ContractWallets, deployWalletFactory } from "./support/contract-wallet.ts";
import { preparedPermits } from "./support/prepared-permits.ts";

/** The premium of the default purchase, 100 USDC of FLASHBTC1H-001. */
const PREMIUM = 292_000n;

let api: TestApi;
let wallets: ContractWallets;
let buyer: Buyer;
let sql: ReturnType<typeof connect>["sql"];

beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"] });
  wallets = await deployWalletFactory(api.chain);
  const connection = connect(api.stack.databaseUrl, { name: "test" });
  atEnd(connection.close);
  sql = connection.sql;
});
/** A wallet with a million USDC and without an allowance. */
beforeEach(async () => {
  buyer = await createKeyHolder(api, await newBuyer(api.chain, { approve: false }));
});

const sign = async (terms: Partial<PermitTerms> = {}, from = buyer) =>
  permitBody(await signPermit(api.chain, from.account, { value: PREMIUM, ...terms }));
const headTime = async () => (await api.chain.client.getBlock()).timestamp;

/** The kinds of the transactions that were sent for an account, in their order. */
async function sentFor(owner = buyer.account.address) {
  const rows = await sql<{ kind: string; outcome: string }[]>`
    select kind, outcome from service.transaction where payer = ${owner.toLowerCase()} order by wallet, nonce`;
  return rows.map(({ kind, outcome }) => `${kind} ${outcome}`);
}

/** The status and the first detail of a refused purchase. */
async function refusedWith(permit: unknown) {
  const answer = await repeatWhile(["relayer_unavailable"], () => buyer.buy({ permit }));
  const [status, code] = failure(answer);
  return { status, code, path: invalidFields(answer)[0] };
}

describe("a purchase with a permit", () => {
  test("buys without an approval, and leaves no allowance", async () => {
    const answer = await buyer.buy({ permit: await sign() });
    expect(answer.status, answer.text).toBe(201);
    expect(receiptOf(answer).premiumPaid).toBe(String(PREMIUM));
    expect(await sentFor()).toEqual(["permit done", "purchase done"]);
    expect(await allowanceOf(api.chain, buyer.account.address)).toBe(0n);
  });

  test("in the compact form of a signature (EIP-2098) buys as the whole one does", async () => {
    const permit = await signPermit(api.chain, buyer.account, { value: PREMIUM });
    const answer = await buyer.buy({
      permit: permitBody({ ...permit, signature: compact(permit.signature) }),
    });
    expect(answer.status, answer.text).toBe(201);
    expect(await sentFor()).toEqual(["permit done", "purchase done"]);
  });

  test("repeated with its key is the same purchase, although its permit is used", async () => {
    const key = { "idempotency-key": randomUUID() };
    const permit = await sign();
    const first = await buyer.buy({ permit }, key);
    const second = await buyer.buy({ permit }, key);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.json).toEqual(first.json);
    expect(await sentFor()).toEqual(["permit done", "purchase done"]);
  });

  test("of a higher value pays several purchases, also when each sends it", async () => {
    const permit = await sign({ value: 3n * PREMIUM });
    for (const body of [{ permit }, {}, { permit }]) {
      const answer = await buyer.buy(body);
      expect(answer.status, answer.text).toBe(201);
    }
    expect(await sentFor()).toEqual(["permit done", "purchase done", "purchase done", "purchase done"]);
    expect(await refusedWith(permit)).toMatchObject({ code: "invalid_permit" });
  });

  test("is not sent where the allowance is higher", async () => {
    await approveUsdc(api.protocol, buyer.account, api.chain.deployment.contracts.coverRouter, usdc(10));
    const answer = await buyer.buy({ permit: await sign({ value: usdc(9) }) });
    expect(answer.status, answer.text).toBe(201);
    expect(await sentFor()).toEqual(["purchase done"]);
    expect(await allowanceOf(api.chain, buyer.account.address)).toBe(usdc(10) - PREMIUM);
  });

  test("that somebody else has sent before buys with the allowance that it left", async () => {
    const permit = await signPermit(api.chain, buyer.account, { value: PREMIUM });
    const { usdc: token, coverRouter } = api.chain.deployment.contracts;
    const data = permitCalldata({ owner: buyer.account.address, spender: coverRouter }, permit);
    const hash = await api.chain.client.sendTransaction({ account: api.chain.owner, to: token, data });
    await api.chain.client.waitForTransactionReceipt({ hash });
    const answer = await buyer.buy({ permit: permitBody(permit) });
    expect(answer.status, answer.text).toBe(201);
    expect(await sentFor()).toEqual(["purchase done"]);
  });

  test("of a contract wallet is judged by ERC-1271", async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const address = await wallets.create(owner);
    await mintUsdc(api.protocol, api.chain.owner, address, usdc(10));
    const holder = await createKeyHolder(api, { ...owner, address });
    const permit = permitBody(await signPermit(api.chain, owner, { value: PREMIUM, owner: address }));
    const answer = await holder.buy({ permit });
    expect(answer.status, answer.text).toBe(201);
    expect(await sentFor(address)).toEqual(["permit done", "purchase done"]);
  });

  test("of an account with code (EIP-7702) is judged by that code", async () => {
    const { client, owner } = api.chain;
    const contractAddress = await wallets.create(buyer.account);
    const stranger = await wallets.create(owner);
    /** Gives the account the code of a contract wallet. */
    async function takeOn(code: `0x${string}`) {
      if (!buyer.account.signAuthorization) throw new Error("the account cannot sign");
      const nonce = await client.getTransactionCount({ address: buyer.account.address });
      const chainId = await client.getChainId();
      const authorization = await buyer.account.signAuthorization({ address: code, chainId, nonce });
      const hash = await client.sendTransaction({
        account: owner,
        to: owner.address,
        authorizationList: [authorization],
      });
      await client.waitForTransactionReceipt({ hash });
    }
    await takeOn(stranger);
    expect(await refusedWith(await sign())).toMatchObject({
      code: "invalid_permit",
      path: "permit.signature",
    });
    await takeOn(contractAddress);
    const answer = await buyer.buy({ permit: await sign() });
    expect(answer.status, answer.text).toBe(201);
  });
});

describe("a purchase is refused and nothing is sent for it", () => {
  test.each<{
    what: string;
    terms: () => Promise<Partial<PermitTerms>> | Partial<PermitTerms>;
    path: string;
  }>([
    { what: "below the premium", terms: () => ({ value: PREMIUM - 1n }), path: "permit.value" },
    { what: "that has expired", terms: () => ({ deadline: 1n }), path: "permit.deadline" },
    {
      what: "that expires within 15 minutes",
      terms: async () => ({ deadline: (await headTime()) + 890n }),
      path: "permit.deadline",
    },
    { what: "with a used nonce", terms: () => ({ nonce: 7n }), path: "permit.signature" },
    { what: "of another chain", terms: () => ({ chainId: 1 }), path: "permit.signature" },
    {
      what: "for another spender",
      terms: () => ({ spender: "0x00000000000000000000000000000000000000dd" as const }),
      path: "permit.signature",
    },
  ])("with a permit $what", async ({ terms, path }) => {
    expect(await refusedWith(await sign(await terms()))).toEqual({
      status: 422,
      code: "invalid_permit",
      path,
    });
    expect(await sentFor()).toEqual([]);
  });

  test("with a permit of another wallet", async () => {
    const other = await createKeyHolder(api, await newBuyer(api.chain, { approve: false }));
    expect(await refusedWith(await sign({}, other))).toMatchObject({ path: "permit.signature" });
  });

  test.each([
    { permit: {}, path: "permit.deadline" },
    { permit: { value: "1", deadline: "9", signature: `0x${"ab".repeat(4097)}` }, path: "permit.signature" },
    { permit: "0x", path: "permit" },
    { permit: { value: "-1", deadline: "9", signature: "0x" }, path: "permit.value" },
    { permit: { value: "1", deadline: "soon", signature: "0x" }, path: "permit.deadline" },
    { permit: { value: "1", deadline: "9", signature: "0x123" }, path: "permit.signature" },
    { permit: { value: "1", deadline: `${2n ** 256n}`, signature: "0x" }, path: "permit.deadline" },
  ])("with the permit $permit", async ({ permit, path }) => {
    expect(await refusedWith(permit)).toEqual({ status: 400, code: "validation_error", path });
  });

  test.each([
    "0x",
    `0x${"00".repeat(64)}`,
    `0x${"12".repeat(64)}`,
    `0x${"00".repeat(65)}`,
    `0x${"ff".repeat(65)}`,
    `0x${"ab".repeat(4096)}`,
  ])("with a permit whose signature is no signature", async (signature) => {
    const permit = { ...(await sign()), signature };
    expect(await refusedWith(permit)).toMatchObject({ code: "invalid_permit", path: "permit.signature" });
  });
});

describe("while a purchase with a permit is in flight", () => {
  const withoutWaiting = () => ({ "idempotency-key": randomUUID(), prefer: "respond-async" });

  /** Mines once the node has as many transactions for the buyer, and waits for their outcomes. */
  async function mineAll(expected: readonly string[]) {
    const { client } = api.chain;
    const inPool = async () => (await client.getTxpoolStatus()).pending;
    await expect.poll(inPool).toBe(expected.length);
    await client.mine({ blocks: 1 });
    await client.setAutomine(true);
    await expect.poll(() => sentFor()).toEqual(expected);
  }

  test("another permit has to wait, and is then bought with", async () => {
    await api.chain.client.setAutomine(false);
    const first = await buyer.buy({ permit: await sign() }, withoutWaiting());
    expect(first.status, first.text).toBe(202);
    const second = await buyer.buy({ permit: await sign({ value: 2n * PREMIUM }) });
    expect(failure(second)).toEqual([409, "permit_in_flight"]);
    expect(second.headers.get("retry-after")).toBe("4");
    await mineAll(["permit done", "purchase done"]);
    const third = await buyer.buy({ permit: await sign() });
    expect(third.status, third.text).toBe(201);
  });

  test("a permit below what other purchases in flight need is refused", async () => {
    await approveUsdc(api.protocol, buyer.account, api.chain.deployment.contracts.coverRouter, PREMIUM);
    await api.chain.client.setAutomine(false);
    const first = await buyer.buy({}, withoutWaiting());
    expect(first.status, first.text).toBe(202);
    expect(await refusedWith(await sign({ value: 2n * PREMIUM - 1n }))).toEqual({
      status: 422,
      code: "invalid_permit",
      path: "permit.value",
    });
    const second = buyer.buy({ permit: await sign({ value: 2n * PREMIUM }) });
    await mineAll(["purchase done", "permit done", "purchase done"]);
    expect((await second).status).toBe(201);
  });
});

// The last ones: they move the chain by an hour.
describe("a prepared purchase", () =>
  preparedPermits(
    () => api,
    () => wallets,
  ));
