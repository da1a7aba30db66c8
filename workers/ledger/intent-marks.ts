/**
 * Each purchase, permit and token call of the service carries behind its arguments, where contracts read nothing, 32 bytes that say what
 * it is for: after any loss the chain so tells which transaction was for which intent. Fillers and grants of ether carry none: a receiver
 * may have no fallback, and a filler's gas is that of a plain transfer.
 */
import { createHmac } from "node:crypto";
import type { Sql } from "postgres";
import { type Address, concatHex, type Hex } from "viem";
import type { IntentKind } from "../../lib/ledger/transaction-kind.ts";

/** The chain and the wallet that sends. */
type Sender = { readonly chainId: number; readonly address: Address };

/** A purchase by the key with which its client repeats the call, whatever id it then gets; all else, and one without a key, by its id. */
type Identity = { readonly id: string } | { readonly client: Address; readonly key: string };

export const purchaseIdentity = (purchase: { id: string; client: Address; key: string | null }): Identity =>
  purchase.key === null ? { id: purchase.id } : { client: purchase.client, key: purchase.key };

/** The purchase, permit or service transaction that a transaction carries out. */
export type Intent = { readonly kind: IntentKind } & Identity;

/**
 * The mark of an intent in a transaction of this sender. Nobody without the secret can tell or make one. Rejects while Postgres is away.
 */
export type MarkOf = (sender: Sender, intent: Intent) => Promise<Hex>;

const BYTES = 32;

async function readSecret(sql: Sql): Promise<Buffer> {
  const [row] = await sql<{ value: Buffer }[]>`select value from service.secret where name = 'intent_marks'`;
  if (!row) throw new Error("service.secret has no secret of the marks");
  return row.value;
}

/** The marks of a ledger: HMAC-SHA-256 under its secret, which is read at the first of them. */
export function createMarks(sql: Sql): MarkOf {
  let secret: Promise<Buffer> | undefined;
  return async (sender, intent) => {
    secret ??= readSecret(sql);
    try {
      return markUnder(await secret, sender, intent);
    } catch (error) {
      secret = undefined;
      throw error;
    }
  };
}

/** The mark under a secret. */
export function markUnder(secret: Buffer, { chainId, address }: Sender, { kind, ...intent }: Intent): Hex {
  const of = "id" in intent ? [intent.id] : [intent.client, intent.key];
  const text = JSON.stringify([chainId, address.toLowerCase(), kind, ...of]);
  return `0x${createHmac("sha256", secret).update(text).digest("hex")}`;
}

/** A call with its mark. */
export const withMark = (call: Hex, mark: Hex): Hex => concatHex([call, mark]);

/** The mark in calldata that begins with this call, whatever follows it; undefined where there is none. */
export function markBehind(call: Hex, data: Hex): Hex | undefined {
  const end = call.length + 2 * BYTES;
  return data.startsWith(call) && data.length >= end ? `0x${data.slice(call.length, end)}` : undefined;
}
