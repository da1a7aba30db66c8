/** The contract that checks signed prices: its typed data, and which signatures it accepts. */
import { type Hex, hashTypedData, size, toFunctionSelector, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { priceProofVerifierAbi } from "../../abis/PriceProofVerifier.ts";
import { assetBytes32 } from "../../lib/products.ts";
import { oracleSigner } from "../../scripts/local/service-wallets.ts";
import { priceProofTypes } from "../../workers/oracle/price-signer.ts";
import { stranger, useProtocol } from "./support.ts";

const protocol = useProtocol();
const proof = { price: 60_000_00000000n, asset: assetBytes32("BTC"), verifiedAt: 1_893_456_000n };

function domain() {
  const { deployment } = protocol();
  if (!deployment.oracle) throw new Error("the deployment has no oracle");
  return { ...deployment.oracle, chainId: deployment.chainId };
}
const typedData = (message: typeof proof) =>
  ({ domain: domain(), types: priceProofTypes, primaryType: "PriceProof", message }) as const;
const contract = () => ({ address: domain().verifyingContract, abi: priceProofVerifierAbi }) as const;

/** The signer that the contract finds; the zero address for none. */
const signerOf = ({ price, asset, verifiedAt }: typeof proof, signature: Hex) =>
  protocol().client.readContract({
    ...contract(),
    functionName: "verifyPriceProofEIP712",
    args: [price, asset, verifiedAt, signature],
  });

test("its functions have the selectors of the live chain", () => {
  const selectors = priceProofVerifierAbi.flatMap((item) =>
    item.type === "function" ? [[item.name, toFunctionSelector(item)]] : [],
  );
  expect(Object.fromEntries(selectors)).toMatchObject({
    verifyPriceProofEIP712: "0x5f50f87d",
    priceProofDigest: "0xcd28ea99",
    DOMAIN_SEPARATOR: "0x3644e515",
    oracleKey: "0x9d1f048e",
  });
});

test("its digest is that of the typed data, also for a price below zero", async () => {
  for (const message of [proof, { ...proof, price: -5n, verifiedAt: 0n }]) {
    const digest = await protocol().client.readContract({
      ...contract(),
      functionName: "priceProofDigest",
      args: [message.price, message.asset, message.verifiedAt],
    });
    expect(digest).toBe(hashTypedData(typedData(message)));
  }
});

test("it finds the signer of a proof, and none for another price, asset, time, key or form of signature", async () => {
  const signature = await oracleSigner.signTypedData(typedData(proof));
  expect(size(signature)).toBe(65);
  expect(await signerOf(proof, signature)).toBe(oracleSigner.address);
  for (const other of [{ price: proof.price - 1n }, { asset: assetBytes32("ETH") }, { verifiedAt: 0n }]) {
    expect(await signerOf({ ...proof, ...other }, signature)).toBe(zeroAddress);
  }
  const byStranger = await stranger.signTypedData(typedData(proof));
  for (const other of ["0x", byStranger, signature.slice(0, -2), `${signature.slice(0, -2)}00`] as Hex[]) {
    expect(await signerOf(proof, other), other).toBe(zeroAddress);
  }
});
