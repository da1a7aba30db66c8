/**
 * A buyer's pending purchases stay exactly within its balance and allowance: no purchase is sent that would revert, and
 * none is refused that the newest block covers. `Prefer: respond-async` returns without waiting.
 */
import { randomUUID } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { approveUsdc, mintUsdc } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { failure, messageOf, repeatWhile, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createKeyHolder, receiptOf } from "./support/buyer.ts";

/** The premium for 100 USDC of FLASHBTC1H-001, with 6 decimals. */
const PREMIUM = 292_000n;

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"], chainOptions: { blockTime: 1, mixedMining: true } });
});

async function buyerWith({ balance, allowance }: { balance: bigint; allowance?: bigint }): Promise<Buyer> {
  const account = privateKeyToAccount(generatePrivateKey());
  await api.chain.client.setBalance({ address: account.address, value: 10n ** 18n });
  if (balance > 0n) await mintUsdc(api.protocol, api.chain.owner, account.address, balance);
  const { coverRouter } = api.chain.deployment.contracts;
  await approveUsdc(api.protocol, account, coverRouter, allowance);
  return createKeyHolder(api, account);
}

const newKey = () => ({ "idempotency-key": randomUUID() });
/** Buys once; a relayer that is behind cannot tell a lack of funds from a transaction just mined. */
const buyOnce = (buyer: Buyer, headers: Record<string, string> = {}) => {
  const key = newKey();
  return repeatWhile(["relayer_unavailable"], () => buyer.buy({}, { ...key, ...headers }));
};
const relayerNonce = () =>
  api.chain.client.getTransactionCount({ address: api.chain.relayer.address, blockTag: "pending" });

test.each([
  {
    limit: "allowance",
    balance: 100n * PREMIUM,
    allowance: 5n * PREMIUM,
    reason: /ERC20InsufficientAllowance\(0x/,
  },
  { limit: "balance", balance: 5n * PREMIUM, allowance: undefined, reason: /ERC20InsufficientBalance\(0x/ },
])("of 20 simultaneous calls, as many buy as the $limit covers, and the others cost no gas", async (row) => {
  const buyer = await buyerWith(row);
  const nonce = await relayerNonce();
  const answers = await Promise.all(Array.from({ length: 20 }, () => buyOnce(buyer)));
  const bought = answers.filter(({ status }) => status === 201);
  expect(bought).toHaveLength(5);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expect(failure(answer)).toEqual([502, "onchain_revert"]);
    expect(messageOf(answer)).toMatch(row.reason);
  }
  expect(await policiesOnChain(api.chain, buyer.account.address)).toHaveLength(5);
  expect(await relayerNonce()).toBe(nonce + 5);
});

test("USDC received in the newest block counts at once, also with many pending purchases", async () => {
  const buyer = await buyerWith({ balance: 0n });
  for (let n = 0; n < 12; n += 1) {
    await mintUsdc(api.protocol, api.chain.owner, buyer.account.address, PREMIUM);
    const answer = await buyOnce(buyer, { prefer: "respond-async" });
    expect([201, 202], answer.text).toContain(answer.status);
  }
  await waitFor({
    what: "all 12 policies to be bought",
    probe: async () => (await policiesOnChain(api.chain, buyer.account.address)).length === 12 || undefined,
  });
  expect(failure(await buyOnce(buyer))).toEqual([502, "onchain_revert"]);
});

test("Prefer: respond-async gets 202 with the purchase's Location, and a repeated call the receipt", async () => {
  const buyer = await buyerWith({ balance: 10n * PREMIUM });
  const key = newKey();
  await mineNothing(api.chain);
  try {
    const answer = await buyer.buy({}, { ...key, prefer: "wait=5, respond-async" });
    expect(answer.status, answer.text).toBe(202);
    expect(answer.headers.get("preference-applied")).toBe("respond-async");
    expect(answer.headers.get("location")).toMatch(/^\/api\/v1\/purchases\/[0-9a-f-]{36}$/);
    expect(answer.json).toMatchObject({ receipt: null, failure: null });
    const again = await buyer.buy({}, { ...key, prefer: "respond-async" });
    expect([again.status, again.headers.get("location")]).toEqual([202, answer.headers.get("location")]);
  } finally {
    await mineEverySecond(api.chain);
  }
  const replay = await buyer.buy({}, key);
  expect(replay.status, replay.text).toBe(200);
  const { purchaseId, txHash } = receiptOf(replay);
  const read = await api.request(`/api/v1/purchases/${purchaseId}`, { headers: buyer.headers });
  expect(read.json).toMatchObject({ txHash, receipt: { txHash } });
  const asked = await buyer.buy({}, { ...key, prefer: "respond-async" });
  expect([asked.status, asked.headers.get("preference-applied")]).toEqual([200, null]);
});

test("Prefer: respond-async without an Idempotency-Key is refused, and nothing is bought: a repetition would get the old policy", async () => {
  const buyer = await buyerWith({ balance: 10n * PREMIUM });
  const refused = await buyer.buy({}, { prefer: "respond-async" });
  expect(failure(refused)).toEqual([400, "validation_error"]);
  expect(refused.json).toMatchObject({
    details: [{ path: "Idempotency-Key", message: "is required with Prefer: respond-async" }],
  });
  expect(await policiesOnChain(api.chain, buyer.account.address)).toEqual([]);
});
