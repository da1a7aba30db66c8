/**
 * Onboarding by an EIP-4361 message or by a contract wallet's signature, and the limits on the node calls that verify them.
 * signatures.chain.test.ts has wallets of any code, sign-in-message.unit.test.ts every message that is refused.
 */
import { type Address, type Hex, type LocalAccount, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { productIdOf } from "../../lib/products.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { compact } from "../support/compact-signature.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { HttpFault, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { failure, issueKey, messageOf } from "./support/api.ts";
import { type ContractWallets, deployWalletFactory } from "./support/contract-wallet.ts";
import { now, ONBOARD, onboardingBody, signInBody } from "./support/onboarding.ts";

const newAccount = () => privateKeyToAccount(generatePrivateKey());

let chain: TestChain;
let node: RpcProxy;
let wallets: ContractWallets;
let apiUrl: string;
let request: CheckedRequest;
beforeAll(async () => {
  chain = await startChain();
  wallets = await deployWalletFactory(chain);
  node = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, services: ["api"], rpcUrl: node.url });
  apiUrl = stack.apiUrl;
  request = await checkedRequests(apiUrl);
  await issueKey(request, newAccount().address); // returns once the tables exist and the node was checked to be local
});

const post = (body: object) => request(ONBOARD, { body });
const calls = () => node.counts.get("eth_call") ?? 0;

describe("an EIP-4361 message", () => {
  test("makes one key for its wallet", async () => {
    const account = newAccount();
    const body = await signInBody(account, apiUrl, { statement: "Make an API key." });
    const answer = await post({ ...body, label: "by message" });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ wallet: account.address, label: "by message" });
    expect(failure(await post(body))).toEqual([409, "signature_used"]);
  });

  test("with limits in its resources makes a key with these limits, and no other", async () => {
    const resources = [
      ...["https://cover.example/terms", "urn:parametric-cover:scopes:buy,read"],
      ...["urn:parametric-cover:products:FLASHBTC1H-001,FLASHETH24-001"],
      ...["urn:parametric-cover:max-premium-per-purchase:10000000"],
    ];
    const body = await signInBody(newAccount(), apiUrl, { resources });
    const limits = {
      ...{ scopes: ["read", "buy"], products: ["FLASHETH24-001", productIdOf("FLASHBTC1H-001")] },
      ...{ maxPremiumPerPurchase: "10000000" },
    };
    for (const [more, field] of [
      [{}, "scopes"],
      [{ ...limits, scopes: ["read", "buy", "webhooks"] }, "scopes"],
      [{ ...limits, products: undefined }, "products"],
      [{ ...limits, maxPremiumPerPurchase: "10000001" }, "maxPremiumPerPurchase"],
    ] as const) {
      const answer = await post({ ...body, ...more });
      expect(failure(answer)).toEqual([400, "invalid_body"]);
      expect(messageOf(answer)).toContain(`${field}: must be what the message's resources have: `);
    }
    const answer = await post({ ...body, ...limits, maxPremiumPerDay: "50000000" });
    expect(answer.json).toMatchObject({ scopes: limits.scopes, maxPremiumPerDay: "50000000" });
  });

  test("signed by a contract wallet's owner makes a key for the contract wallet", async () => {
    const owner = newAccount();
    const address = await wallets.create(owner);
    const answer = await post(await signInBody(owner, apiUrl, { address }));
    expect([answer.status, answer.json]).toEqual([201, expect.objectContaining({ wallet: address })]);
  });

  type Body = Partial<Awaited<ReturnType<typeof signInBody>>> & { timestamp?: number };
  test.each<[string, () => Promise<Body>, number, string, RegExp]>([
    [
      "for another host",
      () => signInBody(newAccount(), "http://cover.example"),
      400,
      "invalid_body",
      /message: must name the domain 127\.0\.0\.1:\d+/,
    ],
    [
      "for another chain",
      () => signInBody(newAccount(), apiUrl, { chainId: 1 }),
      400,
      "invalid_body",
      /message: must have the Chain ID 8453/,
    ],
    [
      "for another wallet",
      async () => ({ ...(await signInBody(newAccount(), apiUrl)), walletAddress: zeroAddress }),
      400,
      "invalid_body",
      /message: must name the address 0x0{40}/,
    ],
    [
      "of another form",
      async () => ({ ...(await signInBody(newAccount(), apiUrl)), message: "hello" }),
      400,
      "invalid_body",
      /message: must be an EIP-4361 message/,
    ],
    [
      "above 5000 characters",
      () => signInBody(newAccount(), apiUrl, { statement: "x".repeat(5000) }),
      400,
      "invalid_body",
      /message: must have 5000 characters/,
    ],
    [
      "beside a timestamp",
      async () => ({ ...(await signInBody(newAccount(), apiUrl)), timestamp: now() }),
      400,
      "invalid_body",
      /timestamp: must be given, or message in its place/,
    ],
    [
      "from six minutes ago",
      () => signInBody(newAccount(), apiUrl, { issuedAt: new Date(Date.now() - 360_000) }),
      400,
      "stale_timestamp",
      /Issued At is more than 300 seconds/,
    ],
    [
      "of a stranger",
      async () => signInBody(newAccount(), apiUrl, { address: newAccount().address }),
      401,
      "invalid_signature",
      /The signature is not by 0x/,
    ],
  ])("%s is refused with the reason", async (_, body, status, code, reason) => {
    const answer = await post(await body());
    expect(failure(answer)).toEqual([status, code]);
    expect(messageOf(answer)).toMatch(reason);
  });
});

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

test("a wallet whose code fails, because it reads a terabyte of memory, gets 401", async () => {
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

test("a plain account's signature is recovered without asking the node, also a compact one (EIP-2098)", async () => {
  const before = calls();
  expect((await post(await onboardingBody(newAccount()))).status).toBe(201);
  for (let n = 0; n < 4; n += 1) {
    const { signature, ...body } = await onboardingBody(newAccount());
    expect((await post({ ...body, signature: compact(signature) })).status).toBe(201);
  }
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
