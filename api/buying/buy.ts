/** Buys a policy: from a checked request to the purchase's outcome. */
import { type Address, concat, type Hex, hexToBigInt, isAddressEqual, slice, toHex } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import type { Permit } from "../../lib/chain/permit.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { isSettled, type Purchase } from "../../lib/ledger/purchase.ts";
import { liveRelayers } from "../../lib/ledger/relayers.ts";
import { shareRead, shareReadBy } from "../../lib/shared-read.ts";
import { valueWithin } from "../../lib/timeout.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import { contractsOf } from "../chain/contract-addresses.ts";
import type { ProductTerms } from "../chain/contracts/products.ts";
import type { SellingState } from "../chain/contracts/selling.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import {
  type Acceptance,
  acceptPurchases,
  findExistingPurchase,
  type PurchaseIntent,
  type QuotedIntent,
} from "./accept-purchases.ts";
import { type BuyerFunds, createBuyerFunds } from "./buyer-funds.ts";
import { checkPermit, requireValue, withPermit } from "./check-permit.ts";
import { noteReported, type OutcomeParts, waitUntilSettled, wakeWriter } from "./outcome.ts";
import {
  checkAsset,
  checkLimits,
  checkMinimum,
  checkPremium,
  checkProduct,
  checkSelling,
  resolveProduct,
} from "./purchase-rules.ts";
import { refusalError } from "./refusal-errors.ts";
import { type Funds, isDelegated, type Refusal } from "./refusal-reasons.ts";

/** Maximum age of the terms and the selling state that purchases are checked against, in ms; the simulation decides. */
const CHECK_TTL_MS = 1000;
/** From this age on, in ms, they are read again ahead of need: a node that makes a block answers late. */
const CHECK_RENEW_MS = 500;
/** After this time, in ms, a slow check no longer delays a call for an existing purchase. */
const CHECK_WAIT_MS = 100;
/** Most purchases recorded by one statement. */
const ACCEPT_ROUND = 50;

/** A purchase's terms as a client sends them. `coverageAmount` has 6 decimals. */
export type PurchaseTerms = {
  productId?: Hex | undefined;
  productName?: string | undefined;
  coverageAmount: bigint;
  asset?: Hex | undefined;
  buyer: Address;
  /** Refuse a higher premium. 6 decimals. */
  maxPremium?: bigint | undefined;
  /** The buyer's permit for the router, in place of an approval. */
  permit?: Permit | undefined;
};

/** Who buys: the holder of a key, or the sandbox. */
export type Purchaser = Pick<PurchaseIntent, "wallet" | "keyId">;

export type BuyOptions = {
  idempotencyKey: string | null;
  /** Whether to wait for the transaction. */
  waits: boolean;
  /** Aborted when the caller disconnects: then it does not receive the outcome. */
  gone: AbortSignal;
  /** Called after all checks and before the purchase is recorded; rejects to refuse it. */
  admit?: (() => Promise<void>) | undefined;
  /** The trace that the request belongs to. */
  traceparent?: string | undefined;
};

/** `created` is false when an earlier call made the purchase. */
export type BuyResult = { purchase: Purchase; created: boolean };

/**
 * Buys, or joins the existing purchase of the same intent. With `waits` it waits for the transaction, and the purchase may
 * still be open at the end of the wait. An accepted purchase is carried out even when the caller disconnects.
 * @throws ApiError with the documented code when the purchase was not accepted
 */
export type Buy = (purchaser: Purchaser, terms: PurchaseTerms, options: BuyOptions) => Promise<BuyResult>;

export type BuyParts = OutcomeParts & {
  readonly deployment: Deployment | IncompleteDeployment;
  readonly chain: ChainReads;
};

/** Shared by all purchases of one chain. */
type Context = BuyParts & {
  readonly funds: BuyerFunds;
  readonly readTerms: (productId: Hex) => Promise<ProductTerms | undefined>;
  readonly readSelling: () => Promise<SellingState>;
  /** Of a key of {@link orderKey}; 6 decimals. */
  readonly readQuote: (order: Hex) => Promise<{ premium: bigint }>;
  /** Records purchases, concurrent ones in one statement. */
  readonly record: (purchase: QuotedIntent) => Promise<Acceptance>;
  readonly toError: typeof refusalError;
};

type Accepted = Exclude<Acceptance, { outcome: "refused" }>;

const isRefused = (acceptance: Acceptance, kind: Refusal["kind"]): boolean =>
  acceptance.outcome === "refused" && acceptance.by.kind === kind;

/** A checked request: its premium (6 decimals), and its permit where one is needed. */
type Quote = Pick<QuotedIntent, "quotedPremium" | "permit">;

/** Product and coverage in one value, by which a quote is shared. */
const orderKey = (productId: Hex, coverage: bigint): Hex =>
  concat([productId, toHex(coverage, { size: 32 })]);

/** Makes all checks that need no ledger. */
async function checkRequest(
  { readTerms, readSelling, readQuote, chain }: Context,
  { productId, coverageAmount, asset, buyer }: PurchaseIntent["request"],
  { permit, maxPremium }: Pick<PurchaseTerms, "permit" | "maxPremium">,
): Promise<Quote> {
  const [terms, selling] = await Promise.all([readTerms(productId), readSelling()]);
  const product = checkProduct(productId, terms);
  checkAsset(asset, product);
  checkSelling(selling);
  checkLimits(coverageAmount, product, selling);
  const { premium: quotedPremium } = await readQuote(orderKey(productId, coverageAmount));
  checkPremium(quotedPremium, maxPremium);
  return { quotedPremium, permit: permit && (await checkPermit(chain, buyer, permit, quotedPremium)) };
}

/** Reports a missing delegation before any other error. The remaining cap is checked when the purchase is recorded. */
async function requireDelegation({ connection, toError }: Context, intent: PurchaseIntent): Promise<void> {
  const { chainId, router, wallet: agent, request } = intent;
  const { buyer } = request;
  if (isAddressEqual(agent, buyer)) return;
  if (await fromDatabase(() => isDelegated(connection.sql, { chainId, router, buyer, agent }))) return;
  throw toError({ kind: "not_delegated", left: undefined }, intent, 0n);
}

/** Records the purchase, with the buyer's funds where the ledger needs them. */
async function recordWithFunds(
  { funds, record, toError }: Context,
  intent: PurchaseIntent,
  quote: Quote,
): Promise<Accepted> {
  const { buyer } = intent.request;
  const { permit, quotedPremium } = quote;
  const attempt = (known: Funds | undefined) =>
    record({ ...intent, ...quote, funds: known && permit ? withPermit(known, permit) : known });
  let acceptance = await funds.whileRecording(buyer, attempt);
  if (isRefused(acceptance, "funds_unknown")) acceptance = await attempt(await funds.recent(buyer));
  // A lack of funds is certain only at the newest block: an approval may just have been mined.
  if (isRefused(acceptance, "short_of_funds")) {
    const { funds: newest, settled } = await funds.newest(buyer);
    acceptance = await attempt(newest);
    if (!settled && isRefused(acceptance, "short_of_funds")) {
      throw new ApiError(
        "relayer_unavailable",
        "The relayer has not read the newest blocks yet; try again later.",
      );
    }
  }
  if (acceptance.outcome !== "refused") return acceptance;
  if (acceptance.by.kind === "funds_unknown")
    throw new Error("the database asked for funds that it had received");
  if (permit && acceptance.by.kind === "short_of_funds") {
    requireValue(permit, quotedPremium, acceptance.by.held);
  }
  throw toError(acceptance.by, intent, quotedPremium);
}

/** The purchase of a client's call, and what else it sent. */
type Request = { intent: PurchaseIntent; terms: PurchaseTerms };

/** Accepts a purchase. An existing one needs neither the chain nor a relayer. */
async function accept(
  context: Context,
  { intent, terms }: Request,
  admit: BuyOptions["admit"],
): Promise<Accepted> {
  const checking = checkRequest(context, intent.request, terms);
  if ((await valueWithin(CHECK_WAIT_MS, checking)) === undefined) {
    // A check failed or is slow. Otherwise recording finds an existing purchase by itself.
    const existing = await fromDatabase(() => findExistingPurchase(context.connection.sql, intent));
    if (existing) return existing;
    await requireDelegation(context, intent);
  }
  const quote = await checking;
  await admit?.();
  return recordWithFunds(context, intent, quote);
}

/** The purchase that the terms describe. @throws ApiError when they name no product, or too little coverage */
async function intentOf(
  { deployment, readTerms }: Context,
  { wallet, keyId }: Purchaser,
  terms: PurchaseTerms,
  { idempotencyKey, traceparent }: Pick<BuyOptions, "idempotencyKey" | "traceparent">,
): Promise<PurchaseIntent> {
  const { productId, asset: known } = resolveProduct(terms);
  const { coverageAmount, buyer } = terms;
  checkMinimum(coverageAmount);
  const asset = terms.asset ?? known ?? checkProduct(productId, await readTerms(productId)).asset;
  const router = contractsOf(deployment).coverRouter;
  const request = { productId, coverageAmount, asset, buyer };
  return { chainId: deployment.chainId, router, wallet, keyId, idempotencyKey, request, traceparent };
}

async function buy(
  context: Context,
  purchaser: Purchaser,
  terms: PurchaseTerms,
  { idempotencyKey, waits, gone, admit, traceparent }: BuyOptions,
): Promise<BuyResult> {
  const intent = await intentOf(context, purchaser, terms, { idempotencyKey, traceparent });
  const acceptance = await accept(context, { intent, terms }, admit);
  if (acceptance.outcome === "conflict") {
    throw new ApiError(
      "idempotency_conflict",
      "The Idempotency-Key belongs to a purchase with another body.",
    );
  }
  const { outcome } = acceptance;
  let { purchase } = acceptance;
  if (!isSettled(purchase)) {
    void wakeWriter(context, purchase, traceparent);
    if (waits) purchase = await waitUntilSettled(context, purchase);
  }
  if (idempotencyKey === null && isSettled(purchase) && !gone.aborted) await noteReported(context, purchase);
  return { purchase, created: outcome === "created" };
}

/** Makes `buy` for one chain. `toError` makes the API's error for a refusal. */
export function createBuy(parts: BuyParts, toError: typeof refusalError = refusalError): Buy {
  const { connection, deployment, chain } = parts;
  const acceptInRounds = createBatcher(
    (intents: QuotedIntent[]) => acceptPurchases(connection, intents),
    ACCEPT_ROUND,
  );
  const context: Context = {
    ...parts,
    toError,
    funds: createBuyerFunds(parts, chain),
    readTerms: shareReadBy(CHECK_TTL_MS, chain.product, { renewMs: CHECK_RENEW_MS }),
    readQuote: shareReadBy(
      CHECK_TTL_MS,
      (order: Hex) =>
        chain.quote({ productId: slice(order, 0, 32), coverage: hexToBigInt(slice(order, 32)) }),
      { renewMs: CHECK_RENEW_MS },
    ),
    readSelling: shareRead(
      CHECK_TTL_MS,
      async () => {
        const relayers = await fromDatabase(() => liveRelayers(connection.sql, deployment.chainId));
        return chain.selling(relayers.map(({ address }) => address));
      },
      // A writer that has just started is used at once.
      { isKept: ({ relayers }) => relayers.length > 0, renewMs: CHECK_RENEW_MS },
    ),
    record: (purchase) =>
      fromDatabase(async () => {
        const acceptance = (await acceptInRounds(purchase)).get(purchase);
        if (!acceptance) throw new Error("a purchase could not be recorded");
        return acceptance;
      }),
  };
  return (purchaser, terms, options) => buy(context, purchaser, terms, options);
}
