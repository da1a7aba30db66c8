/** What this proves: whatever the signer answers, what is to be signed gets the key's own signature of just this, or none. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { pino } from "pino";
import { bytesToHex, type Hex, keccak256, serializeSignature, serializeTransaction, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount, sign } from "viem/accounts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { assetBytes32 } from "../../lib/products.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { priceSigner } from "../../workers/oracle/price-signer.ts";
import { askSigner, SignerFault, signerAccount } from "../../workers/relayer/signer.ts";
import { atEnd } from "../support/cleanup.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";

/** The order of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const privateKey = generatePrivateKey();
const publicKey = publicKeyOf(privateKey);
const log = pino({ level: "silent" });

let signer: TestSigner;
beforeAll(async () => {
  signer = await startSigner([privateKey]);
});
beforeEach(() => signer.set({ kind: "signs" }));

const key = () => ({ publicKey, signerUrl: signer.url });
const transaction = (nonce: number, data: Hex = "0x") =>
  ({
    type: "eip1559",
    chainId: 8453,
    nonce,
    to: privateKeyToAccount(privateKey).address,
    data,
    value: 0n,
    gas: 21_000n,
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
  }) as const;

/** A process that stands still for two seconds gives up its own signer. */
const signed = (ask: () => Promise<Hex>): Promise<Hex> => waitFor({ what: "a signature", probe: ask });

test("the transaction is the one that the key itself signs, whatever is signed", async () => {
  const account = signerAccount(key(), log);
  const viem = privateKeyToAccount(privateKey);
  expect(account.address).toBe(viem.address);
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.uint8Array({ maxLength: 300 }), async (nonce, data) => {
      const wanted = transaction(nonce, bytesToHex(data));
      expect(await signed(() => account.signTransaction(wanted))).toBe(await viem.signTransaction(wanted));
      expect(signer.asked(publicKey).at(-1)).toBe(serializeTransaction(wanted));
    }),
  );
});

test("a price's signature is the one that the key itself makes", async () => {
  const remote = priceSigner(key());
  const own = priceSigner({ privateKey });
  expect(remote.address).toBe(own.address);
  const verifyingContract = privateKeyToAccount(generatePrivateKey()).address;
  const domain = { name: "Oracle", version: "1", chainId: 8453, verifyingContract };
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
      fc.nat(),
      async (price, time) => {
        const message = { price, asset: assetBytes32("BTC"), verifiedAt: BigInt(time) };
        expect(await signed(() => remote.sign(domain, message))).toBe(await own.sign(domain, message));
      },
    ),
  );
});

const data = serializeTransaction(transaction(7));
const honest = () => sign({ hash: keccak256(data), privateKey });

test("v as 27 and 28, and as 0 and 1", async () => {
  const { r, s, yParity = 0 } = await honest();
  for (const v of [yParity, yParity + 27]) {
    signer.set({ kind: "answers", body: `${r}${s.slice(2)}${toHex(v, { size: 1 }).slice(2)}\n` });
    expect(await askSigner(key(), data)).toEqual({ r, s, yParity });
  }
});

const lies: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
  [
    "another key's signature",
    () => sign({ hash: keccak256(data), privateKey: generatePrivateKey(), to: "hex" }),
    /not this key's/,
  ],
  [
    "a signature of another payload",
    () => sign({ hash: keccak256("0x01"), privateKey, to: "hex" }),
    /not this key's/,
  ],
  [
    "a signature of the data's hash's hash",
    () => sign({ hash: keccak256(keccak256(data)), privateKey, to: "hex" }),
    /not this key's/,
  ],
  [
    "the other parity",
    async () => {
      const { r, s, yParity = 0 } = await honest();
      return serializeSignature({ r, s, yParity: 1 - yParity });
    },
    /not this key's/,
  ],
  [
    "the high s, which nodes refuse",
    async () => {
      const { r, s, yParity = 0 } = await honest();
      return serializeSignature({ r, s: toHex(ORDER - BigInt(s), { size: 32 }), yParity: 1 - yParity });
    },
    /nodes refuse/,
  ],
  ["another v", async () => `${serializeSignature(await honest()).slice(0, -2)}25`, /nodes refuse/],
  ["zeros", async () => `0x${"00".repeat(65)}`, /not this key's/],
  ["no hex", async () => `0x${"zz".repeat(65)}`, /no signature/],
  ["half a signature", async () => serializeSignature(await honest()).slice(0, 100), /no signature/],
  ["nothing", async () => "", /no signature/],
  ["an endless answer", async () => "0".repeat(1_000_000), /no signature/],
];

test.each(lies)("refuses %s", async (_, body, reason) => {
  signer.set({ kind: "answers", body: await body() });
  const asking = askSigner(key(), data);
  await expect(asking).rejects.toThrow(SignerFault);
  await expect(asking).rejects.toThrow(reason);
});

test("an error, a key that the signer lacks, a redirect, and nobody there", async () => {
  signer.set({ kind: "answers", status: 500, body: serializeSignature(await honest()) });
  await expect(askSigner(key(), data)).rejects.toThrow("the signer answered with status 500");
  const other = { ...key(), publicKey: publicKeyOf(generatePrivateKey()) };
  await expect(askSigner(other, data)).rejects.toThrow("the signer does not have the key");
  const redirecting = createServer((_, response) => response.writeHead(307, { location: signer.url }).end());
  await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
  const { port } = redirecting.address() as AddressInfo;
  const signerUrl = `http://127.0.0.1:${port}`;
  await expect(askSigner({ publicKey, signerUrl }, data)).rejects.toThrow(SignerFault);
  await new Promise<void>((resolve) => redirecting.close(() => resolve()));
  await expect(askSigner({ publicKey, signerUrl }, data)).rejects.toThrow(/does not answer: .*ECONNREFUSED/);
});

test("a URL with a path, and with a slash at its end", async () => {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const path of ["", "/", "/signer", "/signer/"])
    await askSigner({ publicKey, signerUrl: `http://127.0.0.1:${port}${path}` }, data).catch(() => {});
  const own = `/api/v1/eth1/sign/${publicKey}`;
  expect(paths).toEqual([own, own, `/signer${own}`, `/signer${own}`]);
});

test("a wallet gets no nonces until the signer has signed, and none after it has failed until it signs again", async () => {
  signer.set({ kind: "holds" });
  const account = signerAccount(key(), log);
  const can = () => account.canSign?.() || undefined;
  expect(can()).toBe(undefined);
  await waitFor({ what: "the signer to be asked", probe: () => signer.held() > 0 || undefined });
  expect(can()).toBe(undefined);
  signer.set({ kind: "signs" });
  await waitFor({ what: "the signer to be tried again", probe: can });
  signer.set({ kind: "answers", body: "0x" });
  await expect(account.signTransaction(transaction(1))).rejects.toThrow(SignerFault);
  expect(can()).toBe(undefined);
  signer.set({ kind: "signs" });
  await waitFor({ what: "the signer to be tried once more", probe: can });
});

test("a signer that does not answer is given up", async () => {
  signer.set({ kind: "holds" });
  await expect(askSigner(key(), data)).rejects.toThrow(/the signer does not answer: .*timeout/);
});
