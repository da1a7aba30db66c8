/** Buys a policy: the buyer signs a permit of its premium where its allowance is too low, and the service does the rest. */
import { type ApiError, hasCode, refusesPermit, withKeyOfOrder } from "../api-error.ts";
import { onChain } from "../chain.ts";
import { approvalInstead, type Prepared } from "../execute.ts";
import type { Schema } from "../operations.ts";
import { pause } from "../pause.ts";
import { randomHex } from "../random.ts";
import { waitUntilApproved } from "../report.ts";
import { sendTransaction, signTypedData, waitUntilMined } from "../signing.ts";
import type { Wallet } from "../wallets.ts";
import { type Context, given, type Options } from "./context.ts";
import { getQuote, productInput } from "./products.ts";
import { type PendingPurchase, purchaseIn } from "./purchase.ts";

export type Order = {
  /** Name (`FLASHBTC24-001`) or id. */
  readonly product: string;
  /** USDC, 6 decimals; at least 100 USDC. */
  readonly coverageAmount: bigint;
  /** Who pays, and owns the policy: the client's wallet if left out, or one that has delegated to it. */
  readonly buyer?: string;
  /** USDC, 6 decimals. While the premium is higher, nothing is signed or bought: `premium_above_maximum`. */
  readonly maxPremium?: bigint;
  /**
   * Whether the client's wallet may be asked for a permit, or for the approval that takes its place where the wallet's code makes USDC
   * refuse it; true if left out. Without one, the buyer has approved the router.
   */
  readonly permit?: boolean;
  /**
   * Names this purchase, at most 128 printable ASCII characters; the client makes one if left out. The same order with the same
   * key never buys twice, also after a crash: keep your own beside your order.
   */
  readonly idempotencyKey?: string | undefined;
};

type Body = ReturnType<typeof productInput> & {
  readonly coverageAmount: string;
  readonly buyer: string;
  readonly maxPremium?: string;
  readonly permit?: Schema<"Permit">;
};

/** Permits of one wallet follow each other, for each has the next nonce: so many others may come first. */
const TRIES_IN_TURN = 20;

/** What a permit was signed for, and its signature. */
type Signed = {
  readonly nonce: string;
  readonly value: string;
  readonly permit: Schema<"Permit">;
};

type Signing = {
  readonly signer: Wallet | undefined;
  readonly buyer: string;
  signed: Signed | undefined;
  /** The refusal of its signature. */
  refused: ApiError | undefined;
};

/** Approves the premium, where USDC refuses the permit by the wallet's code. @throws the refusal for a wallet without code */
async function approve(signer: Wallet, prepared: Prepared, refused: ApiError, signal?: AbortSignal) {
  const approval = approvalInstead(prepared);
  if (!approval) throw refused;
  await onChain(signer.provider, prepared.chainId);
  const txHash = await sendTransaction(signer, approval, prepared.chainId);
  await waitUntilMined(signer, approval, txHash, signal);
}

/** Whether the premium is higher than the order allows. */
async function isTooDear(context: Context, order: Order, options: Options): Promise<boolean> {
  if (order.maxPremium === undefined) return false;
  const { premium } = await getQuote(context, order, options);
  return premium > order.maxPremium;
}

/** The body of an order, with a permit where the buyer must sign one. Nobody signs or sends one twice for one nonce and value. */
async function bodyOf(context: Context, order: Order, signing: Signing, options: Options): Promise<Body> {
  const { signer, buyer, signed, refused } = signing;
  const { product, coverageAmount, maxPremium } = order;
  const input = { ...productInput(product), coverageAmount: String(coverageAmount) };
  const most = maxPremium === undefined ? {} : { maxPremium: String(maxPremium) };
  const body: Body = { ...input, ...most, buyer };
  if (!signer) return body;
  const prepared = await context.api.post("/api/v1/policies/prepare", {
    body: { ...input, from: buyer, relayed: true },
    ...options,
  });
  // The call itself says why it fails, or that this very purchase was made before: no reason to ask the owner.
  if (prepared.issues.some(({ blocking }) => blocking)) return body;
  const step = prepared.steps.find(({ kind }) => kind === "signature");
  if (step?.kind !== "signature" || step.status === "complete" || !step.report.body.permit) return body;
  if (await isTooDear(context, order, options)) return body;
  const { nonce, value } = step.typedData.message;
  const isSigned = signed?.nonce === nonce && signed.value === value;
  if (isSigned && refused) {
    await approve(signer, prepared, refused, options.signal);
    await waitUntilApproved(context.api, step.report, options.signal, context.retries);
    return body;
  }
  if (!isSigned) {
    const signature = await signTypedData(signer, step.typedData);
    signing.signed = { nonce, value, permit: { ...step.report.body.permit, signature } };
  }
  return signing.signed ? { ...body, permit: signing.signed.permit } : body;
}

/** Whether the permit came too early or too late: another one of the wallet, or a purchase, is or was being mined. */
const wantsNewPermit = (error: unknown): error is ApiError =>
  hasCode(error, "permit_in_flight") || refusesPermit(error, "value") || refusesPermit(error, "signature");

/** Where the API does not say when to sign again, in seconds. */
const NEXT_PERMIT_SECONDS = 1;

/** Sends an order under its key, with permits as long as one comes too early or too late. @throws see {@link buy} */
async function send(
  context: Context,
  order: Order,
  idempotencyKey: string,
  options: Options,
): Promise<PendingPurchase> {
  const { api, wallet } = context;
  const buyer = order.buyer ?? wallet?.address;
  if (buyer === undefined) throw new Error("an order needs a buyer, or a client with a wallet");
  const isOwn = buyer.toLowerCase() === wallet?.address.toLowerCase();
  const signer = order.permit !== false && isOwn ? wallet : undefined;
  const signing: Signing = { signer, buyer, signed: undefined, refused: undefined };
  const headers = { "idempotency-key": idempotencyKey, prefer: "respond-async" };
  const call = given(options);
  for (let tries = 1; ; tries += 1) {
    const body = await bodyOf(context, order, signing, call);
    try {
      return purchaseIn(context, await api.post("/api/v1/policies", { body, headers, ...call }));
    } catch (error) {
      if (!signer || tries === TRIES_IN_TURN || !wantsNewPermit(error)) throw error;
      signing.refused = refusesPermit(error, "signature") ? error : undefined;
      await pause(1000 * (error.retryAfterSeconds ?? NEXT_PERMIT_SECONDS), options.signal);
    }
  }
}

/**
 * Orders a policy. It returns once the service has recorded the purchase, which then goes on by itself.
 * @throws WalletError when the owner refuses to sign; ApiError; ConnectionError; the signal's reason. After a ConnectionError or a
 *   `retryable` ApiError the order may have been made: order again with the error's `idempotencyKey`. After any other ApiError
 *   nothing was bought. After the signal, only an `idempotencyKey` of the order's own tells
 */
export async function buy(context: Context, order: Order, options: Options = {}): Promise<PendingPurchase> {
  const idempotencyKey = order.idempotencyKey ?? randomHex();
  try {
    return await send(context, order, idempotencyKey, options);
  } catch (error) {
    throw withKeyOfOrder(error, idempotencyKey);
  }
}
