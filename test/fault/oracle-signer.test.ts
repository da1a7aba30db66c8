/** The key that signs prices is with the signer. What this proves: a caller gets this key's signature, or 503 and none. */
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { oracleSigner } from "../../scripts/local/service-wallets.ts";
import { failure } from "../api/support/api.ts";
import { proofOf, startOracleStack, type TestOracle } from "../api/support/oracle.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";

const privateKey = privateKeyOf(oracleSigner);
const publicKey = publicKeyOf(privateKey);

let signer: TestSigner;
let oracle: TestOracle;
beforeAll(async () => {
  signer = await startSigner([privateKey]);
  oracle = await startOracleStack({
    writer: { SIGNER_URL: signer.url, ORACLE_PRIVATE_KEY: "", ORACLE_PUBLIC_KEY: publicKey },
  });
});
beforeEach(() => signer.set({ kind: "signs" }));

/** A price with a signature that the deployed verifier accepts. */
async function expectSigned(): Promise<void> {
  const proof = proofOf(await oracle.signInTime());
  expect(await oracle.signerOnChain(proof)).toBe(oracleSigner.address);
}

/** A call during which the writer read the price in time. */
async function expectUnavailable(): Promise<void> {
  const answer = await oracle.signInTime("BTC", ["chain_not_found"]);
  expect(failure(answer)).toEqual([503, "oracle_signer_unavailable"]);
}

test("the deployed verifier finds the signer's key", async () => {
  const asked = signer.asked(publicKey).length;
  await expectSigned();
  expect(signer.asked(publicKey).length).toBeGreaterThan(asked);
});

test.each([
  ["does not answer", { kind: "holds" }],
  ["signs with another key", { kind: "lies", with: generatePrivateKey() }],
] as const)(
  "a signer that %s: 503 oracle_signer_unavailable, and a signature once it signs",
  async (_, mode) => {
    signer.set(mode);
    await expectUnavailable();
    signer.set({ kind: "signs" });
    await expectSigned();
  },
);

test("a signer that is away: 503 oracle_signer_unavailable, and a signature once it is back", async () => {
  await signer.leave();
  await expectUnavailable();
  await signer.comeBack();
  await expectSigned();
});
