import fc from "fast-check";
import { type Address, bytesToHex, type Hex, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { nativeAccount } from "../../workers/relayer/native-account.ts";

/** The order of secp256k1: private keys are below it. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const seed = Number(process.env.SIGNING_SEED || Date.now() % 2 ** 31);

const privateKeys = fc.bigInt({ min: 1n, max: ORDER - 1n }).map((key): Hex => toHex(key, { size: 32 }));
const wei = fc.bigInt({ min: 0n, max: 10n ** 21n });
const bytes = (length: { minLength: number; maxLength: number }) =>
  fc.uint8Array(length).map((array): Hex => bytesToHex(array));
const addresses = bytes({ minLength: 20, maxLength: 20 }).map((address): Address => address);

const transactions = fc.record({
  type: fc.constant("eip1559" as const),
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: fc.integer({ min: 0, max: 2 ** 31 }),
  to: addresses,
  data: bytes({ minLength: 0, maxLength: 300 }),
  value: wei,
  gas: fc.bigInt({ min: 21_000n, max: 30_000_000n }),
  maxFeePerGas: wei,
  maxPriorityFeePerGas: fc.constant(0n),
});

function requireNative(privateKey: Hex) {
  const account = nativeAccount(privateKey);
  if (!account) throw new Error("there is no native secp256k1 for this machine");
  return account;
}

/** Where the package brings a binary. Elsewhere npm builds one if it finds a compiler, or the writer signs with viem. */
const isPrebuilt = ["linux-x64", "darwin-arm64"].includes(`${process.platform}-${process.arch}`);

describe.runIf(isPrebuilt)("native signing", () => {
  // Two in 256 signatures begin with a zero byte in `r` or `s`, which a transaction leaves out.
  test(`signs the same bytes as viem for random keys and calls (SIGNING_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(privateKeys, transactions, async (privateKey, transaction) => {
        const viem = privateKeyToAccount(privateKey);
        const native = requireNative(privateKey);
        expect(native.address).toBe(viem.address);
        expect(await native.signTransaction(transaction)).toBe(await viem.signTransaction(transaction));
      }),
      { seed, numRuns: 1000 },
    );
  });

  test.each([1n, 2n, ORDER - 1n])("signs with the private key %s as viem does", async (key) => {
    const privateKey = toHex(key, { size: 32 });
    const call = { type: "eip1559", chainId: 8453, nonce: 0, gas: 21_000n, maxFeePerGas: 1n } as const;
    const viem = await privateKeyToAccount(privateKey).signTransaction(call);
    expect(await requireNative(privateKey).signTransaction(call)).toBe(viem);
  });
});
