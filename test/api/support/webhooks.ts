/** Creates wallets with keys and webhooks, and stores events as the outbox does. */
import { randomBytes } from "node:crypto";
import type { Address } from "viem";
import { z } from "zod";
import type { Connection } from "../../../lib/db/connect.ts";
import { eventId } from "../../../lib/webhooks/events.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { issueKey, newWallet, type TestApi } from "./api.ts";

export const WEBHOOKS = "/api/v1/webhooks";

const made = z.object({ id: z.number(), secret: z.string(), fromBlock: z.string() });
/** The new webhook in a response. @throws when there is none */
const madeOf = (answer: HttpAnswer) => made.parse(answer.json);

export type Subscriber = {
  readonly wallet: Address;
  readonly headers: { readonly "x-api-key": string };
  /** Sends one request under `/api/v1/webhooks`, with the wallet's key. */
  readonly call: (method: string, path?: string, body?: unknown) => Promise<HttpAnswer>;
  /** Creates a webhook of the wallet, for all its events by default. */
  readonly subscribe: (url: string, events?: unknown) => Promise<z.output<typeof made>>;
};

/** A wallet with a key; a new wallet if omitted. */
export async function newSubscriber({ request }: TestApi, owner = newWallet()): Promise<Subscriber> {
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

/** Every call for one webhook: method, and path from the webhook's own. `delivery` is the one to replay. */
export const callsForWebhook = (delivery: number): readonly (readonly [method: string, path: string])[] => [
  ["GET", ""],
  ["DELETE", ""],
  ["POST", "/retry"],
  ["POST", "/test"],
  ["POST", "/rotate-secret"],
  ["GET", "/deliveries"],
  ["POST", `/deliveries/${delivery}/replay`],
  ["POST", `/replay?since=${Math.floor(Date.now() / 1000) - 60}`],
];

export type MadeEvent = { seq: string; id: string };

/** Stores an event of a wallet as the outbox does, in block number `block`, recorded `daysAgo` days ago. */
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

/** Marks an event as reverted, as the outbox does after a reorganisation. */
export const revertEvent = ({ sql }: Connection, { seq }: MadeEvent) =>
  sql`update service.event set reverted_at = now() where seq = ${seq}`;
