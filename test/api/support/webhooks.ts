/** Wallets with keys and webhooks, and events as the outbox stores them. */
import { randomBytes } from "node:crypto";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import type { Connection } from "../../../lib/db/connect.ts";
import { eventId } from "../../../lib/webhooks/events.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { issueKey, type TestApi } from "./api.ts";

export const WEBHOOKS = "/api/v1/webhooks";

const made = z.object({ id: z.number(), secret: z.string(), fromBlock: z.string() });
/** The webhook in an answer that made one. @throws when it did not */
const madeOf = (answer: HttpAnswer) => made.parse(answer.json);

export type Subscriber = {
  readonly wallet: Address;
  readonly headers: { readonly "x-api-key": string };
  /** One call under `/api/v1/webhooks`, with the wallet's key. */
  readonly call: (method: string, path?: string, body?: unknown) => Promise<HttpAnswer>;
  /** A webhook of the wallet for all its events, unless the test names some. */
  readonly subscribe: (url: string, events?: unknown) => Promise<z.output<typeof made>>;
};

/** A wallet with a key, and nothing else. */
export async function newSubscriber({ request }: TestApi, wallet?: Address): Promise<Subscriber> {
  const owner = wallet ?? privateKeyToAccount(generatePrivateKey()).address;
  const { headers } = await issueKey(request, owner);
  const call: Subscriber["call"] = (method, path = "", body) =>
    request(`${WEBHOOKS}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return {
    wallet: owner,
    headers,
    call,
    subscribe: async (url, events = "*") => madeOf(await call("POST", "", { url, events })),
  };
}

export type MadeEvent = { seq: string; id: string };

/**
 * Stores an event of a wallet as the outbox would: `block` is its block's number, `type` its type, `daysAgo` when it was
 * recorded.
 */
export async function storeEvent(
  { sql }: Connection,
  wallet: Address,
  { block, type = "policy_purchased", daysAgo = 0 }: { block: number; type?: string; daysAgo?: number },
): Promise<MadeEvent> {
  const hex = () => `0x${randomBytes(32).toString("hex")}`;
  const [blockHash, txHash] = [hex(), hex()];
  const key = `${blockHash}:${txHash}:0`;
  const id = eventId(8453, key, 1);
  const body = JSON.stringify({ id, type, version: 1, chainId: 8453, blockNumber: String(block), data: {} });
  const [row] = await sql<MadeEvent[]>`
    insert into service.event
      (chain_id, id, key, type, block_number, block_hash, tx_hash, log_index, parties, body, created_at)
    values (8453, ${id}, ${key}, ${type}, ${block}, ${blockHash}, ${txHash}, 0, array[${wallet.toLowerCase()}],
      ${body}, now() - make_interval(hours => ${Math.round(daysAgo * 24)}))
    returning seq, id`;
  if (!row) throw new Error("no event was stored");
  return row;
}

/** Takes an event off the chain, as the outbox would note it. */
export const revertEvent = ({ sql }: Connection, { seq }: MadeEvent) =>
  sql`update service.event set reverted_at = now() where seq = ${seq}`;
