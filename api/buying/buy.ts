/** One purchase, from a checked request to the answer. */
import { type Hex, isAddressEqual } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { ApiError } from "../../lib/errors.ts";
import { isSettled, type Purchase } from "../../lib/ledger/purchase.ts";
import { noteTold, wakeWithoutQueue } from "../../lib/ledger/purchases.ts";
import { liveRelayers } from "../../lib/ledger/relayers.ts";
import { errorText } from "../../lib/log.ts";
import { shareRead, shareReadBy } from "../../lib/shared-read.ts";
import { soon, unlessAborted } from "../../lib/within.ts";
import { contractsOf, type Dependencies } from "../dependencies.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { PurchaseRequest } from "../purchases/schemas.ts";
import type { Readers } from "../readers.ts";
import { type Acceptance, acceptPurchases, findStanding, type NewPurchase, type Wish } from "./accept.ts";
import { createBuyerFunds } from "./buyer-funds.ts";
import { type Funds, type Hindrance, isDelegated } from "./guards.ts";
import { hindranceError } from "./refusals.ts";
import {
  checkCapacity,
  checkMinimum,
  checkProduct,
  checkSelling,
  premiumOf,
  resolveProduct,
} from "./rules.ts";

/** How old the state may be that purchases are checked against, in ms; the simulation has the last word. */
const CHECK_TTL_MS = 1000;
/** A check that takes longer, in ms, is not waited for by a call that only asks for what was bought already. */
const CHECK_SOON_MS = 100;
/** A wake-up that takes longer, in ms, is made up for by the ledger itself. */
const WAKE_SOON_MS = 250;
/** Purchases that are recorded together. */
const ACCEPT_ROUND = 50;

export type Outcome = {
  purchase: Purchase;
  /** False when an earlier call made it. */
  created: boolean;
};

export type Purchasing = {
  /**
   * Buys, or joins the purchase that stands for the same wish. With `waits` it waits for the transaction, and the
   * purchase may still be open when the wait is over. The caller may go away: what was accepted is carried out.
   * @throws ApiError with the documented code when it was not accepted
   */
  buy(asker: Asker, body: PurchaseRequest, options: BuyOptions): Promise<Outcome>;
};

/** Whose purchase it is: a key's, or the sandbox's. */
export type Asker = Pick<Wish, "wallet" | "keyId">;

/** What it takes to buy on a chain. */
export type PurchasingParts = Pick<
  Dependencies,
  "connection" | "deployment" | "log" | "purchaseWaitMs" | "stopping" | "waiter"
> & {
  readonly queue: Pick<Dependencies["queue"], "wake">;
};

export type BuyOptions = {
  idempotencyKey: string | null;
  waits: boolean;
  /** Aborted when the caller goes away: then nobody is told the outcome. */
  gone: AbortSignal;
  /** Asked once everything that can be told before is in order, ahead of the record; it rejects to refuse. */
  admit?: (() => Promise<void>) | undefined;
};

type Accepted = Exclude<Acceptance, { outcome: "hindered" }>;

const isHindered = (acceptance: Acceptance, kind: Hindrance["kind"]): boolean =>
  acceptance.outcome === "hindered" && acceptance.by.kind === kind;

const relayerBehind = () =>
  new ApiError(
    "relayer_unavailable",
    "The relayer has not looked at the newest blocks yet; try again later.",
  );

/** Buying on the chain of these parts and readers. `refuse` words what keeps a purchase from being recorded. */
export function createPurchasing(
  deps: PurchasingParts,
  readers: Pick<Readers, "chain">,
  refuse: typeof hindranceError = hindranceError,
): Purchasing {
  const { connection, deployment, log, purchaseWaitMs, queue, stopping, waiter } = deps;
  const { db } = connection;
  const { chainId } = deployment;

  const funds = createBuyerFunds(deps, readers);
  const readTerms = shareReadBy(CHECK_TTL_MS, readers.chain.product);
  const readSelling = shareRead(CHECK_TTL_MS, async () => {
    const relayers = await fromDatabase(() => liveRelayers(db, chainId));
    return readers.chain.selling(relayers.map(({ address }) => address));
  });

  /** The premium, once everything that can be told before is in order. */
  async function check({ productId, coverageAmount }: Wish["request"]): Promise<bigint> {
    const [terms, selling] = await Promise.all([readTerms(productId), readSelling()]);
    const product = checkProduct(productId, terms);
    checkSelling(selling);
    checkCapacity(coverageAmount, product, selling.capacity);
    return premiumOf(coverageAmount, product);
  }

  const assetOf = async (productId: Hex) => checkProduct(productId, await readTerms(productId)).asset;

  /** Who may not spend the buyer's money is told so, whatever else is wrong. How much is left is looked at when it is accepted. */
  async function requireLeave(wish: Wish): Promise<void> {
    const { router, wallet: agent, request } = wish;
    const { buyer } = request;
    if (isAddressEqual(agent, buyer)) return;
    if (await fromDatabase(() => isDelegated(db, { chainId, router, buyer, agent }))) return;
    throw refuse({ kind: "not_delegated", left: undefined }, wish, 0n);
  }

  /** Calls of the same moment are recorded by one statement. */
  const acceptInTurn = createBatcher(
    (wishes: NewPurchase[]) => acceptPurchases(connection, wishes),
    ACCEPT_ROUND,
  );
  const record = (purchase: NewPurchase) =>
    fromDatabase(async () => {
      const acceptance = (await acceptInTurn(purchase)).get(purchase);
      if (!acceptance) throw new Error("a purchase could not be recorded");
      return acceptance;
    });

  /** What stands already needs neither the chain nor a relayer: what was bought was bought. */
  async function accept(wish: Wish, admit: BuyOptions["admit"]): Promise<Accepted> {
    const checking = check(wish.request);
    if ((await soon(CHECK_SOON_MS, checking)) === undefined) {
      // Something is wrong or slow; otherwise the recording finds what stands.
      const standing = await fromDatabase(() => findStanding(db, wish));
      if (standing) return standing;
      await requireLeave(wish);
    }
    const quotedPremium = await checking;
    await admit?.();
    const { buyer } = wish.request;
    const attempt = (known: Funds | undefined) => record({ ...wish, quotedPremium, funds: known });
    let acceptance = await attempt(funds.known(buyer));
    if (isHindered(acceptance, "funds_unknown")) acceptance = await attempt(await funds.recent(buyer));
    // What is refused for want of money is refused by the newest block alone: an approval may just have been mined.
    if (isHindered(acceptance, "short_of_funds")) {
      const { funds: newest, settled } = await funds.newest(buyer);
      acceptance = await attempt(newest);
      if (!settled && isHindered(acceptance, "short_of_funds")) throw relayerBehind();
    }
    if (acceptance.outcome !== "hindered") return acceptance;
    if (acceptance.by.kind === "funds_unknown") throw new Error("funds were given and are unknown");
    throw refuse(acceptance.by, wish, quotedPremium);
  }

  /** A hint: the writer finds the row without it too, only later. */
  async function wake({ id }: Purchase): Promise<void> {
    const waking = queue.wake(id).then(
      () => true,
      (error: unknown) => {
        log.warn({ err: errorText(error) }, "the writer was not woken");
        return undefined;
      },
    );
    // A queue that is away is not waited for; when this fails too, the row is found in some seconds.
    if (!(await soon(WAKE_SOON_MS, waking))) await wakeWithoutQueue(db, id).catch(() => {});
  }

  /** The purchase once it is settled, or as it was last seen when the wait is over. */
  async function settled(purchase: Purchase): Promise<Purchase> {
    const waited = waiter.wait(purchase.id, purchaseWaitMs).catch((error) => {
      log.warn({ err: errorText(error), purchaseId: purchase.id }, "the purchase cannot be read");
      return undefined;
    });
    return (await unlessAborted(stopping, waited)) ?? purchase;
  }

  /** Without it the same wish would replay this outcome for some minutes, which spends nothing: so a fault is no failure. */
  async function told({ id }: Purchase): Promise<void> {
    await fromDatabase(() => noteTold(db, id)).catch((error) =>
      log.warn({ err: errorText(error), purchaseId: id }, "the outcome was not noted as told"),
    );
  }

  return {
    async buy({ wallet, keyId }, body, { idempotencyKey, waits, gone, admit }) {
      const product = resolveProduct(body);
      checkMinimum(body.coverageAmount);
      const { productId } = product;
      const asset = body.asset ?? product.asset ?? (await assetOf(productId));
      const request = { productId, coverageAmount: body.coverageAmount, asset, buyer: body.buyer };
      const router = contractsOf(deployment).coverRouter;
      const wish = { chainId, router, wallet, keyId, idempotencyKey, request };
      const acceptance = await accept(wish, admit);
      if (acceptance.outcome === "conflict") {
        throw new ApiError(
          "idempotency_conflict",
          "The Idempotency-Key stands for a purchase with another body.",
        );
      }
      const { outcome } = acceptance;
      let { purchase } = acceptance;
      if (!isSettled(purchase)) {
        void wake(purchase);
        if (waits) purchase = await settled(purchase);
      }
      if (idempotencyKey === null && isSettled(purchase) && !gone.aborted) await told(purchase);
      return { purchase, created: outcome === "created" };
    },
  };
}
