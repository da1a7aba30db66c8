/** What the parts of the client share. */
import { type WithBigints, withBigints } from "../bigints.ts";
import type { Client } from "../client.ts";
import type { AnswerTo, CallOptions, Operation, PathWith, RequestArgument } from "../operations.ts";
import type { RetryPolicy } from "../retries.ts";
import type { Wallet } from "../wallets.ts";

/** A call's options, without its headers. */
export type Options = Pick<CallOptions, "signal" | "timeoutMs">;

export type Context = {
  /** Sends calls again as the specification says. */
  readonly api: Client;
  /** Reports transactions, and has its own way to ask again; undefined without a key. */
  readonly reporter: Client | undefined;
  /** When the reporter's calls are sent again. */
  readonly retries: RetryPolicy;
  /** Signs for purchases and actions. */
  readonly wallet: Wallet | undefined;
  /** How often a purchase looks whether it is mined, in ms. */
  readonly pollMs: number;
};

/** The body of a read, with bigints. */
export type Read<P extends PathWith<"get">> = WithBigints<AnswerTo<P>>;

/** Reads, and turns integers of the chain into bigints. */
export async function read<P extends PathWith<"get">>(
  { api }: Context,
  path: P,
  ...request: RequestArgument<Operation<"get", P>>
): Promise<Read<P>> {
  return withBigints(await api.get(path, ...request));
}

/** The wallet that signs. @throws when the client has none */
export function walletOf({ wallet }: Context): Wallet {
  if (!wallet) throw new Error("this needs a wallet: createCoverClient({ wallet: viemWallet(…) })");
  return wallet;
}

/** The options of a call that are set. */
export const given = ({ signal, timeoutMs }: Options): Options => ({
  ...(signal ? { signal } : {}),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
});
