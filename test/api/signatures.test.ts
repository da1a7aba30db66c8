/** Signatures of contract wallets, and the limits on the node calls that verify them. */
import { type Address, type Hex, type LocalAccount, toHex, zeroAddress } from "viem";
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

describe("a wallet with code that", () => {
  /** An onboarding body for a new wallet with this code. */
  const walletOf = async (bytecode: Hex) => {
    const { address } = newAccount();
    await chain.client.setCode({ address, bytecode });
    return { ...(await onboardingBody(newAccount(), { wallet: address })), walletAddress: address };
  };
  const accepts: Hex = "0x631626ba7e60e01b60005260206000f3";
  const refuses: Hex = "0x63ffffffff60e01b60005260206000f3";
  const invalid: Hex = "0xfe";
  const reverts: Hex = "0x60006000fd";
  const loops: Hex = "0x5b600056";

  test.each<Hex>(["0x", "0x12", `0x${"12".repeat(31)}`])(
    "accepts a signature shorter than 32 bytes gets a key: %s",
    async (signature) => {
      expect((await post({ ...(await walletOf(accepts)), signature })).status).toBe(201);
    },
  );

  test.each([
    ["refuses", refuses],
    ["reverts", reverts],
    ["is an invalid opcode", invalid],
    ["loops for ever", loops],
    ["is empty", "0x"],
  ] as const)("%s gets 401 for a signature of any length", async (_, code) => {
    for (const signature of ["0x", `0x${"12".repeat(65)}`, `0x${"12".repeat(200)}`]) {
      expect(failure(await post({ ...(await walletOf(code)), signature }))).toEqual([
        401,
        "invalid_signature",
      ]);
    }
  });

  test("returns its input, like the identity precompile, gets 401", async () => {
    const wallet: Address = "0x0000000000000000000000000000000000000004";
    const body = { ...(await onboardingBody(newAccount(), { wallet })), signature: "0x" };
    expect(failure(await post(body))).toEqual([401, "invalid_signature"]);
  });

  test.each<Hex>(["0x", `0x${"12".repeat(65)}`])(
    "loops for ever is called once at a time with a gas limit: signature %s",
    async (signature) => {
      const seen: unknown[] = [];
      let [running, most] = [0, 0];
      node.intercept(async ({ method, params }, forward) => {
        if (method !== "eth_call") return forward();
        seen.push(params[0]);
        running += 1;
        most = Math.max(most, running);
        try {
          return await forward();
        } finally {
          running -= 1;
        }
      });
      try {
        const answer = await post({ ...(await walletOf(loops)), signature });
        expect(failure(answer)).toEqual([401, "invalid_signature"]);
      } finally {
        node.intercept();
      }
      expect(most).toBe(1);
      const limited = expect.objectContaining({ gas: toHex(5_000_000) });
      expect(seen).toEqual([limited, limited]); // one call per spelling of the address
    },
  );
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

  test("hangs, four verifications wait, a fifth gets 503 at once, and plain accounts get keys", async () => {
    const owner = newAccount();
    const wallet = await wallets.create(owner);
    let waiting = 0;
    node.intercept((call, forward) => {
      if (call.method !== "eth_call") return forward();
      waiting += 1;
      return new Promise<"lost">((resolve) => setTimeout(() => resolve("lost"), 10_000));
    });
    try {
      const body = await onboardingBody(owner, { wallet });
      const four = [1, 2, 3, 4].map(() => post(body));
      await expect.poll(() => waiting).toBe(4);
      const busy = await post(body);
      expect(failure(busy)).toEqual([503, "verification_busy"]);
      expect(busy.headers.get("retry-after")).toBe("5");
      expect((await post(await onboardingBody(newAccount()))).status).toBe(201);
      for (const answer of await Promise.all(four)) expect(failure(answer)).toEqual([503, "chain_not_found"]);
      expect(waiting).toBe(4); // no call was retried
    } finally {
      node.intercept();
    }
    expect((await post(await onboardingBody(owner, { wallet }))).status).toBe(201);
  });
});
