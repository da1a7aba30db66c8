/** What a wallet does itself: the API prepares the steps, the wallet signs them, and the mined transaction is reported. */
import { type Executed, type ExecuteOptions, execute, type Prepared, type Step } from "../execute.ts";
import { type Context, given, type Options, walletOf } from "./context.ts";
import type { PolicyKey } from "./policies.ts";

export type ActionOptions = Options & {
  /** Called before the wallet is asked for a step: show it, and throw to stop. */
  readonly beforeStep?: (step: Step, position: number) => void | Promise<void>;
};

/** Prepares an action of the client's wallet, and lets the wallet carry it out. */
type Action<Terms> = (context: Context, terms: Terms, options?: ActionOptions) => Promise<Executed>;

const action =
  <Terms>(
    prepare: (context: Context, terms: Terms, from: string, call: Options) => Promise<Prepared>,
  ): Action<Terms> =>
  async (context, terms, options = {}) =>
    executePrepared(
      context,
      await prepare(context, terms, walletOf(context).address, given(options)),
      options,
    );

/**
 * Carries out what a `…/prepare` call has answered, with the client's wallet. Nothing is reported without a key, which must be the wallet's.
 * @throws see `execute`
 */
export function executePrepared(
  context: Context,
  prepared: Prepared,
  { beforeStep = () => {}, signal }: ActionOptions = {},
): Promise<Executed> {
  const { reporter, retries } = context;
  const options: ExecuteOptions = {
    beforeStep,
    retries,
    ...(reporter ? { reporter } : {}),
    ...(signal ? { signal } : {}),
  };
  return execute(prepared, walletOf(context), options);
}

/** Redeems matured bonds for the protocol token. `usdAmount` in whole dollars. */
export const redeem = /* @__PURE__ */ action<{ epochId: bigint; usdAmount: bigint }>(
  ({ api }, { epochId, usdAmount }, from, call) =>
    api.post("/api/v1/redeem/prepare", {
      body: { from, epochId: String(epochId), usdAmount: String(usdAmount) },
      ...call,
    }),
);

/** Offers bonds for sale as a whole. `amount` in whole dollars, `totalPriceUsdc` with 6 decimals. */
export const listBonds = /* @__PURE__ */ action<{ epochId: bigint; amount: bigint; totalPriceUsdc: bigint }>(
  ({ api }, { epochId, amount, totalPriceUsdc }, from, call) =>
    api.post("/api/v1/marketplace/list/prepare", {
      body: {
        from,
        epochId: String(epochId),
        amount: String(amount),
        totalPriceUsdc: String(totalPriceUsdc),
      },
      ...call,
    }),
);

/** Buys a listing as a whole, for its price and the buyer's fee. */
export const buyListing = /* @__PURE__ */ action<{ listingId: bigint }>(
  ({ api }, { listingId }, from, call) =>
    api.post("/api/v1/marketplace/buy/prepare", { body: { from, listingId: String(listingId) }, ...call }),
);

/** Takes a listing back. */
export const cancelListing = /* @__PURE__ */ action<{ listingId: bigint }>(
  ({ api }, { listingId }, from, call) =>
    api.post("/api/v1/marketplace/cancel/prepare", { body: { from, listingId: String(listingId) }, ...call }),
);

/** Takes all that sales have credited to the wallet on the marketplace. */
export async function withdraw(context: Context, options: ActionOptions = {}): Promise<Executed> {
  const body = { from: walletOf(context).address };
  const prepared = await context.api.post("/api/v1/marketplace/withdraw/prepare", {
    body,
    ...given(options),
  });
  return executePrepared(context, prepared, options);
}

/** Makes the next observation of a policy that is due: anybody may. The third pays its buyer. */
export const trigger = /* @__PURE__ */ action<PolicyKey>(({ api }, { productId, policyId }, from, call) =>
  api.post("/api/v1/triggers/prepare", { body: { from, productId, policyId: String(policyId) }, ...call }),
);
