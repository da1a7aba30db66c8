/** States by which a test knows how far writer and api have come, so that it need not wait for a time. */
import type { Sql } from "postgres";
import { waitFor } from "../../../scripts/local/wait.ts";
import type { TestChain } from "../../support/chain.ts";
import type { RpcProxy } from "../../support/rpc-proxy.ts";
import type { Stack } from "../../support/stack.ts";

const TIMEOUT_MS = 90_000;

/** Dates the last broadcast of all open transactions back by a minute: the writer's next round sends them again. */
export const backdateBroadcasts = (sql: Sql) => sql`
  update service.attempt a set last_broadcast_at = a.last_broadcast_at - interval '1 minute'
  from service.transaction t where t.id = a.transaction_id and t.state = 'open'`;

/**
 * Waits until the writer has begun so many rounds more over what is on its way from its one wallet: each begins with two
 * questions for the wallet's nonces, and only when the one before it has ended.
 */
export async function waitForRounds({ counts }: Pick<RpcProxy, "counts">, rounds: number): Promise<void> {
  const asked = () => counts.get("eth_getTransactionCount") ?? 0;
  const enough = asked() + 2 * rounds;
  await waitFor({
    what: `the writer to come round ${rounds} times`,
    probe: () => asked() >= enough || undefined,
    timeoutMs: TIMEOUT_MS,
  });
}

/** Waits until the writer's one-second cache of relayer balances has expired. */
export const waitForBalanceCacheToExpire = (sql: Sql) =>
  waitFor({
    what: "nothing to have been signed for a second",
    probe: async () => {
      const rows = await sql`
        select 1 from service.attempt where created_at > clock_timestamp() - interval '1 second'`;
      return rows.length === 0 || undefined;
    },
    timeoutMs: TIMEOUT_MS,
  });

/** Waits until the api's five-second cache of the faucet's funds has expired. */
export const waitForFundsCacheToExpire = (sql: Sql) =>
  waitFor({
    what: "nobody to have been promised a grant for six seconds",
    probe: async () => {
      const rows = await sql`
        select 1 from service.faucet_claim where claimed_at > clock_timestamp() - interval '6 seconds'`;
      return rows.length === 0 || undefined;
    },
    timeoutMs: TIMEOUT_MS,
  });

/** Mines a block and waits until the writer has settled it, so that the api goes by what accounts have now. */
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
    timeoutMs: TIMEOUT_MS,
  });
}

/** Waits until the writer has put a purchase off so many times, as its log says; it gives it up after a minute. */
export const waitUntilPutOff = ({ output }: Pick<Stack, "output">, purchaseId: string, times: number) =>
  waitFor({
    what: `the writer to put purchase ${purchaseId} off ${times} times`,
    probe: () => {
      const lines = output("writer").split("\n");
      const found = lines.filter((line) => line.includes(purchaseId) && line.includes("has to wait")).length;
      return found >= times || undefined;
    },
    timeoutMs: 50_000,
  });
