import { type Address, createTestClient, parseAbi, parseEther, publicActions, walletActions } from "viem";
import { chainOf } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { toNode } from "../local/to-node.ts";

const routerAbi = parseAbi([
  "function owner() view returns (address)",
  "function setRelayer(address relayer, bool authorized)",
  "function authorizedRelayers(address) view returns (bool)",
]);
/** More than a dev stack ever spends on gas. */
const gasMoney = parseEther("100");

/**
 * Puts one of our wallets on the allowlist of a forked router. Anvil impersonates the router's owner, so no key is needed.
 * @throws when the call reverts.
 */
export async function authoriseRelayer(url: string, deployment: Deployment, relayer: Address): Promise<void> {
  const client = createTestClient({
    mode: "anvil",
    chain: chainOf(deployment, url),
    transport: toNode(url),
    pollingInterval: 100,
  })
    .extend(publicActions)
    .extend(walletActions);
  const router = { address: deployment.contracts.coverRouter, abi: routerAbi } as const;
  await client.setBalance({ address: relayer, value: gasMoney });
  if (await client.readContract({ ...router, functionName: "authorizedRelayers", args: [relayer] })) return;

  const owner = await client.readContract({ ...router, functionName: "owner" });
  await client.setBalance({ address: owner, value: gasMoney });
  await client.impersonateAccount({ address: owner });
  const hash = await client.writeContract({
    ...router,
    account: owner,
    functionName: "setRelayer",
    args: [relayer, true],
  });
  const { status } = await client.waitForTransactionReceipt({ hash });
  await client.stopImpersonatingAccount({ address: owner });
  if (status !== "success") throw new Error(`the forked cover router refused ${relayer} as a relayer`);
}
