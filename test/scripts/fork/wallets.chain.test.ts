/** Balances that are written into a token's storage, wherever it keeps them. */

import { erc20Abi, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { openFork } from "../../../scripts/fork/client.ts";
import { prepareWallets, raiseBalance } from "../../../scripts/fork/wallets.ts";
import { startChain } from "../../support/chain.ts";
import { DELEGATION, delegateAccounts } from "../../support/live-likeness.ts";

test("a plain token's balance is raised, and that of a token behind a proxy, whose storage lies elsewhere; never lowered", async () => {
  const { deployment, url } = await startChain();
  const client = openFork(deployment, url);
  const wallet = anvilAccount(11).address;
  for (const token of [deployment.contracts.usdc, deployment.contracts.protocolToken]) {
    const balance = () =>
      client.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [wallet] });
    await raiseBalance(client, token, wallet, 5n);
    expect(await balance()).toBe(5n);
    await raiseBalance(client, token, wallet, 3n);
    expect(await balance()).toBe(5n);
  }
  await expect(raiseBalance(client, deployment.contracts.coverRouter, wallet, 1n)).rejects.toThrow();
  await expect(raiseBalance(client, zeroAddress, wallet, 1n)).rejects.toThrow();
});

test("strangers' code on the wallets is cleared, and they have ether and USDC", async () => {
  const chain = await startChain();
  const client = openFork(chain.deployment, chain.url);
  await delegateAccounts(chain);
  const address = anvilAccount(9).address;
  expect(await client.getCode({ address })).toBe(DELEGATION.toLowerCase());
  await prepareWallets(client, chain.deployment.contracts.usdc);
  expect(await client.getCode({ address })).toBeUndefined();
  expect(await client.getBalance({ address })).toBeGreaterThan(0n);
  expect(
    await client.readContract({
      ...{
        address: chain.deployment.contracts.usdc,
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [address],
      },
    }),
  ).toBe(1_000_000_000_000n);
});
