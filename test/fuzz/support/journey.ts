/**
 * Calls that make everything that later requests refer to: keys, delegations, webhooks, deliveries, and the run's only
 * purchases and claims. Each must succeed.
 */
import type { Address, LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { delegationTypes } from "../../../api/delegations/store.ts";
import { DEV_ADMIN_TOKEN } from "../../../lib/off-local.ts";
import { catalogue } from "../../../lib/products.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import { buyers } from "../../../scripts/local/seed/accounts.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { now, onboardingBody } from "../../api/support/onboarding.ts";
import type { TestChain } from "../../support/chain.ts";
import { startReceivers } from "../../support/receiver.ts";
import type { KnownValues } from "./generate.ts";
import { preparedValues } from "./prepared-values.ts";
import { reportBodies, reporters } from "./report-bodies.ts";
import { type Credential, holders, type Pairs, type Parts } from "./requests.ts";

/** Calls an operation, judges the answer, and returns its body. @throws unless the call succeeds */
export type Call = (operationId: string, parts?: Partial<Parts>) => Promise<unknown>;

/** The headers of each credential; the journey adds those that it makes. */
export type Secrets = Map<Credential, Pairs>;

/** Signed bodies for onboardings and for delegations: each works once. */
const SIGNED = 5;
/** Webhooks to be deleted. */
const SPARE_WEBHOOKS = 4;
/** Ids of no row. */
const UNUSED_IDS = ["1000000", "999999999999999"];

const newAccount = () => privateKeyToAccount(generatePrivateKey());
const keyHeader = (key: string): Pairs => [["x-api-key", key]];

const issued = z.object({ keyId: z.number(), apiKey: z.string() });
const numbered = z.object({ id: z.number() });
const delegated = z.object({ delegationId: z.number() });
const receipt = z.object({ purchaseId: z.string(), productId: z.string(), policyId: z.string() });
const sandboxReceipt = z.object({ txHash: z.string(), productId: z.string(), policyId: z.string() });
const deliveryList = z.object({ deliveries: z.array(z.object({ id: z.number(), test: z.boolean() })) });
const reported = z.object({ reportId: z.string() });
const page = z.object({ nextCursor: z.string().nullish(), next_cursor: z.string().nullish() });

/** The credentials that need no call. */
export const firstSecrets = (): Secrets =>
  new Map<Credential, Pairs>([
    ["admin", [["x-admin-token", DEV_ADMIN_TOKEN]]],
    ["wrongToken", [["x-admin-token", `${DEV_ADMIN_TOKEN}x`]]],
    ["malformedKey", keyHeader("lk_not-a-key")],
    ["unknownKey", keyHeader(`lk_${"0".repeat(64)}`)],
    ["tokenAsKey", keyHeader(DEV_ADMIN_TOKEN)],
  ]);

/** A key for each holder. */
async function makeKeys(call: Call, secrets: Secrets, owner: Address) {
  const generate = async (wallet: Address) =>
    issued.parse(await call("generateKey", { body: { wallet, label: "fuzz" } }));
  const poor = newAccount().address;
  let revoked = "";
  for (const holder of holders) {
    const wallets: Partial<Record<Credential, Address>> = { owner, poor, ...reporters };
    const { keyId, apiKey } = await generate(wallets[holder] ?? newAccount().address);
    secrets.set(holder, keyHeader(apiKey));
    if (holder === "owner") secrets.set("keyAsToken", [["x-admin-token", apiKey]]);
    if (holder === "revokedKey") revoked = String(keyId);
  }
  await call("revokeKey", { path: { id: revoked } });
  const spareKey = String((await generate(owner)).keyId);
  return { poor, revoked, spareKey };
}

const onboardingBodies = () =>
  Promise.all(Array.from({ length: SIGNED }, () => onboardingBody(newAccount())));

const delegationBodies = ({ deployment: { chainId, contracts } }: TestChain, owner: LocalAccount) =>
  Promise.all(
    Array.from({ length: SIGNED }, async (_, nonce) => {
      const terms = {
        buyer: owner.address,
        agent: newAccount().address,
        totalPremiumCap: 1_000_000n,
        expiry: BigInt(now() + 3600),
        nonce: BigInt(nonce),
      };
      const signature = await owner.signTypedData({
        domain: { chainId, verifyingContract: contracts.coverRouter },
        types: delegationTypes,
        primaryType: "Delegation",
        message: terms,
      });
      const texts = Object.entries(terms).map(([name, value]) => [name, String(value)]);
      return { ...Object.fromEntries(texts), signature };
    }),
  );

/** A webhook of the owner, and spare ones. */
async function makeWebhooks(call: Call) {
  const { url } = (await startReceivers()).at("hook");
  const create = async () =>
    String(numbered.parse(await call("createWebhook", { body: { url, events: "*" } })).id);
  const hook = await create();
  const spareHooks: string[] = [];
  while (spareHooks.length < SPARE_WEBHOOKS) spareHooks.push(await create());
  await call("testWebhook", { path: { id: hook } });
  return { hook, spareHooks };
}

/** A purchase that is sent twice, and one without a wait. */
async function buy(call: Call, owner: Address) {
  const body = { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: owner };
  const headers: Pairs = [["Idempotency-Key", "fuzz-journey"]];
  const bought = receipt.parse(await call("buyPolicy", { body, headers }));
  await call("buyPolicy", { body, headers });
  const withoutWaiting: Pairs = [
    ["Idempotency-Key", "fuzz-async"],
    ["Prefer", "respond-async"],
  ];
  await call("buyPolicy", { body, headers: withoutWaiting });
  return bought;
}

/** One report of each kind. @returns the values of requests that report again, by operation */
async function report(call: Call, chain: TestChain): Promise<Record<string, KnownValues>> {
  const { redeem, list, buy: bought } = await reportBodies(chain);
  await call("reportRedemption", { body: redeem, credential: "redeemer" });
  await call("reportListing", { body: list, credential: "trader" });
  const answer = await call("reportListingPurchase", { body: bought, credential: "trader" });
  const { reportId } = reported.parse(answer);
  await call("getReport", { path: { id: reportId }, credential: "trader" });
  const often = (body: object) =>
    Object.fromEntries(Object.entries(body).map(([name, value]) => [name, [value]]));
  // One of the bond's two names must be given, and both must agree.
  const always = ({ epochId }: { epochId: string }) => ({ epochId: [epochId], bondId: [undefined] });
  return {
    reportRedemption: {
      credential: "redeemer",
      often: often(redeem),
      always: always(redeem),
      bodies: [redeem],
    },
    reportListing: { credential: "trader", often: often(list), always: always(list), bodies: [list] },
    reportListingPurchase: { credential: "trader", often: often(bought), bodies: [bought] },
    getReport: { credential: "trader", often: { id: [reportId, reportId.toUpperCase()] } },
  };
}

/** The delivery of the purchase's event, as a text. */
const policyDelivery = (call: Call, id: string) =>
  waitFor({
    what: "the delivery of the purchase",
    probe: async () => {
      const { deliveries } = deliveryList.parse(await call("listDeliveries", { path: { id } }));
      const found = deliveries.find(({ test }) => !test);
      return found && String(found.id);
    },
  });

/** The cursor of a feed's second page, if it has one. */
async function cursorsOf(call: Call, operationId: string, path: Parts["path"] = {}): Promise<string[]> {
  const first = page.parse(await call(operationId, { path, query: [["limit", "1"]] }));
  const cursor = first.nextCursor ?? first.next_cursor;
  return cursor ? [cursor] : [];
}

const feeds = [
  ...["getActivity", "getTokenPriceHistory", "listRecentTriggers", "listRecentBurns"],
  "listDuePolicies",
  ...["listActiveListings", "listRecentSales", "listTrades"],
  "listAllKeys",
];

/** Plays the journey. @returns what later requests refer to, by operation */
export async function playJourney(
  { chain, owner }: { readonly chain: TestChain; readonly owner: LocalAccount },
  call: Call,
  secrets: Secrets,
): Promise<Record<string, KnownValues>> {
  const { poor, revoked, spareKey } = await makeKeys(call, secrets, owner.address);
  const [onboarded, ...onboardings] = await onboardingBodies();
  await call("onboard", { body: onboarded });
  const [given, ...delegations] = await delegationBodies(chain, owner);
  const { delegationId } = delegated.parse(await call("delegate", { body: given }));
  const { hook, spareHooks } = await makeWebhooks(call);
  const bought = await buy(call, owner.address);
  // Random requests may miss every product that is for sale.
  await call("getQuoteV1", {
    path: { productId: bought.productId },
    query: [["coverageAmount", "100000000"]],
  });
  const tried = sandboxReceipt.parse(await call("trySandbox"));
  const claimed = newAccount().address;
  await call("claimFaucet", { body: { wallet: claimed } });
  const delivery = await policyDelivery(call, hook);
  const reports = await report(call, chain);

  const wallets = [...buyers.map(({ address }) => address), owner.address];
  const cursor = await cursorsOf(call, "listPoliciesByBuyer", { address: wallets[0] ?? "" });
  const productId = allTerms.map((terms) => terms.productId);
  const productName = [...catalogue.map(({ name }) => name), "no product"];
  const coverageAmount = ["100000000", "1000000000"];
  const assets = catalogue.map(({ asset }) => asset);
  const label = ["fuzz", "", "💥".repeat(100), undefined];
  const ofHook: KnownValues = { often: { id: [hook] } };
  const ofPolicy: KnownValues = {
    often: { productId: [...productId, bought.productId], policyId: ["1", "2", bought.policyId] },
  };
  const ofFeeds = feeds.map(async (feed) => [feed, { often: { cursor: await cursorsOf(call, feed) } }]);
  return {
    ...Object.fromEntries(await Promise.all(ofFeeds)),
    ...reports,
    getProduct: { often: { productId } },
    getProductV1: { often: { productId } },
    getQuote: { often: { productId, coverageAmount } },
    getQuoteV1: { often: { productId, coverageAmount } },
    getPolicy: ofPolicy,
    getPolicyV1: ofPolicy,
    getTriggerEvaluation: ofPolicy,
    getListing: { often: { listingId: ["0", "1", "2", "3"] } },
    searchListings: { often: { seller: wallets, maxPriceUsdc: ["1000000000"] } },
    listWalletBonds: { often: { wallet: wallets } },
    searchPolicies: { often: { product: productId, asset: assets, buyer: wallets, cursor } },
    listClaims: { often: { product: productId, buyer: wallets, cursor } },
    getSeries: { often: { product: productId } },
    listPoliciesByBuyer: { often: { address: wallets, cursor } },
    listOwnPolicies: { often: { owner: [owner.address, owner.address.toLowerCase()], cursor } },
    scanPolicies: { often: { wallet: wallets, cursor } },
    listBondsByOwner: { often: { address: wallets } },
    scanBonds: { often: { wallet: wallets } },
    getPurchase: { often: { id: [bought.purchaseId, bought.purchaseId.toUpperCase()] } },
    buyPolicy: {
      // A wallet without USDC: its purchases are refused, and spend nothing.
      credential: "poor",
      often: {
        coverageAmount,
        buyer: [poor, poor.toLowerCase(), owner.address],
        asset: assets,
      },
      // If both name a product, they must agree.
      always: { productName, productId: [undefined] },
      bodies: productId.map((id) => ({ productId: id, coverageAmount: "100000000", buyer: poor })),
    },
    ...preparedValues({ wallets, productName, coverageAmount }),
    prepareTrigger: ofPolicy,
    // One of timestamp and message; only a message can name a key that it replaces.
    onboard: {
      always: { label, timestamp: [now()], message: [undefined], replaces: [undefined] },
      bodies: onboardings,
    },
    generateKey: { always: { label } },
    // Wallets that nobody has: a stop of another target would refuse the run's requests.
    stop: {
      always: {
        scope: ["wallet"],
        wallet: [newAccount().address, newAccount().address.toLowerCase()],
        keyId: [undefined],
        reason: ["fuzz", "💥".repeat(100), " why ", "=1+1"],
      },
    },
    delegate: {
      always: { expiry: [String(now() + 3600)], totalPremiumCap: ["1", String(2n ** 256n - 1n)] },
      bodies: delegations,
    },
    revokeDelegation: { always: { id: [String(delegationId), ...UNUSED_IDS] } },
    revokeKey: { always: { id: [revoked, ...UNUSED_IDS] } },
    revokeOwnKey: { always: { keyId: [spareKey, ...UNUSED_IDS] } },
    createWebhook: {
      credential: "subscriber",
      always: {
        // Nothing listens on port 9, and a local chain allows webhooks to this machine.
        url: ["", "a%20b?c=%00#d", "💥", "x".repeat(2000)].map((path) => `http://127.0.0.1:9/${path}`),
        events: ["*", ["policy_purchased"], ["token_burned", "token_burned", "event_reverted"]],
      },
    },
    getWebhook: ofHook,
    deleteWebhook: { always: { id: [...spareHooks, ...UNUSED_IDS] } },
    rotateWebhookSecret: ofHook,
    retryWebhook: ofHook,
    testWebhook: ofHook,
    listDeliveries: ofHook,
    replayEvents: { ...ofHook, always: { since: [String(now() - 7200)] } },
    replayDelivery: { often: { id: [hook], deliveryId: [delivery] } },
    // A call without a product buys one: only the journey spends.
    trySandbox: { always: { productName: ["no product"], productId: [undefined] } },
    getSandboxPolicy: { often: { productId: [tried.productId], policyId: [tried.policyId, "1"] } },
    getSandboxTransaction: {
      often: { txHash: [tried.txHash, tried.txHash.toUpperCase().replace("0X", "0x")] },
    },
    claimFaucet: { often: { wallet: [claimed] } },
  };
}
