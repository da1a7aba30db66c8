/** The stack for the purchases benchmark: api and writer on a chain with a block a second, and funded buyers. */
import { encodeFunctionData, type LocalAccount, maxUint256 } from "viem";
import { generatePrivateKey, type HDAccount, privateKeyToAccount } from "viem/accounts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import type { Deployment } from "../lib/deployments.ts";
import { privateKeyOf } from "../scripts/local/anvil.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import type { ServiceName, StackSettings } from "../scripts/local/services.ts";
import { waitFor } from "../scripts/local/wait.ts";
import type { BenchStack } from "./bench-stack.ts";
import { minedOf, type Node, openNode, sendAndMine, signCalls } from "./raw-transactions.ts";

/** Wallets that buy and pay, each with its own API key. */
const BUYERS = 20;
const DOLLARS = 1_000_000n * 1_000_000n;
const CALL_GAS = 100_000n;
/** Limits that are never reached, although the code that counts runs. */
const NO_LIMIT = "1000000";
const UNLIMITED = {
  PUBLIC_RATE_LIMIT: NO_LIMIT,
  FREE_KEY_RATE_LIMIT: NO_LIMIT,
  PAID_KEY_RATE_LIMIT: NO_LIMIT,
};

export type Serving = {
  /** Api and writer when left out. */
  readonly names?: readonly ServiceName[];
  /** Where nothing else is given, the writer has all of the service's wallets, and no limit is ever reached. */
  readonly settings?: Partial<StackSettings>;
  readonly instance?: string;
};

export type PurchasesStack = Pick<BenchStack, "chain" | "sql" | "processes"> & {
  readonly node: Node;
  readonly buyers: readonly LocalAccount[];
  /** The service's wallets. */
  readonly relayers: readonly HDAccount[];
  /** As many wallets, for the raw transactions. */
  readonly rivals: readonly LocalAccount[];
  /** Creates accounts with USDC, and without ether or an allowance. */
  readonly newBuyers: (count: number) => Promise<LocalAccount[]>;
  /** Starts processes of the service on the node at this URL. */
  readonly serve: (rpcUrl: string, serving?: Serving) => Promise<ServiceStack>;
};

/** Creates accounts with USDC. */
async function createBuyers(
  node: Node,
  { chainId, contracts }: Deployment,
  owner: LocalAccount,
  count: number,
): Promise<LocalAccount[]> {
  const buyers = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
  const mints = buyers.map(({ address }) => ({
    to: contracts.usdc,
    gas: CALL_GAS,
    data: encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [address, DOLLARS] }),
  }));
  const first = await minedOf(node, owner.address);
  await sendAndMine(node, [owner.address], await signCalls(owner, chainId, first, mints));
  return buyers;
}

/** Gives accounts ether, with which they approve the router. */
async function approve(
  node: Node,
  { chainId, contracts }: Deployment,
  buyers: readonly LocalAccount[],
): Promise<void> {
  const data = encodeFunctionData({
    abi: mockUsdcAbi,
    functionName: "approve",
    args: [contracts.coverRouter, maxUint256],
  });
  for (const { address } of buyers) await node.ask("anvil_setBalance", [address, "0xde0b6b3a7640000"]);
  const approvals = await Promise.all(
    buyers.map((buyer) => signCalls(buyer, chainId, 0, [{ to: contracts.usdc, gas: CALL_GAS, data }])),
  );
  const wallets = buyers.map(({ address }) => address);
  await sendAndMine(node, wallets, approvals.flat());
}

/** Half of the stack's relayers are the service's wallets, the other half send the raw transactions. */
export async function preparePurchases(stack: BenchStack): Promise<PurchasesStack> {
  const { chain, sql, processes, owner, atEnd } = stack;
  const half = stack.relayers.length / 2;
  const [relayers, rivals] = [stack.relayers.slice(0, half), stack.relayers.slice(half)];
  const node = openNode(chain.url, 100);
  atEnd(node.close);
  // Only now: with a block a second each of the deployment's many transactions would take a second.
  await node.ask("evm_setIntervalMining", [1]);
  const newBuyers = (count: number) => createBuyers(node, chain.deployment, owner, count);
  const buyers = await newBuyers(BUYERS);
  await approve(node, chain.deployment, buyers);
  return {
    chain,
    sql,
    processes,
    node,
    buyers,
    newBuyers,
    relayers,
    rivals,
    serve: (rpcUrl, { names, settings, instance } = {}) =>
      stack.startServices(
        names ?? ["api", "writer"],
        {
          rpcUrl,
          relayerKeys: relayers.map(privateKeyOf),
          ...settings,
          more: {
            ...settings?.more,
            api: { ...UNLIMITED, ...settings?.more?.api },
            writer: {
              GAS_BUDGET_ETH: NO_LIMIT,
              GAS_BUDGET_PER_WALLET_ETH: NO_LIMIT,
              ...settings?.more?.writer,
            },
          },
        },
        instance,
      ),
  };
}

/** Milliseconds from inserting a purchase's row to the node's answer to its broadcast, by the database's clock. */
export async function broadcastDelays({ sql }: PurchasesStack, name: string): Promise<number[]> {
  const rows = await sql<{ ms: number }[]>`
    select extract(epoch from a.last_broadcast_at - p.created_at)::float8 * 1000 as ms
    from service.purchase_progress p join service.transaction t on t.intent = p.id
    join service.attempt a on a.transaction_id = t.id
    where p.idempotency_key like ${`${name}-%`} and a.last_broadcast_at is not null`;
  return rows.map(({ ms }) => ms);
}

/** The number of purchases of this name on the chain, from the ledger, which reads receipts. */
export async function countOnChain({ sql }: PurchasesStack, name: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct policy_id)::int as count from service.purchase_progress
    where idempotency_key like ${`${name}-%`} and state in ('mined', 'confirmed')`;
  return row?.count ?? 0;
}

/** Waits until every purchase so far is final, so that it does not disturb the next measurement. */
export const untilFinal = ({ sql }: PurchasesStack) =>
  waitFor({
    what: "all purchases to be final",
    probe: async () => {
      const open = await sql`select 1 from service.purchase_progress where final_at is null limit 1`;
      return open.length === 0 || undefined;
    },
    intervalMs: 500,
  });
