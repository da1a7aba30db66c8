/**
 * Onboarding by a contract wallet's signature. signatures.chain.test.ts has wallets of any code.
 */
import { type Address, type Hex, type LocalAccount, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { startChain, type TestChain } from "../support/chain.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { HttpFault, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { failure, issueKey } from "./support/api.ts";
import { type ContractWallets, deployWalletFactory } from "./support/contract-wallet.ts";
import { ONBOARD, onboardingBody } from "./support/onboarding.ts";

const newAccount = () => privateKeyToAccount(generatePrivateKey());

let chain: TestChain;
let node: RpcProxy;
let wallets: ContractWallets;
let request: CheckedRequest;
beforeAll(async () => {
  chain = await startChain();
  wallets = await deployWalletFactory(chain);
  node = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, services: ["api"], rpcUrl: node.url });
  request = await checkedRequests(stack.apiUrl);
  await issueKey(request, newAccount().address); // returns once the tables exist and the node was checked to be local
});

const post = (body: object) => request(ONBOARD, { body });
const calls = () => node.counts.get("eth_call") ?? 0;

describe("a contract wallet", () => {
  test("that is deployed signs by ERC-1271", async () => {
    const owner = newAccount();
    const wallet = await wallets.create(owner);
    const answer = await post(await onboardingBody(owner, { wallet }));
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ wallet });
  });

  test("that is not deployed yet signs by ERC-6492", async () => {
    const owner = newAccount();
    const wallet = await wallets.addressOf(owner);
    const { signature, ...body } = await onboardingBody(owner, { wallet });
    expect(failure(await post({ ...body, signature }))).toEqual([401, "invalid_signature"]);
    const answer = await post({ ...body, signature: wallets.counterfactual(owner, signature) });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ wallet });
    expect(await chain.client.getCode({ address: wallet })).toBeUndefined();
  });

  const stranger = newAccount();
  const forged: [string, (wallet: Address, owner: LocalAccount) => Promise<Hex>][] = [
    ["of a stranger", async (wallet) => (await onboardingBody(stranger, { wallet })).signature],
    ["of its owner for another wallet", async (_, owner) => (await onboardingBody(owner)).signature],
    ["of another length", async () => `0x${"12".repeat(200)}`],
    [
      "of a stranger's counterfactual wallet",
      async (wallet) =>
        wallets.counterfactual(stranger, (await onboardingBody(stranger, { wallet })).signature),
    ],
  ];
  test.each(forged)("with a signature %s gets 401 invalid_signature", async (_, forge) => {
    const owner = newAccount();
    const wallet = await wallets.create(owner);
    const body = await onboardingBody(owner, { wallet });
    const answer = await post({ ...body, signature: await forge(wallet, owner) });
    expect(failure(answer)).toEqual([401, "invalid_signature"]);
  });
});

test("a wallet whose code reads a terabyte of memory gets 401", async () => {
  const { address } = newAccount();
  await chain.client.setCode({ address, bytecode: "0x64ffffffffff51" });
  const body = { ...(await onboardingBody(newAccount(), { wallet: address })), signature: "0x" };
  expect(failure(await post(body))).toEqual([401, "invalid_signature"]);
});

test("the zero address gets 401, although ecrecover returns it for an invalid signature", async () => {
  const body = await onboardingBody(newAccount(), { wallet: zeroAddress });
  const broken: Hex = `0x${"00".repeat(64)}1b`;
  for (const signature of [broken, body.signature]) {
    expect(failure(await post({ ...body, signature }))).toEqual([401, "invalid_signature"]);
  }
});

test("a plain account's signature is recovered without asking the node", async () => {
  const before = calls();
  expect((await post(await onboardingBody(newAccount()))).status).toBe(201);
  expect(calls()).toBe(before);
});

describe("while the node", () => {
  test("is down, plain accounts get keys, and contract wallets get 503", async () => {
    node.intercept(async () => {
      throw new HttpFault(502);
    });
    try {
      expect((await post(await onboardingBody(newAccount()))).status).toBe(201);
      const doubtful = await onboardingBody(newAccount(), { wallet: await wallets.addressOf(newAccount()) });
      expect(failure(await post(doubtful))).toEqual([503, "chain_not_found"]);
    } finally {
      node.intercept();
    }
    const owner = newAccount();
    const body = await onboardingBody(owner, { wallet: await wallets.create(owner) });
    expect((await post(body)).status).toBe(201);
  });

  test("hangs, contract wallets get 503, and plain accounts get keys meanwhile", async () => {
    let asked = 0;
    node.intercept((call, forward) => {
      if (call.method !== "eth_call") return forward();
      asked += 1;
      return new Promise<"lost">(() => {});
    });
    try {
      const owner = newAccount();
      const verified = post(await onboardingBody(owner, { wallet: await wallets.addressOf(owner) }));
      expect((await post(await onboardingBody(newAccount()))).status).toBe(201);
      expect(failure(await verified)).toEqual([503, "chain_not_found"]);
      expect(asked).toBe(1); // the question was not repeated
    } finally {
      node.intercept();
    }
  });
});
