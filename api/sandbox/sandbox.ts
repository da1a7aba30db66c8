/** The sandbox: anybody buys on the testnet, and a wallet of the service pays. */
import { createHmac } from "node:crypto";
import type { Address } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import type { Purchase } from "../../lib/ledger/purchase.ts";
import { shareRead } from "../../lib/shared-read.ts";
import type { Buy } from "../buying/buy.ts";
import { resolveProduct } from "../buying/purchase-rules.ts";
import { refusalError } from "../buying/refusal-errors.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { SandboxRequest } from "./schemas.ts";
import { defaultProduct, SANDBOX_COVERAGE } from "./terms.ts";
import { hasPurchase, noSandbox, readSandbox, type SandboxState } from "./wallet.ts";

/** Maximum age of the wallet's state as the writer recorded it, in ms. */
const STATE_TTL_MS = 250;

/** One call of a client. `key` is valid for this client only. */
export type SandboxCall = {
  request: SandboxRequest;
  client: string;
  key: string;
  /** Counts the call; rejects above the client's limit. Not called for a purchase that exists or cannot be made. */
  count: () => Promise<void>;
  /** Aborted when the caller disconnects. */
  gone: AbortSignal;
  /** The trace that the request belongs to. */
  traceparent?: string | undefined;
};

export type Sandbox = {
  /** Whether the sandbox can buy now. @throws ApiError `database_unavailable` */
  state(): Promise<SandboxState>;
  /**
   * Buys, or joins the existing purchase of the client's key, and waits for the transaction; the purchase may still be
   * open at the end of the wait. @throws ApiError with the documented code when the purchase was not accepted
   */
  buy(call: SandboxCall): Promise<Purchase>;
  /** A policy from the testnet's contracts; undefined when there is none. @throws ApiError `chain_not_found`, `sandbox_disabled` */
  policy: ChainReads["policy"];
};

/** The product of a call, or the default product. */
const productOf = ({ productId, productName }: SandboxRequest) =>
  productId === undefined && productName === undefined
    ? { productId: defaultProduct.productId }
    : { productId, productName };

/** The errors for refusals, worded for the sandbox's wallet instead of a key's. */
export const sandboxRefusalError: typeof refusalError = (refusal, intent, premium) => {
  switch (refusal.kind) {
    case "stopped":
      return new ApiError("purchases_stopped", "The operator has stopped the sandbox's purchases.");
    case "short_of_funds":
      return new ApiError(
        "sandbox_unready",
        `Purchases in flight take ${refusal.held} (USDC, 6 decimals) of the sandbox wallet's funds; try again later.`,
      );
    default:
      return refusalError(refusal, intent, premium);
  }
};

/** The ledger's idempotency key for a client's key. Hashed with a secret, so that the ledger does not reveal addresses. */
const ledgerKey = (client: string, key: string, secret: string): string =>
  createHmac("sha256", secret).update(`${client}\n${key}`).digest("hex");

export type SandboxParts = {
  readonly connection: Connection;
  readonly chainId: number;
  /** Buys on the testnet. */
  readonly buy: Buy;
  /** Reads the testnet. */
  readonly chain: Pick<ChainReads, "policy">;
  /** Keys the hash of client addresses: 64 hex digits. */
  readonly secretsKey: string;
};

async function buyInSandbox(
  { connection, chainId, buy, secretsKey }: SandboxParts,
  now: SandboxState,
  wallet: Address,
  { request, client, key, count, gone, traceparent }: SandboxCall,
): Promise<Purchase> {
  const idempotencyKey = ledgerKey(client, key, secretsKey);
  const exists = () => fromDatabase(() => hasPurchase(connection.sql, { chainId, wallet, idempotencyKey }));
  const known = await exists();
  if (!known && now.status !== "ready") throw new ApiError(now.code, now.reason);
  // Of concurrent calls with one key, those above the limit get the purchase of the others.
  const admit = () =>
    count().catch(async (refusal: unknown) => {
      if (!(await exists())) throw refusal;
    });
  const { purchase } = await buy(
    { wallet, keyId: null },
    { ...productOf(request), coverageAmount: SANDBOX_COVERAGE, buyer: wallet },
    { idempotencyKey, waits: true, gone, admit: known ? undefined : admit, traceparent },
  );
  return purchase;
}

/** The testnet's sandbox. */
export function createSandbox(parts: SandboxParts): Sandbox {
  const state = shareRead(STATE_TTL_MS, () =>
    fromDatabase(() => readSandbox(parts.connection.sql, parts.chainId)),
  );
  return {
    state,
    async buy(call) {
      // A wrong product does not count.
      resolveProduct(productOf(call.request));
      const now = await state();
      const { wallet } = now;
      if (wallet === undefined) throw new ApiError(now.code, now.reason);
      return buyInSandbox(parts, now, wallet, call);
    },
    policy: parts.chain.policy,
  };
}

async function refuse(): Promise<never> {
  throw new ApiError(noSandbox.code, noSandbox.reason);
}

/** For a service without a testnet: every call is `sandbox_disabled`. */
export const disabledSandbox: Sandbox = { state: async () => noSandbox, buy: refuse, policy: refuse };
