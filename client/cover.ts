/** The client that programs use: each call is a function of what it needs, amounts are bigints, failed calls are repeated. */
import { createClient } from "./client.ts";
import * as actions from "./cover/actions.ts";
import { buy } from "./cover/buy.ts";
import type { Context } from "./cover/context.ts";
import * as keys from "./cover/keys.ts";
import * as market from "./cover/market.ts";
import * as policies from "./cover/policies.ts";
import * as products from "./cover/products.ts";
import { pendingPurchase } from "./cover/purchase.ts";
import * as stats from "./cover/stats.ts";
import * as testnet from "./cover/testnet.ts";
import * as webhooks from "./cover/webhooks.ts";
import type { Connection } from "./exchange.ts";
import { noRetries, specifiedRetries } from "./retries.ts";
import type { Wallet } from "./wallets.ts";

export type CoverSettings = Connection & {
  /** `lk_…`; what needs no key works without. */
  readonly apiKey?: string | undefined;
  /** Signs for purchases and actions: {@link viemWallet}, or a page's `connectWallet`. */
  readonly wallet?: Wallet;
  /** How often a purchase looks whether it is mined, in ms: 2 s if left out, as a block of an L2. */
  readonly pollMs?: number;
};

const POLL_MS = 2000;

/** Gives each function its context. */
type Bound<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    context: Context,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

function bind<Functions extends Readonly<Record<string, (context: Context, ...rest: never[]) => unknown>>>(
  context: Context,
  functions: Functions,
): Bound<Functions>;
function bind(
  context: Context,
  functions: Readonly<Record<string, (context: Context, ...rest: unknown[]) => unknown>>,
): unknown {
  return Object.fromEntries(
    Object.entries(functions).map(([name, call]) => [name, (...rest: unknown[]) => call(context, ...rest)]),
  );
}

const parts = (context: Context) => ({
  /** Typed calls of every endpoint, as the OpenAPI document has them. */
  api: context.api,
  ...bind(context, {
    onboard: keys.onboard,
    quote: products.getQuote,
    buy,
    purchase: pendingPurchase,
    execute: actions.executePrepared,
    trigger: actions.trigger,
  }),
  keys: bind(context, { me: keys.getMe, list: keys.listKeys, revoke: keys.revokeKey }),
  products: bind(context, { list: products.listProducts }),
  policies: bind(context, {
    get: policies.getPolicy,
    of: policies.policiesOf,
    search: policies.searchPolicies,
    trigger: policies.getTrigger,
  }),
  bonds: bind(context, { of: market.bondsOf, redeem: actions.redeem }),
  market: bind(context, {
    listings: market.listings,
    listing: market.getListing,
    sales: market.sales,
    stats: market.marketStats,
    list: actions.listBonds,
    buy: actions.buyListing,
    cancel: actions.cancelListing,
    withdraw: actions.withdraw,
  }),
  webhooks: bind(context, {
    create: webhooks.createWebhook,
    list: webhooks.listWebhooks,
    delete: webhooks.deleteWebhook,
    test: webhooks.testWebhook,
    retry: webhooks.retryWebhook,
    rotateSecret: webhooks.rotateWebhookSecret,
    deliveries: webhooks.webhookDeliveries,
  }),
  stats: bind(context, {
    protocol: stats.protocolStats,
    cover: stats.coverStats,
    products: stats.productStats,
    vault: stats.vaultStats,
    prices: stats.priceStats,
    series: stats.series,
    activity: stats.activity,
    claims: stats.claims,
    burns: stats.burns,
  }),
  sandbox: bind(context, { info: testnet.sandboxInfo, try: testnet.trySandbox }),
  faucet: bind(context, { status: testnet.faucetStatus, claim: testnet.claimFaucet }),
});

/** See {@link createCoverClient}. */
export type CoverClient = ReturnType<typeof parts> & {
  /** The same client with another key or wallet. */
  with(more: Partial<CoverSettings>): CoverClient;
};

/**
 * Creates a client.
 * @example
 * const wallet = viemWallet(createWalletClient({ account, transport: http(rpc) }));
 * const guest = createCoverClient({ baseUrl: "https://…", wallet });
 * const { apiKey } = await guest.onboard(wallet);
 * const cover = guest.with({ apiKey });
 * const pending = await cover.buy({ product: "FLASHBTC24-001", coverageAmount: 1_000_000_000n });
 * const { policyId, premiumPaid } = await pending.wait();
 */
export function createCoverClient(settings: CoverSettings): CoverClient {
  const { apiKey, wallet, pollMs = POLL_MS, baseUrl, retries = specifiedRetries, ...rest } = settings;
  const headers = { ...rest.headers, ...(apiKey === undefined ? {} : { "x-api-key": apiKey }) };
  const connection = { ...rest, baseUrl: baseUrl.replace(/\/+$/, ""), headers };
  const context: Context = {
    api: createClient({ ...connection, retries }),
    reporter: apiKey === undefined ? undefined : createClient({ ...connection, retries: noRetries }),
    retries,
    wallet,
    pollMs,
  };
  return { ...parts(context), with: (more) => createCoverClient({ ...settings, ...more }) };
}
