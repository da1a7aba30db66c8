import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { type Address, decodeFunctionData, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { permitOfCalldata } from "../../lib/chain/permit.ts";
import type { reconcileConfig } from "../../lib/config.ts";
import { reportWaiting } from "../../lib/ledger/report.ts";
import { createLogger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { catalogue } from "../../lib/products.ts";
import { type DeployedChain, openChains } from "../../workers/common/chains.ts";
import { createMarks } from "../../workers/ledger/intent-marks.ts";
import { releaseLease, renewLease, takeLease } from "../../workers/ledger/leases.ts";
import { acceptForeign } from "../../workers/ledger/unknown-transactions.ts";
import { compareNonce } from "../../workers/relayer/compare-nonces.ts";
import { createCallPricer } from "../../workers/relayer/fees.ts";
import { purchasedPolicy, purchaseOfCalldata } from "../../workers/relayer/purchase-calls.ts";
import { isEmptyTransfer } from "../../workers/relayer/recovery/context.ts";
import {
  findUnknown,
  keeperTargets,
  type MinedUnknown,
  nonceKey,
  type ReconcileContext,
  reconcileWallet,
} from "../../workers/relayer/recovery/reconcile.ts";
import type { NonceHolder } from "../../workers/relayer/recovery/used-nonces.ts";
import { addressText, dollars, duration, eth, orDash, printTable } from "./format.ts";

/** The most rows of the ledger that are shown. */
const ROWS = 50;
/** The most purchases without a transaction that are shown. */
const WAITING_ROWS = 1000;

type Context = Omit<ReconcileContext, "chain"> & {
  chain: ReconcileContext["chain"] & Pick<DeployedChain["chain"], "receipt">;
  chainId: number;
  confirmations: number;
};

/**
 * Compares the ledger with its chains, records the unknown transactions that are certain, and prints what is left.
 *
 * @param accept hashes, in lower case, of unknown transactions that the operator takes for another program's.
 * @returns the exit code: 1 while transactions are unknown, or when one of `accept` was not accepted.
 */
export async function reconcile(
  sql: Sql,
  config: ReturnType<typeof reconcileConfig>,
  accept: readonly Hex[],
): Promise<number> {
  const { main, testnet } = openChains(config);
  const left = new Set(accept);
  let unknown = 0;
  for (const deployed of testnet ? [main, testnet] : [main]) {
    unknown += await reconcileChain(contextOf(sql, deployed, config.CONFIRMATIONS), left);
  }
  if (accept.length > 0) console.log(`\nAccepted ${accept.length - left.size} of ${accept.length}.`);
  for (const hash of left) {
    console.error(`${hash} is not an unknown transaction that lies ${config.CONFIRMATIONS} blocks deep.`);
  }
  return unknown + left.size === 0 ? 0 : 1;
}

const contextOf = (sql: Sql, { deployment, chain }: DeployedChain, confirmations: number): Context => ({
  sql,
  chain,
  price: createCallPricer(chain),
  markOf: createMarks(sql),
  chainId: deployment.chainId,
  coverRouter: lower(deployment.contracts.coverRouter),
  usdc: lower(deployment.contracts.usdc),
  keeperTargets: keeperTargets(deployment),
  confirmations,
  minedUnknown: new Map(),
  // The tables say what the log would.
  log: createLogger("ledger", "silent"),
});

/**
 * Accepts those of `left` that are the chain's, and takes them out of it.
 * @returns how many transactions of the chain are still unknown.
 */
async function reconcileChain(context: Context, left: Set<Hex>): Promise<number> {
  const { sql, chain, chainId } = context;
  const wallets = await sql<{ address: Address }[]>`
    select address from service.relayer_wallet
    where chain_id = ${chainId} and next_nonce is not null order by address`;
  const rows: { unknown: string[][]; missing: string[][] } = { unknown: [], missing: [] };
  for (const { address } of wallets) {
    const [pending, mined] = [await chain.nonce(address, "pending"), await chain.nonce(address, "latest")];
    await compareNonce(context, address, pending);
    await findAll(context, address);
    for (const hash of left) if (await acceptIn(context, address, hash)) left.delete(hash);
    await recordCertain(context, address);
    for (const { nonce } of await findUnknown(context, { chainId, address })) {
      const holder = context.minedUnknown.get(nonceKey(address, nonce));
      const at = holder
        ? [String(holder.blockNumber), holder.hash, await callText(context, address, holder)]
        : ["–", "in no block yet", "–"];
      rows.unknown.push([addressText(address), String(nonce), ...at]);
    }
    rows.missing.push(...(await missingRows(sql, chainId, address, mined)));
  }
  printTable(
    `On the chain, unknown to the ledger (chain ${chainId})`,
    ["wallet", "nonce", "block", "transaction", "call"],
    rows.unknown,
  );
  printTable(
    `In the ledger, in no block (chain ${chainId}), the lowest ${ROWS} of each wallet`,
    ["wallet", "nonce", "state", "entry"],
    rows.missing,
  );
  await printWaiting(context);
  return rows.unknown.length;
}

/** Of a restored ledger: what was accepted before the backup, and in no block since. */
async function printWaiting({ sql, chainId }: Context): Promise<void> {
  const waiting = await reportWaiting(sql, { minAge: 0, limit: WAITING_ROWS });
  const rows = waiting
    .filter((entry) => entry.chainId === chainId)
    .map(({ id, purpose, keyId, wallet, age }) => [
      `${purpose ?? "purchase"} ${id}`,
      orDash(keyId),
      addressText(wallet),
      duration(age),
    ]);
  printTable(
    `Accepted, without a transaction (chain ${chainId}), the oldest ${WAITING_ROWS}`,
    ["entry", "key", "wallet", "age"],
    rows,
  );
}

/** Finds as many of a wallet's unknown transactions in blocks as there are. */
async function findAll({ minedUnknown, ...context }: Context, address: Address): Promise<void> {
  for (let before = -1; before < minedUnknown.size; ) {
    before = minedUnknown.size;
    await findUnknown({ ...context, minedUnknown }, { chainId: context.chainId, address });
  }
}

async function acceptIn(context: Context, wallet: Address, hash: Hex): Promise<boolean> {
  const { sql, chain, chainId, confirmations, minedUnknown } = context;
  const holder = holderOf(minedUnknown, wallet, hash);
  if (!holder) return false;
  const head = await chain.block("latest");
  if (!head || head.number - holder.blockNumber < BigInt(confirmations)) return false;
  const { nonce } = holder;
  if (!(await acceptForeign(sql, { chainId, wallet, nonce, hash: holder.hash }))) return false;
  console.log(`Accepted: nonce ${nonce} of ${addressText(wallet)} is another program's.`);
  return true;
}

const holderOf = (minedUnknown: MinedUnknown, wallet: Address, hash: Hex): NonceHolder | undefined =>
  [...minedUnknown.values()].find((holder) => holder.from === wallet && holder.hash === hash);

/** Records a wallet's unknown transactions that are certain. A writer that holds the wallet does so itself. */
async function recordCertain(context: Context, address: Address): Promise<void> {
  const { sql, chainId } = context;
  if (
    (await findUnknown(context, { chainId, address })).length === 0 &&
    !(await isHeldBack(sql, chainId, address))
  )
    return;
  const lease = await takeLease(sql, { chainId, address, owner: `ledger-${randomUUID()}` });
  if (!lease) {
    console.log(`A writer holds ${addressText(address)}: it records every second what is certain.`);
    return;
  }
  try {
    if (await renewLease(sql, lease)) await reconcileWallet(context, lease);
  } finally {
    await releaseLease(sql, lease);
  }
}

/** Whether a wallet is marked as having unknown transactions; then no wallet of its chain gets a nonce, except other wallets that are a keeper's. */
const isHeldBack = async (sql: Sql, chainId: number, address: Address): Promise<boolean> =>
  (
    await sql`select 1 from service.relayer_wallet
    where chain_id = ${chainId} and address = ${address} and unknown_from is not null`
  ).length > 0;

const known = [...coverRouterAbi, ...policyManagerAbi, ...bondVaultAbi, ...shieldKeeperAbi, ...mockUsdcAbi];

/** Describes a transaction in words; a purchase with its policy and premium, which are in the receipt. */
async function callText(
  { chain, coverRouter }: Context,
  wallet: Address,
  { hash, to, data, value }: NonceHolder,
): Promise<string> {
  if (!to) return "creates a contract";
  if (isEmptyTransfer(wallet, { to, data, value })) return "nothing: an empty transfer to itself";
  if (data === "0x") return `sends ${eth(value)} ETH to ${addressText(to)}`;
  const permit = permitOfCalldata(coverRouter, data);
  if (permit) return `lets the router take USDC of ${addressText(permit.owner)}, by its permit`;
  const purchase = to === coverRouter ? purchaseOfCalldata(data) : undefined;
  if (!purchase) return `calls ${functionName(data)} of ${addressText(to)}`;
  const product =
    catalogue.find(({ productId }) => productId === purchase.productId)?.name ?? purchase.productId;
  const buys = `buys ${dollars(purchase.coverageAmount)} USDC of ${product} for ${addressText(purchase.buyer)}`;
  const receipt = await chain.receipt(hash);
  const bought = receipt && purchasedPolicy(receipt.logs, coverRouter);
  if (bought) return `${buys}: policy ${bought.policyId}, premium ${dollars(bought.premiumPaid)}`;
  return receipt ? `${buys}, and reverts` : buys;
}

function functionName(data: Hex): string {
  try {
    return decodeFunctionData({ abi: known, data }).functionName;
  } catch {
    return `an unknown function (${data.slice(0, 10)})`;
  }
}

/** The ledger's transactions of a wallet that no block has: those in flight, and settled ones that the chain has lost. */
async function missingRows(sql: Sql, chainId: number, wallet: Address, mined: number): Promise<string[][]> {
  const rows = await sql<{ nonce: string; state: string; intent: string | null }[]>`
    select nonce, state, intent from service.transaction
    where chain_id = ${chainId} and wallet = ${wallet} and nonce >= ${mined} and state <> 'lost'
    order by nonce limit ${ROWS}`;
  return rows.map(({ nonce, state, intent }) => [addressText(wallet), nonce, state, orDash(intent)]);
}
