/** One purchase, from a checked request to the answer. */
import { type Address, type Hex, isAddressEqual } from "viem";
import { ApiError } from "../lib/errors.ts";
import type { Agent } from "../lib/keys/store.ts";
import { isSettled, type Purchase } from "../lib/ledger/purchase.ts";
import {
  type Acceptance,
  acceptPurchase,
  findStanding,
  type NewPurchase,
  noteTold,
} from "../lib/ledger/purchases.ts";
import { liveRelayers } from "../lib/ledger/relayers.ts";
import { errorText } from "../lib/log.ts";
import { fromDatabase } from "./bounded.ts";
import type { Dependencies } from "./dependencies.ts";
import { checkCapacity, checkMinimum, checkProduct, checkSelling, resolveProduct } from "./purchase-rules.ts";
import type { Readers } from "./readers.ts";
import type { PurchaseRequest } from "./schemas/purchase.ts";
import { shareRead, shareReadBy } from "./shared-read.ts";

/** How old the state may be that purchases are checked against, in ms; the simulation has the last word. */
const CHECK_TTL_MS = 1000;

export type Outcome = {
  purchase: Purchase;
  /** False when an earlier call made it. */
  created: boolean;
};

export type Purchasing = {
  /**
   * Buys, or joins the purchase that stands for the same wish, and waits for its transaction; the purchase may still be
   * open when the wait is over. The caller may go away: what was accepted is carried out.
   * @throws ApiError with the documented code when it was not accepted
   */
  buy(agent: Agent, body: PurchaseRequest, idempotencyKey: string | null): Promise<Outcome>;
};

function requireOwnMoney(agent: Agent, buyer: Address): void {
  if (isAddressEqual(agent.wallet, buyer)) return;
  const message = `The key belongs to ${agent.wallet} and may not spend the money of ${buyer}.`;
  throw new ApiError("buyer_not_authorized", message);
}

/** `work`, or undefined as soon as the process is told to stop. */
function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export function createPurchasing(deps: Dependencies, readers: Readers): Purchasing {
  const { connection, deployment, log, purchaseWaitMs, queue, stopping, waiter } = deps;
  const { db } = connection;
  const { chainId } = deployment;

  const readTerms = shareReadBy(CHECK_TTL_MS, readers.chain.product);
  const readSelling = shareRead(CHECK_TTL_MS, async () => {
    const relayers = await fromDatabase(() => liveRelayers(db, chainId));
    return readers.chain.selling(relayers.map(({ address }) => address));
  });

  async function check({ productId, coverageAmount }: NewPurchase["request"]): Promise<void> {
    const [terms, selling] = await Promise.all([readTerms(productId), readSelling()]);
    const product = checkProduct(productId, terms);
    checkSelling(selling);
    checkCapacity(coverageAmount, product, selling.capacity);
  }

  const assetOf = async (productId: Hex) => checkProduct(productId, await readTerms(productId)).asset;

  /** A replay needs neither the chain nor a relayer: what was bought was bought. */
  async function accept(wish: NewPurchase): Promise<Acceptance> {
    const standing = await fromDatabase(() => findStanding(db, wish));
    if (standing) return standing;
    await check(wish.request);
    return fromDatabase(() => acceptPurchase(db, wish));
  }

  /** The purchase once it is settled, or as it was last seen when the wait is over. */
  async function settle(purchase: Purchase): Promise<Purchase> {
    // A hint: the writer finds the row without it, only later.
    queue.wake(purchase.id).catch((error) => log.warn({ err: errorText(error) }, "the writer was not woken"));
    const waited = waiter.wait(purchase.id, purchaseWaitMs).catch((error) => {
      log.warn({ err: errorText(error), purchaseId: purchase.id }, "the purchase cannot be read");
      return undefined;
    });
    return (await unlessStopped(stopping, waited)) ?? purchase;
  }

  /** Without it the same wish would replay this outcome for some minutes, which spends nothing: so a fault is no failure. */
  async function told({ id }: Purchase): Promise<void> {
    await fromDatabase(() => noteTold(db, id)).catch((error) =>
      log.warn({ err: errorText(error), purchaseId: id }, "the outcome was not noted as told"),
    );
  }

  return {
    async buy(agent, body, idempotencyKey) {
      const product = resolveProduct(body);
      requireOwnMoney(agent, body.buyer);
      checkMinimum(body.coverageAmount);
      const { productId } = product;
      const asset = body.asset ?? product.asset ?? (await assetOf(productId));
      const request = { productId, coverageAmount: body.coverageAmount, asset, buyer: body.buyer };
      const { wallet, keyId } = agent;
      const acceptance = await accept({ chainId, wallet, keyId, idempotencyKey, request });
      if (acceptance.outcome === "conflict") {
        throw new ApiError(
          "idempotency_conflict",
          "The Idempotency-Key stands for a purchase with another body.",
        );
      }
      const { outcome } = acceptance;
      const purchase = isSettled(acceptance.purchase)
        ? acceptance.purchase
        : await settle(acceptance.purchase);
      if (idempotencyKey === null && isSettled(purchase)) await told(purchase);
      return { purchase, created: outcome === "created" };
    },
  };
}
