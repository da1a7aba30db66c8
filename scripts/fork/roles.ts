/** Lets the stack's wallets relay and its keeper settle: by transactions of whoever may change that on the forked chain. */
import { type Address, isAddressEqual } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { ifAnswered } from "../../lib/chain/reverts.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { type ForkClient, sendAsAdministrator } from "./client.ts";

/** Puts the relayer on the router's allowlist. @throws where nobody can be found who may */
async function allowRelayer(client: ForkClient, deployment: Deployment, relayer: Address): Promise<void> {
  const router = { address: deployment.contracts.coverRouter, abi: coverRouterAbi } as const;
  const isAllowed = () =>
    client.readContract({ ...router, functionName: "authorizedRelayers", args: [relayer] });
  if (await isAllowed()) return;
  const call = { abi: coverRouterAbi, functionName: "setRelayer", args: [relayer, true] };
  await sendAsAdministrator(client, router.address, call, BigInt(deployment.startBlock));
  if (!(await isAllowed()))
    throw new Error(
      `nobody was found who may let ${relayer} relay: no owner of the router ${router.address}`,
    );
}

/** Lets the keeper contract settle each product's policies. @returns a sentence for each reason why it cannot */
async function allowKeeper(
  client: ForkClient,
  reader: ReadClient,
  deployment: Deployment,
): Promise<string[]> {
  const { shieldKeeper } = deployment.contracts;
  if (shieldKeeper === undefined)
    return ["The deployment has no shieldKeeper: no policy is observed or paid."];
  const faults: string[] = [];
  const paused = { address: shieldKeeper, abi: shieldKeeperAbi, functionName: "paused" } as const;
  if (await client.readContract(paused)) faults.push(`The keeper contract ${shieldKeeper} is paused.`);
  for (const { adapter, productId } of await sellingAdapters(reader, deployment.contracts)) {
    const keeper = { address: adapter, abi: shieldAdapterAbi, functionName: "keeper" } as const;
    const isOpen = async () => {
      const address = await ifAnswered(client.readContract(keeper));
      return address !== undefined && isAddressEqual(address, shieldKeeper);
    };
    if (await isOpen()) continue;
    const call = { abi: shieldAdapterAbi, functionName: "setKeeper", args: [shieldKeeper] };
    await sendAsAdministrator(client, adapter, call, BigInt(deployment.startBlock));
    if (!(await isOpen())) faults.push(`The adapter ${adapter} of product ${productId} takes no keeper.`);
  }
  return faults;
}

/** @returns a sentence for each thing that the keeper cannot do. @throws where the relayer cannot be allowed */
export async function takeRoles(
  client: ForkClient,
  reader: ReadClient,
  deployment: Deployment,
  relayer: Address,
): Promise<string[]> {
  await allowRelayer(client, deployment, relayer);
  return allowKeeper(client, reader, deployment);
}
