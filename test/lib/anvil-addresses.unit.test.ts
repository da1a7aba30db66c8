import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { isAnvilAddress } from "../../lib/chain/anvil-addresses.ts";
import { anvilAccount } from "../../lib/chain/client.ts";

test("anvil's addresses are the first twenty accounts of its mnemonic, in any case of letters", () => {
  const isAnvils = Array.from({ length: 21 }, (_, index) => isAnvilAddress(anvilAccount(index).address));
  expect(isAnvils).toEqual([...Array(20).fill(true), false]);
  expect(isAnvilAddress(getAddress(anvilAccount(19).address.toLowerCase()))).toBe(true);
  expect(isAnvilAddress(privateKeyToAddress(generatePrivateKey()))).toBe(false);
});
