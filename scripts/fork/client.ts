/** A client of the fork's anvil: it reads, changes state, and sends transactions of accounts whose keys nobody here has. */
import {
  type Address,
  createTestClient,
  encodeFunctionData,
  parseAbi,
  parseEther,
  publicActions,
  walletActions,
  zeroAddress,
} from "viem";
import { chainOf } from "../../lib/chain/client.ts";
import { ifAnswered } from "../../lib/chain/reverts.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { toNode } from "../local/to-node.ts";

export const openFork = (deployment: Pick<Deployment, "chainId" | "name">, url: string) =>
  createTestClient({
    mode: "anvil",
    chain: chainOf(deployment, url),
    transport: toNode(url),
    pollingInterval: 100,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
export type ForkClient = ReturnType<typeof openFork>;

/** More than a fork ever spends on gas. */
export const GAS_MONEY = parseEther("10000");

const ownerAbi = parseAbi(["function owner() view returns (address)"]);
export const roleEvents = parseAbi([
  "event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)",
  "event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)",
]);

/** Who may change a contract: its owner; without one, every account that a role was ever given to. */
async function administrators(client: ForkClient, address: Address, fromBlock: bigint): Promise<Address[]> {
  const owner = await ifAnswered(client.readContract({ address, abi: ownerAbi, functionName: "owner" }));
  if (owner !== undefined && owner !== zeroAddress) return [owner];
  const granted = await client.getContractEvents({
    ...{ address, abi: roleEvents, eventName: "RoleGranted", fromBlock, strict: true },
  });
  return [...new Set(granted.map(({ args }) => args.account))];
}

/**
 * Makes a call that only a contract's administrators may, as the first of them that may, if there is one.
 * @param fromBlock the deployment's first block
 * @throws when it reverts in a block
 */
export async function sendAsAdministrator(
  client: ForkClient,
  to: Address,
  call: Parameters<typeof encodeFunctionData>[0],
  fromBlock: bigint,
): Promise<void> {
  const data = encodeFunctionData(call);
  for (const account of await administrators(client, to, fromBlock)) {
    await client.setBalance({ address: account, value: GAS_MONEY });
    if ((await ifAnswered(client.call({ account, to, data }))) === undefined) continue;
    await client.impersonateAccount({ address: account });
    const hash = await client.sendTransaction({ account, to, data });
    const { status } = await client.waitForTransactionReceipt({ hash });
    await client.stopImpersonatingAccount({ address: account });
    if (status !== "success") throw new Error(`a call of ${to} by ${account} reverted: ${hash}`);
    return;
  }
}
