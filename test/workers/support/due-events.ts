/** Compares the stored events of due policies with the chain's logs. */
import { expect } from "vitest";
import { dueOnChain } from "../../support/due-on-chain.ts";
import type { OutboxWorld } from "./outbox.ts";

/** The stored events of due policies that are not reverted, in any order. */
async function stored({ events }: OutboxWorld): Promise<string[]> {
  return (await events())
    .filter(({ type, reverted }) => type === "policy_due" && !reverted)
    .map(({ blockNumber, blockHash, txHash, body: { data } }) => {
      const { productId, policyId, price, priceAt, triggerPrice, dueAt } = data;
      const event = { productId, policyId, price, priceAt, triggerPrice, dueAt };
      return JSON.stringify({ blockNumber, blockHash, txHash, ...event });
    })
    .sort();
}

/** The same by the chain's logs. */
async function wanted({ chain }: OutboxWorld): Promise<string[]> {
  const due = await dueOnChain(chain);
  return due
    .map(({ blockNumber, blockHash, transactionHash: txHash, productId, policyId, ...event }) => {
      const { price, priceAt, triggerPrice, dueAt } = event;
      return JSON.stringify({
        ...{ blockNumber: Number(blockNumber), blockHash, txHash, productId, policyId: String(policyId) },
        ...{ price: String(price), priceAt: String(priceAt) },
        ...{ triggerPrice: String(triggerPrice), dueAt: String(dueAt) },
      });
    })
    .sort();
}

/** Expects one event for each policy that the chain's logs make due, and no other. @returns how many there are. */
export async function expectDueEvents(world: OutboxWorld): Promise<number> {
  await world.processed();
  const due = await wanted(world);
  await expect.poll(() => stored(world)).toEqual(due);
  return due.length;
}
