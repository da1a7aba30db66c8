/** What chain and ledger say of the keeper's work: each policy triggered once, and nothing signed twice for an observation. */
import { getAbiItem, type Hex } from "viem";
import { expect } from "vitest";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { policiesOfUpkeep } from "../../../lib/chain/trigger.ts";
import { OBSERVATIONS } from "../../../lib/price-rules.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import * as act from "../../support/protocol-actions.ts";
import { btc1h, keeperNonce } from "./keeper-policies.ts";
import { type KeeperSetup, keeperWallet } from "./keeper-setup.ts";

const triggered = getAbiItem({ abi: policyManagerAbi, name: "PolicyTriggered" });

/** All logs of triggered policies, by the chain. */
export const triggersOf = ({ protocol }: Pick<KeeperSetup, "protocol">) =>
  protocol.client.getLogs({
    address: protocol.deployment.contracts.policyManager,
    event: triggered,
    fromBlock: 0n,
    strict: true,
  });

const byNumber = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** Each of these policies has one log of its trigger. */
export async function expectTriggeredOnce(
  setup: Pick<KeeperSetup, "protocol">,
  ids: readonly bigint[],
  { productId } = btc1h,
): Promise<void> {
  const logs = (await triggersOf(setup)).filter(
    ({ args }) => args.productId === productId && ids.includes(args.policyId),
  );
  expect(logs.map(({ args }) => args.policyId).sort(byNumber)).toEqual([...ids].sort(byNumber));
}

/** The policies that a transaction of the keeper observes. */
function policiesOf(data: Hex): string[] {
  const upkeep = policiesOfUpkeep(data);
  if (!upkeep) throw new Error(`the keeper called ${data.slice(0, 10)}`);
  return upkeep.policyIds.map((id) => `${upkeep.productId}/${id}`);
}

export type KeeperTransaction = {
  readonly id: string;
  readonly state: string;
  readonly data: Hex;
  /** Whether a transaction was ever signed or given a nonce for it. */
  readonly sent: boolean;
};

/** The keeper's transactions in the ledger, oldest first. */
export const keeperTransactions = ({ connection }: Pick<KeeperSetup, "connection">, purpose = "trigger") =>
  connection.sql<KeeperTransaction[]>`
    select e.id, e.state, e.data, exists (select from service.transaction t where t.intent = e.id) as sent
    from service.service_transaction_progress e where e.purpose = ${`keeper_${purpose}`} order by e.created_at, e.id`;

/** Each of these policies is in a transaction for each of its observations at most, but for those that were refused unsigned. */
export async function expectNothingSignedTwice(
  setup: Pick<KeeperSetup, "connection">,
  ids: readonly bigint[],
  { productId } = btc1h,
): Promise<void> {
  const sent = (await keeperTransactions(setup)).filter((one) => one.sent);
  const policies = sent.flatMap(({ data }) => policiesOf(data));
  for (const id of ids)
    expect(policies.filter((policy) => policy === `${productId}/${id}`).length).toBeLessThanOrEqual(
      OBSERVATIONS,
    );
}

/** Waits until the index has every block so far. */
export async function untilIndexed({
  protocol,
  connection,
}: Pick<KeeperSetup, "protocol" | "connection">): Promise<void> {
  const { number, hash } = await protocol.client.getBlock();
  await waitFor({
    what: `the index to have block ${number}`,
    probe: async () => {
      const [head] = await connection.sql<{ number: string; hash: Hex }[]>`
        select number::text, hash from indexer.head`;
      if (!head || BigInt(head.number) < number) return undefined;
      return BigInt(head.number) > number || head.hash === hash || undefined;
    },
  });
}

/**
 * Waits until a whole round of the keeper has ended over the newest block or a later one: what it should send for that block is
 * recorded by then. The keeper must be able to send.
 */
export async function untilKeeperHasSeen(setup: Pick<KeeperSetup, "protocol" | "connection">): Promise<void> {
  await untilIndexed(setup);
  const time = await act.chainTime(setup.protocol);
  await waitFor({
    what: `the keeper to have seen the block of ${time}`,
    probe: async () => {
      const rows = await setup.connection.sql`
        select from service.keeper_watch where until >= ${String(time)}::numeric`;
      return rows.length > 0 || undefined;
    },
  });
}

/** Runs `act`, lets the keeper look at what it did, and proves that the keeper has sent and recorded nothing. */
export async function expectNothingSent(setup: KeeperSetup, act: () => Promise<unknown>): Promise<void> {
  const count = async () => ({
    mined: await keeperNonce(setup.chain, keeperWallet.address),
    recorded: (await keeperTransactions(setup)).length,
  });
  const before = await count();
  await act();
  await untilKeeperHasSeen(setup);
  expect(await count()).toEqual(before);
}

/** Failures that the keeper has noted for policies. */
export const failuresOf = (
  { connection }: Pick<KeeperSetup, "connection">,
  ids: readonly bigint[],
  { productId } = btc1h,
) => connection.sql<{ policyId: string; failures: number; failure: string }[]>`
  select policy_id::text as "policyId", failures, failure from service.keeper_task
  where purpose = 'trigger' and product_id = ${productId} and policy_id = any(${ids.map(String)}::text[]::numeric[])
    and failures > 0 order by policy_id`;

/** Waits until the operator can read that the keeper cannot send or observe, and why; "" for no reason. */
export const untilFault = ({ connection }: Pick<KeeperSetup, "connection">, fault: RegExp) =>
  waitFor({
    what: `the keeper's fault ${fault}`,
    probe: async () => {
      const [wallet] = await connection.sql<{ fault: string | null }[]>`
        select fault from service.relayer_wallet where role = 'keeper'`;
      return fault.test(wallet?.fault ?? "") || undefined;
    },
  });

/** Waits until the keeper has seen that at least so many policies are due. */
export const untilDue = ({ stack }: Pick<KeeperSetup, "stack">, count: number) =>
  waitFor({
    what: `the keeper to see ${count} due policies`,
    probe: async () => {
      const metrics = await (await fetch(stack.metricsUrl)).text();
      const due = /^keeper_due\{purpose="trigger"\} (\d+)$/m.exec(metrics)?.[1];
      return Number(due) >= count || undefined;
    },
  });
