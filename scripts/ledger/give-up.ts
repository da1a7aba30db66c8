import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { Registry } from "prom-client";
import type { Address } from "viem";
import type { reconcileConfig } from "../../lib/config.ts";
import { createLogger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { type DeployedChain, openChains } from "../../workers/common/chains.ts";
import { removeUnsigned } from "../../workers/ledger/assign-nonces.ts";
import { type Lease, releaseLease, renewLease, takeLease } from "../../workers/ledger/leases.ts";
import { type OpenTransaction, openTransactions } from "../../workers/ledger/transactions.ts";
import { createMeter } from "../../workers/metrics/relay-meter.ts";
import { createCallPricer } from "../../workers/relayer/fees.ts";
import { settleUsedNonces } from "../../workers/relayer/recovery/used-nonces.ts";
import { type SettleReceipts, settleReceipts } from "../../workers/relayer/settle-receipts.ts";
import { addressText, printTable } from "./format.ts";

/** Most open transactions of a wallet that one run handles, lowest nonces first. */
const ROUND = 1000;
/** A used nonce may hold a form that the database lost: the first round records it, the second settles it. */
const ROUNDS = 2;

/**
 * Closes the open transactions of a wallet without its key, those whose outcome the chain proves, and prints the others.
 * @returns the exit code: 1 while some are open.
 */
export async function giveUp(
  sql: Sql,
  config: ReturnType<typeof reconcileConfig>,
  wallet: Address,
): Promise<number> {
  const { main, testnet } = openChains(config);
  let left = 0;
  let known = false;
  for (const deployed of testnet ? [main, testnet] : [main]) {
    const rows = await sql`
      select 1 from service.relayer_wallet
      where chain_id = ${deployed.deployment.chainId} and address = ${wallet} and next_nonce is not null`;
    if (rows.length === 0) continue;
    known = true;
    left += await giveUpOn(sql, deployed, config.CONFIRMATIONS, wallet);
  }
  if (!known) console.error(`No writer has ever sent from ${addressText(wallet)}.`);
  return known && left === 0 ? 0 : 1;
}

/** @returns how many transactions of the wallet on this chain are still open. */
async function giveUpOn(
  sql: Sql,
  deployed: DeployedChain,
  confirmations: number,
  address: Address,
): Promise<number> {
  const { chainId } = deployed.deployment;
  const lease = await takeLease(sql, { chainId, address, owner: `ledger-${randomUUID()}` });
  if (!lease) {
    console.error(`A writer holds ${addressText(address)} on chain ${chainId}: it has the key, and goes on.`);
    return 1;
  }
  try {
    const before = await openTransactions(sql, chainId, address, ROUND);
    for (let round = 0; round < ROUNDS; round += 1) await settleUsed(sql, deployed, confirmations, lease);
    const removed = (await renewLease(sql, lease))
      ? await removeUnsigned(sql, lease, await deployed.chain.nonce(address, "pending"))
      : [];
    const left = await openTransactions(sql, chainId, address, ROUND);
    const mined = await deployed.chain.nonce(address, "latest");
    print(chainId, before, removed, left, { mined, confirmations });
    return left.length;
  } finally {
    await releaseLease(sql, lease);
  }
}

/** Records what the chain has at the nonces of open transactions, by the means of the writer's recovery. */
async function settleUsed(
  sql: Sql,
  { deployment, chain }: DeployedChain,
  confirmations: number,
  lease: Lease,
): Promise<void> {
  const { chainId, address } = lease;
  // The tables say what the log would.
  const log = createLogger("ledger", "silent");
  const coverRouter = lower(deployment.contracts.coverRouter);
  const settler = { sql, chain, coverRouter, meter: createMeter(new Registry()), log };
  const settle: SettleReceipts = (own, receipts) => settleReceipts(settler, own, receipts);
  const nextSearchAt = new Map<number, number>();
  const price = createCallPricer(chain);
  const context = { sql, chain, price, confirmations, settleReceipts: settle, nextSearchAt, log };
  const mined = await chain.nonce(address, "latest");
  for (const transaction of await openTransactions(sql, chainId, address, ROUND)) {
    if (transaction.nonce < mined && (await renewLease(sql, lease))) {
      await settleUsedNonces(context, { lease }, [transaction]);
    }
  }
}

function print(
  chainId: number,
  before: readonly OpenTransaction[],
  removed: readonly number[],
  left: readonly OpenTransaction[],
  { mined, confirmations }: { mined: number; confirmations: number },
): void {
  const open = new Set(left.map(({ nonce }) => nonce));
  const certain = before.flatMap(({ nonce, kind }) => {
    if (open.has(nonce)) return [];
    const proof = removed.includes(nonce)
      ? "given up: no signed bytes were ever stored"
      : "settled from the chain";
    return [[String(nonce), kind, proof]];
  });
  printTable(`Certain (chain ${chainId})`, ["nonce", "for", "outcome"], certain);
  printTable(
    `Not certain, and still open (chain ${chainId})`,
    ["nonce", "for", "why"],
    left.map(({ nonce, kind }) => [
      String(nonce),
      kind,
      nonce < mined
        ? `its nonce was used in a block less than ${confirmations} deep, or in one that the node does not know: try again`
        : "whoever has its signed bytes can still have it mined",
    ]),
  );
  const highest = left.at(-1)?.nonce ?? -1;
  if (highest >= mined) {
    console.log(
      `\nOnly the wallet's key can rule that out: give it back to a writer, or send an empty transfer from the wallet to itself with
each nonce from ${mined} to ${highest}, and run this again once they lie ${confirmations} blocks deep.`,
    );
  }
}
