import { pad, toHex } from "viem";
import { expect, test } from "vitest";
import { faucetClient } from "../../api/faucet/client-name.ts";

const client = "203.0.113.7";
const wallet = (n: number) => pad(toHex(n), { size: 20 });
const wallets = Array.from({ length: 1000 }, (_, n) => wallet(n));

test("with production's limit a client has one name, whatever the wallet", () => {
  expect(new Set(wallets.map((one) => faucetClient(client, one)))).toEqual(new Set([client]));
});

test("with a higher limit a client has at most as many names, and a wallet always the same", () => {
  const names = wallets.map((one) => faucetClient(client, one, 10));
  expect(new Set(names).size).toBe(10);
  expect(wallets.map((one) => faucetClient(client, one, 10))).toEqual(names);
});
