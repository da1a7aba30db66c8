/** What this proves: a wallet carries out prepared actions against the real service, and each way to fail has its own end. */
import { concat, createWalletClient, http, isHex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type Client,
  createClient,
  createCoverClient,
  type Executed,
  execute,
  onboard,
  type Prepared,
  PurchaseInDoubt,
  type Step,
  signInMessage,
  viemWallet,
} from "../../client/index.ts";
import { reportTransaction } from "../../client/report.ts";
import { sendTransaction } from "../../client/signing.ts";
import { startApi, type TestApi } from "../api/support/api.ts";
import { newBuyer } from "../support/ledger.ts";
import { hour } from "../support/policy-fates.ts";
import * as act from "../support/protocol-actions.ts";
import { createScriptedWallet, type ScriptedWallet } from "../support/scripted-wallet.ts";

let api: TestApi;
let client: Client;
let provider: ScriptedWallet;
let address: string;

beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"] });
  client = createClient({ baseUrl: api.stack.apiUrl });
});

/** Each test has a wallet of its own, with ether and a million USDC, that has approved nothing. */
beforeEach(async () => {
  const account = await newBuyer(api.chain, { approve: false });
  provider = createScriptedWallet(api.chain, account);
  address = account.address;
});

const wallet = () => ({ provider, address });
const hash = z.custom<`0x${string}`>((value) => isHex(value));
const coverageAmount = "100000000";
const retries = { delaysMs: [20, 20, 20, 20, 20, 20], longestWaitMs: 0 };

/** A purchase that the wallet sends itself: an approval, and the purchase. */
const prepareOwn = (): Promise<Prepared> =>
  client.post("/api/v1/policies/prepare", {
    body: { from: address, productId: hour.productId, coverageAmount, relayed: false },
  });
/** A purchase that the service sends: a permit. */
const preparePermit = (): Promise<Prepared> =>
  client.post("/api/v1/policies/prepare", {
    body: { from: address, productId: hour.productId, coverageAmount, relayed: true },
  });

/** A client with a key that the wallet has got for itself. */
async function keyHolder(send?: typeof fetch): Promise<Client> {
  const { host, origin } = new URL(api.stack.apiUrl);
  const terms = { address, chainId: 8453, site: { host, origin }, statement: "Make an API key." };
  const { apiKey, wallet: owner } = await onboard(
    client,
    wallet(),
    { message: signInMessage(terms) },
    { label: "test" },
  );
  expect(owner).toBe(address);
  const headers = { "x-api-key": apiKey };
  return createClient({ baseUrl: api.stack.apiUrl, headers, ...(send ? { fetch: send } : {}) });
}

const policiesOf = async (): Promise<number> =>
  (await client.get("/api/v1/public/policies/{wallet}", { path: { wallet: address } })).policies.length;

const kinds = ({ outcomes }: Executed) => outcomes.map(({ kind }) => kind);

describe("transactions", () => {
  test("each open step is shown, sent and mined before the next one; a complete one is skipped", async () => {
    const events: string[] = [];
    const follow = {
      beforeStep: ({ id }: Step, position: number) => void events.push(`${position} ${id}`),
      onSent: ({ id }: Step) => void events.push(`${id} sent`),
      afterStep: ({ kind }: { kind: string }) => void events.push(kind),
    };
    expect(kinds(await execute(await prepareOwn(), wallet(), follow))).toEqual(["mined", "mined"]);
    expect(events).toEqual(["0 approve", "approve sent", "mined", "1 purchase", "purchase sent", "mined"]);
    await act.approveUsdc(api.protocol, provider.account, api.chain.deployment.contracts.coverRouter);
    expect(kinds(await execute(await prepareOwn(), wallet(), { beforeStep() {} }))).toEqual([
      "skipped",
      "mined",
    ]);
  });

  test("the owner's no before or in the wallet stops it, and what was mined stays", async () => {
    const prepared = await prepareOwn();
    const no = new Error("not now");
    const stop = execute(prepared, wallet(), { beforeStep: () => Promise.reject(no) });
    await expect(stop).rejects.toBe(no);
    expect(provider.asked).toEqual([]);
    const refuseLater = execute(prepared, wallet(), {
      beforeStep: (_, position) => void (position === 1 && provider.refused.add("eth_sendTransaction")),
    });
    await expect(refuseLater).rejects.toMatchObject({ code: "refused" });
    expect((await prepareOwn()).steps.map(({ status }) => status)).toEqual(["complete", "incomplete"]);
  });

  test("a wallet on another chain is asked to change, and sends nothing while it does not", async () => {
    const prepared = await prepareOwn();
    provider.chainId = 1;
    provider.refused.add("wallet_switchEthereumChain");
    await expect(execute(prepared, wallet(), { beforeStep() {} })).rejects.toMatchObject({
      code: "wrong_chain",
    });
    expect(provider.asked).toEqual(["wallet_switchEthereumChain"]);
    provider.refused.clear();
    expect(kinds(await execute(prepared, wallet(), { beforeStep() {} }))).toEqual(["mined", "mined"]);
  });

  test("another account than the prepared one is refused before anything is asked", async () => {
    const prepared = await prepareOwn();
    const other = { provider, address: api.chain.owner.address };
    await expect(execute(prepared, other, { beforeStep() {} })).rejects.toMatchObject({ code: "no_account" });
    expect(provider.asked).toEqual([]);
  });

  test("a transaction that reverts is told with its hash", async () => {
    const prepared = await prepareOwn();
    const pauseBefore = async ({ id }: Step) => {
      if (id === "purchase") await act.setRouterPaused(api.protocol, api.chain.owner, true);
    };
    try {
      await expect(execute(prepared, wallet(), { beforeStep: pauseBefore })).rejects.toMatchObject({
        code: "reverted",
        txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      });
    } finally {
      await act.setRouterPaused(api.protocol, api.chain.owner, false);
    }
  });

  test("a transaction that the owner replaces in the wallet is told apart from one that waits", async () => {
    const prepared = await prepareOwn();
    const { client: node, owner } = api.chain;
    await node.setAutomine(false);
    try {
      const replace = async (hash: string) => {
        const { account } = provider;
        const nonce = await node.getTransactionCount({ address: account.address });
        const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
        const other = await node.sendTransaction({
          ...{ account, chain: null, to: owner.address, value: 1n, nonce, gas: 21_000n },
          ...fees,
        });
        expect(other).not.toBe(hash);
        await node.setAutomine(true);
        await node.mine({ blocks: 1 });
      };
      const replaced: Promise<void>[] = [];
      const run = execute(prepared, wallet(), {
        beforeStep() {},
        onSent: (_, hash) => void replaced.push(replace(hash)),
      });
      await expect(run).rejects.toMatchObject({ code: "replaced" });
      await Promise.all(replaced);
    } finally {
      await node.setAutomine(true);
    }
  });

  test("what the contracts would refuse is not signed", async () => {
    const body = { from: address, productId: hour.productId, coverageAmount: "1", relayed: false };
    const prepared = await client.post("/api/v1/policies/prepare", { body });
    await expect(execute(prepared, wallet(), { beforeStep() {} })).rejects.toThrow(/minimum/);
    expect(provider.asked).toEqual([]);
  });
});

describe("purchases that the service sends", () => {
  test("a wallet makes its own key, signs a permit, and has its policy without a transaction", async () => {
    const reporter = await keyHolder();
    const { outcomes } = await execute(await preparePermit(), wallet(), { beforeStep() {}, reporter });
    expect(outcomes).toMatchObject([{ kind: "bought", receipt: { buyer: address, coverageAmount } }]);
    expect(await api.chain.client.getTransactionCount({ address: provider.account.address })).toBe(0);
    const keys = await reporter.get("/api/v1/agent/keys", {});
    expect(keys.keys.map(({ label }) => label)).toEqual(["test"]);
  });

  test("no try gets an answer that tells: it is in doubt, asking again tells, and it was bought once", async () => {
    const TRIES = 7;
    let loses = true;
    let lost = 0;
    const reporter = await keyHolder(async (url, init) => {
      const answer = await fetch(url, init);
      if (!loses) return answer;
      lost += 1;
      if (lost === 1 || lost === TRIES) throw new TypeError("the connection was cut");
      // In place of the others comes a refusal after which the client need not wait.
      const code = "database_unavailable";
      const refusal = { error: code, code, message: "the database is away", details: null };
      return Response.json(refusal, { status: 503, headers: { "retry-after": "0" } });
    });
    const doubt = await execute(await preparePermit(), wallet(), { beforeStep() {}, reporter, retries }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(doubt instanceof PurchaseInDoubt)) throw new Error("it is not in doubt", { cause: doubt });
    loses = false;
    expect(lost).toBe(TRIES);
    expect(await doubt.again()).toMatchObject({ buyer: address, coverageAmount });
    expect(await policiesOf()).toBe(1);
  });

  /** By EIP-7702 the wallet acts by a contract that knows no signatures, so that USDC refuses its permits. */
  const refusePermits = () =>
    api.chain.client.setCode({
      address: provider.account.address,
      bytecode: concat(["0xef0100", api.chain.deployment.contracts.usdc]),
    });

  test("a permit that the wallet's code refuses is sent once; its owner approves instead, and has the policy", async () => {
    const purchases: number[] = [];
    const reporter = await keyHolder(async (url, init) => {
      const answer = await fetch(url, init);
      if (String(url).endsWith("/api/v1/policies")) purchases.push(answer.status);
      return answer;
    });
    await refusePermits();
    const shown: string[] = [];
    const { outcomes } = await execute(await preparePermit(), wallet(), {
      beforeStep: ({ id }) => void shown.push(id),
      reporter,
    });
    expect(shown).toEqual(["permit", "approve"]);
    expect(outcomes).toMatchObject([
      { kind: "mined", step: { id: "approve" } },
      { kind: "bought", step: { id: "permit" }, receipt: { buyer: address } },
    ]);
    expect(purchases).toEqual([422, 201]);
  });

  test("an order of such a wallet signs once, approves, and is bought", async () => {
    const baseUrl = api.stack.apiUrl;
    const { apiKey } = await createCoverClient({ baseUrl }).onboard(wallet());
    await refusePermits();
    const purchases: (number | undefined)[] = [];
    const cover = createCoverClient({
      ...{ baseUrl, apiKey, wallet: wallet() },
      onResponse: ({ url, status }) => void (url.endsWith("/policies") && purchases.push(status)),
    });
    provider.asked.length = 0;
    const order = { product: hour.productId, coverageAmount: BigInt(coverageAmount) };
    expect(await (await cover.buy(order)).wait()).toMatchObject({ buyer: address });
    expect(provider.asked).toEqual(["eth_signTypedData_v4", "eth_sendTransaction"]);
    expect(purchases).toEqual([422, 202]);
  });

  test("a purchase that is refused is no doubt", async () => {
    const reporter = await keyHolder();
    const prepared = await preparePermit();
    await act.setRouterPaused(api.protocol, api.chain.owner, true);
    try {
      await expect(execute(prepared, wallet(), { beforeStep() {}, reporter })).rejects.toMatchObject({
        name: "ApiError",
        code: "contract_paused",
      });
    } finally {
      await act.setRouterPaused(api.protocol, api.chain.owner, false);
    }
  });
});

test("a trigger is signed with its gas limit, by a wallet of the browser and by one of viem, and observes", async () => {
  const { chain, protocol } = api;
  await act.approveUsdc(protocol, provider.account, chain.deployment.contracts.coverRouter);
  const { price } = await act.latestRound(protocol, hour.symbol);
  const { policyId } = await act.purchase(protocol, provider.account, hour, 100_000_000n);
  const { start } = await act.coverOf(protocol, hour, policyId);
  const low = await act.triggerPrice(protocol, hour, policyId);
  const transport = http(chain.url);
  const programs = viemWallet(createWalletClient({ account: provider.account, transport }));
  for (const [before, signer] of [wallet(), programs, wallet()].entries()) {
    await act.nextBlockAt(protocol, start + 300n + 70n * BigInt(before));
    await act.pushPrice(protocol, chain.owner, hour.symbol, low);
    const body = { from: address, productId: hour.productId, policyId: String(policyId) };
    const prepared = await client.post("/api/v1/triggers/prepare", { body });
    const [outcome] = (await execute(prepared, signer, { beforeStep() {} })).outcomes;
    if (outcome?.kind !== "mined") throw new Error("the trigger was not sent");
    const { gas } = await chain.client.getTransaction({ hash: hash.parse(outcome.txHash) });
    expect(String(gas)).toBe(outcome.step.gas);
    expect((await act.coverOf(protocol, hour, policyId)).count).toBe(before + 1);
  }
  await act.pushPrice(protocol, chain.owner, hour.symbol, price);
});

test("a mined transaction is reported; if the report is refused, it is done all the same", async () => {
  const reporter = await keyHolder();
  await act.approveUsdc(api.protocol, provider.account, api.chain.deployment.contracts.coverRouter);
  const { policyId } = await act.purchase(api.protocol, provider.account, hour, 100_000_000n);
  const { epochId } = await act.trigger(api.protocol, provider.account, hour, policyId);
  const list = async (sender: Client) => {
    const body = { from: address, epochId: String(epochId), amount: "10", totalPriceUsdc: "9000000" };
    const prepared = await client.post("/api/v1/marketplace/list/prepare", { body });
    return (await execute(prepared, wallet(), { beforeStep() {}, reporter: sender })).outcomes;
  };
  expect(await list(reporter)).toMatchObject([
    { kind: "mined", report: { state: "none" } },
    { kind: "mined", report: { state: "recorded" } },
    { kind: "skipped", step: { id: "revoke" } },
  ]);
  const stranger = createClient({ baseUrl: api.stack.apiUrl, headers: { "x-api-key": "lk_unknown" } });
  expect(await list(stranger)).toMatchObject([
    { kind: "skipped", step: { id: "approve" } },
    { kind: "mined", report: { state: "failed", error: { code: "unauthenticated" } } },
    { kind: "skipped", step: { id: "revoke" } },
  ]);
});

test("a report of a transaction that the API's node has in no block yet is repeated until it is recorded", async () => {
  const reports: number[] = [];
  const reporter = await keyHolder(async (url, init) => {
    const answer = await fetch(url, init);
    reports.push(answer.status);
    if (answer.status === 202) await node.setAutomine(true).then(() => node.mine({ blocks: 1 }));
    return answer;
  });
  const { client: node } = api.chain;
  await act.approveUsdc(api.protocol, provider.account, api.chain.deployment.contracts.coverRouter);
  const { policyId } = await act.purchase(api.protocol, provider.account, hour, 100_000_000n);
  const { epochId } = await act.trigger(api.protocol, provider.account, hour, policyId);
  const body = { from: address, epochId: String(epochId), amount: "10", totalPriceUsdc: "9000000" };
  const { steps, chainId } = await client.post("/api/v1/marketplace/list/prepare", { body });
  const [approval, listing] = steps;
  if (approval?.kind !== "transaction" || listing?.kind !== "transaction" || !listing.report)
    throw new Error("a listing takes an approval and a transaction that is reported");
  await sendTransaction(wallet(), approval, chainId);
  await node.setAutomine(false);
  try {
    const txHash = await sendTransaction(wallet(), listing, chainId);
    const record = await reportTransaction(reporter, listing.report, txHash, undefined, retries);
    expect(record).toMatchObject({ listingId: expect.stringMatching(/^\d+$/), amount: "10" });
    expect(reports).toEqual([202, 200]);
  } finally {
    await node.setAutomine(true);
  }
});
