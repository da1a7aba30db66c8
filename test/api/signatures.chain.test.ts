/**
 * What this proves: a contract wallet alone decides about its signatures. Nothing runs before it is asked, its code can
 * neither break the check nor make it expensive, and a node that gives no answer is not an answer of the wallet.
 */
import { type Address, type Hex, keccak256, serializeErc6492Signature, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createSignatures, type Signatures } from "../../api/chain/signatures.ts";
import { createReadClient } from "../../lib/chain/client.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { type Interceptor, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type ContractWallets, deployWalletFactory } from "./support/contract-wallet.ts";

/** Two, as in an onboarding: the message has the address in one of its spellings. */
const digests = [keccak256(toHex("one")), keccak256(toHex("other"))] as const;
const newAccount = () => privateKeyToAccount(generatePrivateKey());

let chain: TestChain;
let wallets: ContractWallets;
let node: RpcProxy;
let signatures: Signatures;
beforeAll(async () => {
  chain = await startChain();
  wallets = await deployWalletFactory(chain);
  node = await startRpcProxy(chain.url);
  signatures = createSignatures(
    createReadClient(chain.deployment, node.url, { retryCount: 0, batch: false }),
  );
});

const hasSigned = (wallet: Address, signature: Hex) => signatures.hasSigned(wallet, digests, signature);

/** A contract with this code. */
async function codeAt(bytecode: Hex): Promise<Address> {
  const { address } = newAccount();
  await chain.client.setCode({ address, bytecode });
  return address;
}

/** Runs a check while the proxy treats its calls as `interceptor` says. */
async function through<T>(interceptor: Interceptor, check: () => Promise<T>): Promise<T> {
  node.intercept(interceptor);
  try {
    return await check();
  } finally {
    node.intercept();
  }
}

const lengths = [0, 12, 65, 200].map((length): Hex => `0x${"12".repeat(length)}`);
const accepts = "631626ba7e60e01b5f5260205ff3";
const faults: [string, Hex][] = [
  ["reverts", "0x5f5ffd"],
  ["reverts with a megabyte", "0x621000005ffd"],
  ["returns a megabyte", "0x621000005ff3"],
  ["is an invalid opcode", "0xfe"],
  ["loops for ever", "0x5b5f56"],
  ["reads a terabyte of memory", "0x64ffffffffff51"],
  ["reads memory beyond every address", `0x7f${"ff".repeat(32)}51`],
  ["copies return data that is not there", "0x60015f5f3e"],
  ["creates a contract beyond the limit of size", "0x620100005f5ff0"],
  ["jumps to nowhere", "0x600156"],
  ["takes from an empty stack", "0x50"],
];

describe("a wallet's code that", () => {
  test("accepts is believed for a signature of any length", async () => {
    const wallet = await codeAt(`0x${accepts}`);
    for (const signature of lengths) expect(await hasSigned(wallet, signature)).toBe(true);
  });

  test.each<[string, Hex]>([
    ...faults,
    ["refuses", "0x63ffffffff60e01b5f5260205ff3"],
    ["returns a byte less than a word", "0x631626ba7e60e01b5f52601f5ff3"],
    [
      "accepts every signature, but only for the zero address as sender",
      "0x631626ba7e60e01b3215025f5260205ff3",
    ],
    ["stores something before it accepts", `0x60015f55${accepts}`],
  ])("%s has signed nothing, and the node answers with one word", async (_, code) => {
    const wallet = await codeAt(code);
    const answers: string[] = [];
    const record: Interceptor = async (_call, forward) => {
      const answer = await forward();
      answers.push(JSON.stringify(answer));
      return answer;
    };
    for (const signature of lengths) {
      expect(await through(record, () => hasSigned(wallet, signature))).toBe(false);
    }
    for (const answer of answers) expect(answer.length).toBeLessThan(100);
  });

  test("uses up its gas at one digest is still asked for the other", async () => {
    const wallet = await codeAt(`0x6004357f${digests[1].slice(2)}14602957fe5b${accepts}`);
    expect(await hasSigned(wallet, "0x")).toBe(true);
  });

  test("loops for ever is called once, with a bounded gas", async () => {
    const wallet = await codeAt("0x5b5f56");
    const asked: unknown[] = [];
    const record: Interceptor = (call, forward) => {
      asked.push([call.method, call.params[0]]);
      return forward();
    };
    expect(await through(record, () => hasSigned(wallet, "0x"))).toBe(false);
    expect(asked).toEqual([["eth_call", expect.objectContaining({ gas: toHex(16_000_000) })]]);
  });
});

test("a precompile, which echoes the question, has signed nothing", async () => {
  const identity: Address = "0x0000000000000000000000000000000000000004";
  for (const signature of lengths) expect(await hasSigned(identity, signature)).toBe(false);
});

describe("an ERC-6492 wrapper", () => {
  const wrap = (factory: Address, data: Hex = "0x") =>
    serializeErc6492Signature({ address: factory, data, signature: "0x12" });

  test("for a deployed wallet is opened, and the wallet asked with the signature inside", async () => {
    const owner = newAccount();
    const wallet = await wallets.create(owner);
    const signature = wallets.counterfactual(owner, await owner.sign({ hash: digests[1] }));
    expect(await hasSigned(wallet, signature)).toBe(true);
  });

  test("for a deployed wallet does not run its factory call", async () => {
    // Any call without data opens this wallet, so that it accepts everything.
    const wallet = await codeAt("0x3660095760015f55005b631626ba7e60e01b5f54025f5260205ff3");
    expect(await hasSigned(wallet, wrap(wallet))).toBe(false);
    const hash = await chain.client.sendTransaction({ account: chain.owner, to: wallet });
    await chain.client.waitForTransactionReceipt({ hash });
    expect(await hasSigned(wallet, wrap(wallet))).toBe(true);
  });

  test.each(faults)("with a factory that %s deploys nothing", async (_, code) => {
    expect(await hasSigned(newAccount().address, wrap(await codeAt(code)))).toBe(false);
  });

  test("with a factory that deploys another wallet is refused", async () => {
    const [owner, stranger] = [newAccount(), newAccount()];
    const signature = wallets.counterfactual(stranger, await stranger.sign({ hash: digests[0] }));
    expect(await hasSigned(await wallets.addressOf(owner), signature)).toBe(false);
    expect(await hasSigned(await wallets.addressOf(stranger), signature)).toBe(true);
  });

  test("that is broken is refused", async () => {
    const broken: Hex = `0x${"12".repeat(96)}${"6492".repeat(16)}`;
    expect(await hasSigned(await codeAt(`0x${accepts}`), broken)).toBe(false);
  });
});

describe("a node that", () => {
  const withGas = z.looseObject({ gas: z.string() });
  const withLessGas: Interceptor = ({ method, params: [check, ...rest] }, forward) =>
    forward({ method, params: [{ ...withGas.parse(check), gas: toHex(150_000) }, ...rest] });
  const says =
    (message: string): Interceptor =>
    async () => ({ error: { code: -32000, message } });

  test.each<[string, Interceptor]>([
    ["allows too little gas", withLessGas],
    ["runs out of gas in geth's words", says("out of gas")],
    ["runs out of memory's gas in anvil's words", says("EVM error MemoryOOG")],
  ])("%s: the wallet has signed nothing", async (_, interceptor) => {
    const wallet = await codeAt("0x5b5f56"); // loops for ever
    expect(await through(interceptor, () => hasSigned(wallet, "0x"))).toBe(false);
  });

  test.each<[string, Interceptor]>([
    ["returns nothing", async () => ({ result: "0x" })],
    ["returns another word", async () => ({ result: toHex(2, { size: 32 }) })],
    ["lacks the block", says("missing trie node")],
    ["reverts the check itself", says("execution reverted")],
    ["is out of order in words that contain OOG", says("Google has no such node")],
    ["hangs up", async () => "lost"],
  ])("%s leaves it unknown: chain_not_found", async (_, interceptor) => {
    const wallet = await codeAt(`0x${accepts}`);
    const check = through(interceptor, () => hasSigned(wallet, "0x"));
    await expect(check).rejects.toMatchObject({ code: "chain_not_found" });
  });

  test("hangs gets four questions at most: a fifth check is refused at once, a plain account needs none", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = 0;
    const hangs: Interceptor = async () => {
      asked += 1;
      await released;
      return "lost";
    };
    const wallet = await codeAt(`0x${accepts}`);
    const account = newAccount();
    const signature = await account.sign({ hash: digests[1] });
    await through(hangs, async () => {
      const four = Promise.allSettled([1, 2, 3, 4].map(() => hasSigned(wallet, "0x")));
      await expect(hasSigned(wallet, "0x")).rejects.toMatchObject({
        ...{ code: "verification_busy", retryAfter: 5 },
      });
      expect(await hasSigned(account.address, signature)).toBe(true);
      await expect.poll(() => asked).toBe(4);
      release();
      for (const { status } of await four) expect(status).toBe("rejected");
      expect(asked).toBe(4); // no question was repeated
    });
    expect(await hasSigned(wallet, "0x")).toBe(true);
  });
});
