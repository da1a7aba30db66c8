/** The sandbox: purchases on the testnet that anybody may make, paid by a wallet of the service. */
import { createHmac } from "node:crypto";
import { ApiError } from "../../lib/errors.ts";
import type { Purchase } from "../../lib/ledger/purchase.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { createPurchasing } from "../buying/buy.ts";
import { hindranceError } from "../buying/refusals.ts";
import { resolveProduct } from "../buying/rules.ts";
import { createChainReads } from "../chain/chain-reads.ts";
import type { Dependencies, Testnet } from "../dependencies.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { SandboxRequest } from "./schemas.ts";
import { defaultProduct, SANDBOX_COVERAGE } from "./terms.ts";
import { hasStanding, noSandbox, readSandbox, type SandboxState } from "./wallet.ts";

/** How old may be what the writer says of the sandbox, in ms. */
const STATE_TTL_MS = 250;

/** One call of a client. `key` counts for this client alone. */
export type SandboxCall = {
  request: SandboxRequest;
  client: string;
  key: string;
  /** Counts the call; it rejects when the client has had its share. Not asked for what cannot be bought, or was already. */
  count: () => Promise<void>;
  /** Aborted when the caller goes away. */
  gone: AbortSignal;
};

export type Sandbox = {
  /** Whether it can buy now. @throws ApiError `database_unavailable` */
  state(): Promise<SandboxState>;
  /**
   * Buys, or joins what the client's key stands for, and waits for the transaction; the purchase may still be open when
   * the wait is over. @throws ApiError with the documented code when nothing was accepted
   */
  buy(call: SandboxCall): Promise<Purchase>;
};

/** What a call names, or the default product. */
const productOf = ({ productId, productName }: SandboxRequest) =>
  productId === undefined && productName === undefined
    ? { productId: defaultProduct.productId }
    : { productId, productName };

/** What `hindranceError` says of a key's wallet, of the sandbox's. */
const refuse: typeof hindranceError = (by, wish, premium) => {
  switch (by.kind) {
    case "stopped":
      return new ApiError("purchases_stopped", "The operator has stopped the sandbox's purchases.");
    case "short_of_funds":
      return new ApiError(
        "sandbox_unready",
        `The purchases on their way take ${by.held} (USDC, 6 decimals) of what the sandbox's wallet has; try again later.`,
      );
    default:
      return hindranceError(by, wish, premium);
  }
};

/** The ledger's key for a client's. Without the secret, whoever reads the ledger could find out addresses by trying them all. */
const ledgerKey = (client: string, key: string, secret: string): string =>
  createHmac("sha256", secret).update(`${client}\n${key}`).digest("hex");

function openSandbox(deps: Dependencies, { deployment, chain, queue }: Testnet): Sandbox {
  const { db } = deps.connection;
  const { chainId } = deployment;
  const purchasing = createPurchasing(
    { ...deps, deployment, queue: { wake: queue.wakePurchase } },
    { chain: createChainReads({ chain, deployment }) },
    refuse,
  );
  const state = shareRead(STATE_TTL_MS, () => fromDatabase(() => readSandbox(db, chainId)));

  return {
    state,
    async buy({ request, client, key, count, gone }) {
      const product = productOf(request);
      // A name that is none, or another product's, is no call that counts.
      resolveProduct(product);
      const now = await state();
      const { wallet } = now;
      if (wallet === undefined) throw new ApiError(now.code, now.reason);
      const idempotencyKey = ledgerKey(client, key, deps.webhooks.secretsKey);
      const stands = () => fromDatabase(() => hasStanding(db, { chainId, wallet, idempotencyKey }));
      const known = await stands();
      if (!known && now.status !== "ready") throw new ApiError(now.code, now.reason);
      /** Of calls that came at once under one key, one above the limit gets what the others have bought. */
      const admit = () =>
        count().catch(async (refusal: unknown) => {
          if (!(await stands())) throw refusal;
        });
      const { purchase } = await purchasing.buy(
        { wallet, keyId: null },
        { ...product, coverageAmount: SANDBOX_COVERAGE, buyer: wallet },
        { idempotencyKey, waits: true, gone, admit: known ? undefined : admit },
      );
      return purchase;
    },
  };
}

/** There may be none: then it says so to everybody. */
export function createSandbox(deps: Dependencies): Sandbox {
  if (deps.testnet) return openSandbox(deps, deps.testnet);
  return {
    state: async () => noSandbox,
    async buy() {
      throw new ApiError(noSandbox.code, noSandbox.reason);
    },
  };
}
