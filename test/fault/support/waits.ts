/** Waits for progress of writer and api, instead of sleeping for a fixed time. */
import type { Sql } from "postgres";
import { parseGwei } from "viem";
import { waitFor } from "../../../scripts/local/wait.ts";
import type { TestChain } from "../../support/chain.ts";
import type { RpcProxy } from "../../support/rpc-proxy.ts";
import type { Stack } from "../../support/stack.ts";

/**
 * Backdates the last broadcast of all open transactions by a minute: the writer's next round sends them again. It waits for no row
 * that the writer is changing, which may be waiting for another of them.
 */
export const backdateBroadcasts = (sql: Sql) => sql`
  update service.attempt set last_broadcast_at = last_broadcast_at - interval '1 minute'
  where hash in (
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.state = 'open' for update of a skip locked)`;

/**
 * Waits until the writer has begun this many more rounds over the open transactions of its one wallet. Each round begins
 * after the one before has ended, with two reads of the wallet's nonce.
 */
export async function waitForRounds({ counts }: Pick<RpcProxy, "counts">, rounds: number): Promise<void> {
  const nonceReads = () => counts.get("eth_getTransactionCount") ?? 0;
  const enough = nonceReads() + 2 * rounds;
  await waitFor({
    what: `${rounds} more rounds of the writer`,
    probe: () => nonceReads() >= enough || undefined,
  });
}

/** Waits until no row of a table is newer than this. */
const waitUntilOlder = (sql: Sql, table: string, column: string, seconds: number) =>
  waitFor({
    what: "a second without a new signature",
    probe: async () => {
      const rows = await sql`
        select 1 from ${sql(table)} where ${sql(column)} > clock_timestamp() - make_interval(secs => ${seconds}) limit 1`;
      return rows.length === 0 || undefined;
    },
  });

/** Waits until the writer's one-second cache of relayer balances has expired. */
export const waitForBalanceCacheToExpire = (sql: Sql) =>
  waitUntilOlder(sql, "service.attempt", "created_at", 1);

/** Waits until the api's five-second cache of the faucet's funds has expired. */
export const waitForFundsCacheToExpire = (sql: Sql) =>
  waitFor({
    what: "six seconds without a new claim",
    probe: async () => {
      const rows = await sql`
        select 1 from service.faucet_claim where claimed_at > clock_timestamp() - interval '6 seconds'`;
      return rows.length === 0 || undefined;
    },
  });

/** Mines one block with this base fee; the writer then signs by it. */
export async function mineBlockAt(chain: TestChain, sql: Sql, baseFeeGwei: number): Promise<void> {
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(String(baseFeeGwei)) });
  await mineAndWaitUntilSettled(chain, sql);
}

/** Mines a block and waits until the writer has settled it, so that the api uses the current balances. */
export async function mineAndWaitUntilSettled({ client, deployment }: TestChain, sql: Sql): Promise<void> {
  await client.mine({ blocks: 1 });
  const block = await client.getBlockNumber();
  await waitFor({
    what: `the writer to settle block ${block}`,
    probe: async () => {
      const rows = await sql`
        select 1 from service.watched_block where chain_id = ${deployment.chainId} and number >= ${String(block)}::bigint`;
      return rows.length > 0 || undefined;
    },
  });
}

/** Waits until the writer has logged `times` times that a purchase has to wait. The writer gives up after a minute. */
export const waitUntilPostponed = ({ output }: Pick<Stack, "output">, purchaseId: string, times: number) =>
  waitFor({
    what: `the writer to postpone purchase ${purchaseId} ${times} times`,
    probe: () => {
      const lines = output("writer").split("\n");
      const found = lines.filter((line) => line.includes(purchaseId) && line.includes("has to wait")).length;
      return found >= times || undefined;
    },
  });
