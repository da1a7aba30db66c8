// Generated from the API's OpenAPI document by `npm run client:types`. Never edit it.
import type { Decimal } from "./bigints.ts";

export interface paths {
    readonly "/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get health and contract addresses
         * @description `degraded` is still 200: `reasons` says which parts do not work.
         */
        readonly get: operations["getHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/indexer/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get indexer health
         * @description `syncing` while the chain's history is read and there is no indexed block to answer with, then `synced`, or `lagging` if the index is more than 10 blocks behind the chain, is catching up after a start, or no indexer is running. While `syncing` or `lagging`, read `/api/v1/public/policies/{wallet}` and `/api/v1/public/bonds/{wallet}`.
         */
        readonly get: operations["getIndexerHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/products": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List products
         * @description All registered products, read from the contracts; `active` tells whether one can be bought.
         */
        readonly get: operations["listProducts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/products": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List products
         * @description The same as `GET /products`.
         */
        readonly get: operations["listProductsV1"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/products/{productId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a product */
        readonly get: operations["getProduct"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/products/{productId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a product
         * @description The same as `GET /products/{productId}`.
         */
        readonly get: operations["getProductV1"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/products/{productId}/quote": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a quote
         * @description The premium of a purchase now. Fails with the codes of a purchase for a product that is not sold, too little coverage, or more than the vault has room for; pauses of the router, prices and funds are checked by a purchase only.
         */
        readonly get: operations["getQuote"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/products/{productId}/quote": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a quote
         * @description The same as `GET /products/{productId}/quote`.
         */
        readonly get: operations["getQuoteV1"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policies/{productId}/{policyId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a policy
         * @description From the index, or from the contracts while the index lacks the policy, lags, or is down; `source` says which.
         */
        readonly get: operations["getPolicy"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/policies/by-buyer/{address}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List a buyer's policies */
        readonly get: operations["listPoliciesByBuyer"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/policies/all": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Search all policies
         * @description All filters can be combined. A policy whose expiry the index does not know, because its product is older than the first indexed block, is found without the filters `status` and `expiresFrom` or `expiresTo` only, or once it is triggered or cancelled.
         */
        readonly get: operations["searchPolicies"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/policies/nearest": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the active policies nearest to their trigger
         * @description Of all active policies those whose price has to fall least, in proportion to it, at the front; then those that expire first. A policy whose price is at or below its trigger has a distance of zero or less. Each round of a feed changes the order, so pages have an offset and no cursor. Policies with an unknown trigger price are left out.
         */
        readonly get: operations["listNearestPolicies"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/policies/{productId}/{policyId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a policy
         * @description The same as `GET /policies/{productId}/{policyId}`.
         */
        readonly get: operations["getPolicyV1"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/policies": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the policies of the key's wallet
         * @description Policies that the wallet bought, or that others bought for it.
         */
        readonly get: operations["listOwnPolicies"];
        readonly put?: never;
        /**
         * Buy a policy
         * @description The relayer submits the transaction and pays the gas; the buyer pays the premium. Send an `Idempotency-Key`: the same key and body return the same receipt and never spend twice. Without a key, a call joins an identical earlier call if no caller has received its outcome.
         */
        readonly post: operations["buyPolicy"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/public/policies/{wallet}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List a buyer's policies by a live scan of the chain
         * @description The same data as the indexed list, read from the chain alone. Use it while the index is `syncing` or `lagging`. The response describes one block. If it cannot be read in full within 20 seconds, the response is 503, never a shorter list. At most four scans run at the same time, and at most two that one client address started; above that the response is 503 `scan_busy`. Requests for one wallet share its running scan.
         */
        readonly get: operations["scanPolicies"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/purchases/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a purchase
         * @description For keys of the wallet that made the purchase; 404 for others. A purchase that was refused before it was ever signed is deleted after a time, 30 days by default; then 404 too.
         */
        readonly get: operations["getPurchase"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agent/onboard": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Issue a key by the wallet's signature
         * @description A wallet has at most three active keys. Each pair of wallet and timestamp (of a `message`, its second of issue) makes one key; a failed call does not use it up. Give an agent a key with limits: they are never changed. A client address may call 10 times an hour.
         */
        readonly post: operations["onboard"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agent/delegations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List the wallet's delegations */
        readonly get: operations["listDelegations"];
        readonly put?: never;
        /**
         * Create a delegation
         * @description Lets the agent's keys spend premiums of the buyer, up to a cap. For keys of the agent or the buyer. A signed delegation is accepted once, even if it was revoked.
         */
        readonly post: operations["delegate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agent/delegations/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Revoke a delegation
         * @description For the buyer's keys; 404 for others. No further purchase is accepted under it. A purchase that was signed before continues; one that was only accepted fails with `buyer_not_authorized`. Idempotent: revoking again returns the time of the first call.
         */
        readonly delete: operations["revokeDelegation"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/keys/generate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Issue a key
         * @description Each call makes a new key, which is shown only in this response. A wallet has at most three active keys, whoever issued them. A key without limits may do everything; limits are never changed: to change them, issue another key.
         */
        readonly post: operations["generateKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/keys/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Revoke any key
         * @description Idempotent: revoking again returns the time of the first call.
         */
        readonly delete: operations["revokeKey"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/auth/me": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the wallet and the limits of the key */
        readonly get: operations["getMe"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agent/keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the wallet's keys
         * @description Active keys, oldest first. The keys themselves cannot be read again.
         */
        readonly get: operations["listKeys"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/agent/keys/{keyId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        /**
         * Revoke one of the wallet's keys
         * @description The key is refused from now on; it may be the key of this request. A key with limits revokes only itself. Idempotent: revoking again returns the time of the first call. Another wallet's key is 404.
         */
        readonly delete: operations["revokeOwnKey"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/admin/keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the keys of all wallets
         * @description Newest first, with revoked ones. The keys themselves are not stored.
         */
        readonly get: operations["listAllKeys"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/admin/stops": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List what is stopped
         * @description The stops in force: the global one, the keeper's, keys, wallets.
         */
        readonly get: operations["listStops"];
        readonly put?: never;
        /**
         * Stop spending
         * @description Takes effect before the next transaction is signed or sent, in every writer. Idempotent: a second call changes nothing. Resuming takes the command in `resume`.
         */
        readonly post: operations["stop"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/admin/ledger": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get what is in flight, stuck and spent
         * @description What `npm run ledger` shows, in one snapshot. `cursor` continues `inFlight`; the other lists have their first `limit` entries on every page.
         */
        readonly get: operations["getLedger"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/admin/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List webhooks that are behind
         * @description Webhooks that are undeliverable, or have deliveries that are not made yet, by their ids; and how far all deliveries are behind.
         */
        readonly get: operations["listLateWebhooks"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List webhooks */
        readonly get: operations["listWebhooks"];
        readonly put?: never;
        /**
         * Create a webhook
         * @description Sends the future events of the key's wallet to a URL. Each call creates another webhook with its own secret; a wallet has at most twenty.
         */
        readonly post: operations["createWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get a webhook */
        readonly get: operations["getWebhook"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Delete a webhook
         * @description Deletes the webhook with its deliveries and secrets; a running attempt may still arrive. Deleting again is 404.
         */
        readonly delete: operations["deleteWebhook"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Rotate a webhook's secret
         * @description The new secret signs from now on. The previous secret signs too for 24 hours. Each call makes a new secret, and only the latest previous one still signs.
         */
        readonly post: operations["rotateWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}/retry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Re-enable a webhook
         * @description Makes an undeliverable webhook active and sends everything that it missed within 30 days. Idempotent: an active webhook does not change.
         */
        readonly post: operations["retryWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Test a webhook
         * @description Makes one attempt to deliver a `webhook_test` now, and returns its outcome. Works for an undeliverable webhook too, without re-enabling it.
         */
        readonly post: operations["testWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List deliveries
         * @description Newest event first. Deliveries are kept for 30 days, undelivered ones for longer.
         */
        readonly get: operations["listDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}/deliveries/{deliveryId}/replay": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replay a delivery
         * @description Sends the delivery's event again with the same id, and restarts the retry schedule. A running attempt continues.
         */
        readonly post: operations["replayDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/webhooks/{id}/replay": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Replay events since a time
         * @description Sends all events since `since` again in chain order, delivered ones too, but none from before the webhook's creation and none that a reorganisation removed. The calls of one wallet run one at a time; a call that waits too long is 503 and can be repeated.
         */
        readonly post: operations["replayEvents"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/burns": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get burn statistics
         * @description Burns are the token's transfers to the zero address. Days are UTC days of block times; today is the indexed block's day. `from` and `to` narrow `by_day` to the UTC days of these times; the sums are of all time.
         */
        readonly get: operations["getBurnStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/protocol": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get protocol statistics */
        readonly get: operations["getProtocolStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/activity": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List activity */
        readonly get: operations["getActivity"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/token-price-history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the token's price history
         * @description One point per `BurnExecuted`, at the price that the burner paid. A range ends at the indexed block. If it has more points than `limit`, the response has the newest; `next_cursor` leads to older ones.
         */
        readonly get: operations["getTokenPriceHistory"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/cover": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the active cover
         * @description The open policies by their status at the indexed block's time. Policies whose expiry the index does not know, because their product is older than the first indexed block, are left out.
         */
        readonly get: operations["getCover"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/products": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get statistics by product
         * @description With `from` and `to`: only policies bought in this period, with their present status and payouts. `GET /api/v1/stats/series` with `product` has what happened in a period. Triggers and cancellations of policies that are older than the first indexed block count only without a period. Statuses are those at the indexed block's time. Policies whose expiry the index does not know, because their product is older than the first indexed block, are neither active, waiting nor expired.
         */
        readonly get: operations["getProductStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/series": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a metric by day, week or month
         * @description Whole buckets of UTC time, by block times: days, weeks from Monday on, months. The series has every bucket from the one with `from` to the one with the last second before `to`, or with the indexed block if that is earlier; buckets without events are zero. It is empty where `from` is later than the indexed block. Without `from` it has 30 buckets. More than 366 buckets are refused with 400, which names the earliest `from` for this `to`.
         */
        readonly get: operations["getSeries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/claims": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List claims
         * @description Triggered policies, the newest first, with what was paid and how long it took.
         */
        readonly get: operations["listClaims"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/vault": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the vault's reserve and what it has to pay
         * @description Every figure is of the indexed block. Dollar values of the reserve use `token_price`, which the events named last: with the feed's own answer at that block they are what the vault's contract computes. `GET /api/v1/live-stats` asks the contract.
         */
        readonly get: operations["getVaultStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/bonds/maturities": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the ladder of bond maturities
         * @description One row per epoch, the month in which its bonds mature. In each row and in the total, `minted_usd` − `redeemed_usd` − `queued_usd` − `surrendered_usd` = `outstanding_usd`.
         */
        readonly get: operations["getBondMaturities"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/queue": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the redemption queue, with the week's throttle
         * @description A redemption above the throttle waits in the queue from the following week on. The vault pays entries in the order of their ids, at the price of that day. All figures follow from indexed events; `throttle.left_token` equals the contract's `throttleLeft()` in the indexed block.
         */
        readonly get: operations["getRedemptionQueue"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/holders": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List bond holders by their bonds
         * @description Wallets that hold bonds, matured ones too. Bonds in escrow for an active listing count for their seller.
         */
        readonly get: operations["listBondHolders"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/buyers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List buyers by their coverage
         * @description Wallets that bought policies, by the coverage of all their policies so far.
         */
        readonly get: operations["listBuyers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/market": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the bond market by day and by epoch
         * @description Sales by UTC day, and floor prices, yields and sales by the bonds' epoch. `from` and `to` narrow `by_day` to the UTC days of these times. Sales of listings from before the first indexed block are in no epoch. `GET /api/v1/marketplace/stats` has the figures of all time.
         */
        readonly get: operations["getMarketStatistics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/burners": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get what the burner contracts received, spent and burned
         * @description From the burners' own events. Burns without a burner are in `GET /api/v1/stats/burns`. `from` and `to` narrow `by_day` to the UTC days of these times; the sums are of all time.
         */
        readonly get: operations["getBurnerStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/pauses": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List pauses and outages, with the current state
         * @description Pauses of the protocol from their start to their end. While the router is paused, by its owner or by the price, no policy is sold, and sold ones are paid. The global pause also stops triggers, redemptions and the marketplace. `from` and `to` are about their start. Outages of the chain's sequencer that began since the first indexed block stand among them, from the start to the end that its uptime feed has reported: until an hour after the end no policy is sold or triggered. Order and cursor go by the event's block; an outage began before its block.
         */
        readonly get: operations["listPauses"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/prices": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the current prices of the covered assets and the token
         * @description The newest answer of each asset's feed at the indexed block, by which policies are sold and triggered, and the token's newest price.
         */
        readonly get: operations["getPrices"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/price-history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the price history of a covered asset
         * @description The rounds of the asset's feed in steps of equal length. Policies are sold and triggered by these rounds. The last step has the indexed block. A step without a round has no point: the price before it still holds. The first point is the newest round before the range, where the index has one. A round counts if the feed answered from its aggregator then; when the feed takes a new aggregator, the answer that it already has counts at the time of the change.
         */
        readonly get: operations["getAssetPriceHistory"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/stats/keeper": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the keeper's audit
         * @description Was every policy paid that could be? A running audit judges each policy that ended, by the chain alone, every ten minutes and once its block is final. It begins with the first keeper of this service; paid policies are `listClaims`.
         */
        readonly get: operations["getKeeperAudit"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/live-stats": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get token price, reserve, capacity and supply
         * @description Read from the contracts at one block, at most every 30 seconds.
         */
        readonly get: operations["getLiveStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/bonds/by-owner/{address}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List an owner's bonds
         * @description Net holdings: without bonds that were sold, escrowed for a listing, redeemed, queued for redemption, or surrendered.
         */
        readonly get: operations["listBondsByOwner"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/bonds/{wallet}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List a wallet's bonds with their worth
         * @description Any wallet may be read. Unlike the list by owner it also shows redeemed bonds, and what the bonds are worth in tokens at the vault's price.
         */
        readonly get: operations["listWalletBonds"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/public/bonds/{wallet}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List an owner's bonds by a live scan of the chain
         * @description The same data as the indexed list, read from the chain alone. Use it while the index is `syncing` or `lagging`. The response describes one block. If it cannot be read in full within 20 seconds, the response is 503, never a shorter list. At most four scans run at the same time, and at most two that one client address started; above that the response is 503 `scan_busy`. Requests for one wallet share its running scan.
         */
        readonly get: operations["scanBonds"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/triggers/recent": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List recent triggers
         * @description Successful submissions, newest first. A submission reverts while the trigger's condition is not met.
         */
        readonly get: operations["listRecentTriggers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/triggers/due": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List the policies that a trigger would pay now
         * @description Each policy for which `submitTrigger` would be paid in the indexed block, with the proof, those that expire first at the front. Anybody may submit the trigger; the bond goes to the buyer. Nothing is due during the global pause, and while the sequencer is down or came back less than an hour ago. The index cannot know whether a contract that bought a policy refuses bonds: its trigger reverts.
         */
        readonly get: operations["listDuePolicies"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/triggers/{productId}/{policyId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get why a policy was paid, or was not
         * @description The policy's window, the rounds of its price feed with what each counts for, and the verdict at the indexed block. A policy is triggered by three rounds within its window, each at or below its trigger price, the newest at most an hour old.
         */
        readonly get: operations["getTriggerEvaluation"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/burns/recent": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List recent burns */
        readonly get: operations["listRecentBurns"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/active-listings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List active listings */
        readonly get: operations["listActiveListings"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/recent-sales": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** List recent sales */
        readonly get: operations["listRecentSales"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/listings": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Search active listings */
        readonly get: operations["searchListings"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/listings/{listingId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a listing
         * @description In any status: sold and cancelled listings too.
         */
        readonly get: operations["getListing"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/stats": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get the marketplace's figures
         * @description Prices and volumes are those of whole listings without fees, USDC with 6 decimals.
         */
        readonly get: operations["getMarketStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * List trades
         * @description The sales of `/api/v1/marketplace/recent-sales`, with what the buyer paid.
         */
        readonly get: operations["listTrades"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/oracle/sign-proof": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Get a signed price
         * @description The newest price of the asset's feed on the main chain, read and signed for this call; calls at the same time may get the same signature. Signed only while the feed's answer is at most an hour old and the sequencer has been up for an hour. A contract checks it with `verifyPriceProofEIP712` of the domain's contract, and decides by `verifiedAt` how old it may be.
         */
        readonly post: operations["signPriceProof"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/oracle/signer": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the signer of prices */
        readonly get: operations["getOracleSigner"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/redeem": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report a redemption
         * @description For a transaction that the wallet has sent by itself, through any wallet or bundler: `redeemBond` of the bond vault. It is judged by the logs of the protocol's contracts for this wallet. The same report again returns the same record; after a reorganisation it is judged again.
         */
        readonly post: operations["reportRedemption"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/list": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report a listing
         * @description For a transaction that the wallet has sent by itself, through any wallet or bundler: `list` of the marketplace. It is judged by the logs of the protocol's contracts for this wallet. The same report again returns the same record; after a reorganisation it is judged again.
         */
        readonly post: operations["reportListing"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/buy": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Report the purchase of a listing
         * @description For a transaction that the wallet has sent by itself, through any wallet or bundler: `executeBuy` of the marketplace. It is judged by the logs of the protocol's contracts for this wallet. The same report again returns the same record; after a reorganisation it is judged again.
         */
        readonly post: operations["reportListingPurchase"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/reports/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a report
         * @description For keys of the wallet that made the report; 404 for others. It is judged by the chain as it is now: a transaction that was reorganised away makes it `pending` again, or fails with `tx_not_found`; one that reverted, or is not as reported, fails as the report would.
         */
        readonly get: operations["getReport"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/redeem/prepare": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prepare a redemption of bonds
         * @description Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.
         */
        readonly post: operations["prepareRedemption"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/list/prepare": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prepare a listing of bonds
         * @description Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.
         */
        readonly post: operations["prepareListing"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/buy/prepare": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prepare the purchase of a listing
         * @description Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.
         */
        readonly post: operations["prepareListingPurchase"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/marketplace/cancel/prepare": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prepare the cancellation of a listing
         * @description Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.
         */
        readonly post: operations["prepareListingCancellation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/triggers/prepare": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prepare the trigger of a policy
         * @description Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.
         */
        readonly post: operations["prepareTrigger"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/policies/prepare": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Prepare a purchase: one that the buyer sends itself, or the permit of a relayed one
         * @description Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.
         */
        readonly post: operations["preparePolicy"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/info": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the sandbox's status */
        readonly get: operations["getSandbox"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/try": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Buy a policy on the testnet
         * @description Needs neither key nor wallet: the shared wallet of `GET /sandbox/info` pays with worthless test money. The body is optional. A client address may call 10 times an hour. A call with the `Idempotency-Key` of an earlier one returns the same policy. Such calls, invalid calls, and calls while the wallet cannot buy do not count; a purchase that is refused later does. An `Idempotency-Key` is valid for its client address only.
         */
        readonly post: operations["trySandbox"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/transactions/{txHash}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a testnet transaction
         * @description Includes the policies that the transaction bought. For testnets without a block explorer.
         */
        readonly get: operations["getSandboxTransaction"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/policies/{productId}/{policyId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Get a policy of the testnet
         * @description From the testnet's contracts. `GET /policies/{productId}/{policyId}` reads the main chain, where the same ids are another policy.
         */
        readonly get: operations["getSandboxPolicy"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/faucet/claim": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Claim ether and mock USDC on the testnet
         * @description Once in 24 hours per wallet and per client address, and 50 times per UTC day in total. Responds once both transfers are mined. After a 503 `claim_pending`, repeat the claim from the same client address to get its outcome; nothing is paid twice. A claim that sent nothing does not count towards the limits.
         */
        readonly post: operations["claimFaucet"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/faucet/status": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the faucet's status */
        readonly get: operations["getFaucetStatus"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api-docs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Open the API explorer */
        readonly get: operations["getExplorer"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Get the OpenAPI document */
        readonly get: operations["getOpenApi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description 32 bytes as hex.
         * @example 0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd
         */
        readonly Bytes32: string;
        /**
         * @description A non-negative integer in decimal digits.
         * @example 100000000
         */
        readonly DecimalString: Decimal;
        /**
         * @description An address. Accepted in any case, returned with its checksum.
         * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
         */
        readonly Address: string;
        /**
         * @description Unix seconds in decimal digits.
         * @example 1767225600
         */
        readonly UnixSeconds: Decimal;
        /**
         * Format: date-time
         * @description ISO 8601, UTC.
         * @example 2026-01-01T00:00:00.000Z
         */
        readonly Timestamp: string;
        readonly Error: {
            /**
             * @description Machine-readable code.
             * @example validation_error
             * @enum {string}
             */
            readonly error: "validation_error" | "invalid_body" | "invalid_request" | "stale_timestamp" | "unknown_product" | "unauthenticated" | "invalid_signature" | "forbidden" | "buyer_not_authorized" | "buyer_mismatch" | "insufficient_scope" | "key_purchase_cap_exceeded" | "not_authorized_relayer" | "owner_mismatch" | "product_not_allowed" | "sandbox_cap_exceeded" | "seller_mismatch" | "not_found" | "invalid_product" | "policy_not_found" | "key_not_found" | "delegation_not_found" | "delivery_not_found" | "tx_not_found" | "listing_not_found" | "webhook_not_found" | "method_not_allowed" | "request_timeout" | "idempotency_conflict" | "permit_in_flight" | "cap_reached" | "duplicate_listing" | "duplicate_purchase" | "duplicate_redemption" | "event_reverted" | "signature_used" | "webhook_undeliverable" | "payload_too_large" | "unsupported_media_type" | "amount_mismatch" | "epoch_mismatch" | "event_missing" | "holder_mismatch" | "invalid_permit" | "listing_id_mismatch" | "premium_above_maximum" | "price_mismatch" | "product_inactive" | "coverage_below_minimum" | "coverage_above_maximum" | "shield_paused" | "tx_reverted" | "rate_limit" | "daily_cap_reached" | "gas_budget_exceeded" | "ip_rate_limited" | "key_daily_cap_reached" | "purchases_paused" | "wallet_rate_limited" | "headers_too_large" | "internal_error" | "health_contracts_incomplete" | "onchain_revert" | "rpc_error" | "chain_not_found" | "claim_expired" | "claim_pending" | "contract_paused" | "database_unavailable" | "faucet_disabled" | "indexer_syncing" | "indexer_unavailable" | "oracle_signer_disabled" | "oracle_signer_unavailable" | "oracle_stale" | "out_of_eth" | "purchase_expired" | "purchase_pending" | "purchases_stopped" | "relayer_unauthorized" | "relayer_unavailable" | "scan_busy" | "resolver_unavailable" | "sandbox_disabled" | "sandbox_unready" | "sequencer_down" | "test_pending" | "verification_busy";
            /**
             * @description The same code again.
             * @example validation_error
             * @enum {string}
             */
            readonly code: "validation_error" | "invalid_body" | "invalid_request" | "stale_timestamp" | "unknown_product" | "unauthenticated" | "invalid_signature" | "forbidden" | "buyer_not_authorized" | "buyer_mismatch" | "insufficient_scope" | "key_purchase_cap_exceeded" | "not_authorized_relayer" | "owner_mismatch" | "product_not_allowed" | "sandbox_cap_exceeded" | "seller_mismatch" | "not_found" | "invalid_product" | "policy_not_found" | "key_not_found" | "delegation_not_found" | "delivery_not_found" | "tx_not_found" | "listing_not_found" | "webhook_not_found" | "method_not_allowed" | "request_timeout" | "idempotency_conflict" | "permit_in_flight" | "cap_reached" | "duplicate_listing" | "duplicate_purchase" | "duplicate_redemption" | "event_reverted" | "signature_used" | "webhook_undeliverable" | "payload_too_large" | "unsupported_media_type" | "amount_mismatch" | "epoch_mismatch" | "event_missing" | "holder_mismatch" | "invalid_permit" | "listing_id_mismatch" | "premium_above_maximum" | "price_mismatch" | "product_inactive" | "coverage_below_minimum" | "coverage_above_maximum" | "shield_paused" | "tx_reverted" | "rate_limit" | "daily_cap_reached" | "gas_budget_exceeded" | "ip_rate_limited" | "key_daily_cap_reached" | "purchases_paused" | "wallet_rate_limited" | "headers_too_large" | "internal_error" | "health_contracts_incomplete" | "onchain_revert" | "rpc_error" | "chain_not_found" | "claim_expired" | "claim_pending" | "contract_paused" | "database_unavailable" | "faucet_disabled" | "indexer_syncing" | "indexer_unavailable" | "oracle_signer_disabled" | "oracle_signer_unavailable" | "oracle_stale" | "out_of_eth" | "purchase_expired" | "purchase_pending" | "purchases_stopped" | "relayer_unauthorized" | "relayer_unavailable" | "scan_busy" | "resolver_unavailable" | "sandbox_disabled" | "sandbox_unready" | "sequencer_down" | "test_pending" | "verification_busy";
            /** @description Explanation for people, with the decoded reason of a revert. */
            readonly message: string;
            /** @description Each invalid field and its error; null unless `validation_error` or `invalid_permit`. */
            readonly details: readonly {
                readonly path: string;
                readonly message: string;
            }[] | null;
            /**
             * Format: date-time
             * @description When a refused faucet claim can be repeated, ISO 8601; only with `wallet_rate_limited`, `ip_rate_limited` and `daily_cap_reached`.
             */
            readonly nextEligibleAt?: string;
        };
        /**
         * @description A policy was bought. To buyer, holder and payer.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "policy_purchased",
         *       "data": {
         *         "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *         "productName": "FLASHBTC24-001",
         *         "policyId": "6",
         *         "buyer": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "holder": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "paidBy": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "shield": "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE",
         *         "coverageAmount": "1000000000",
         *         "payoutAmount": "800000000",
         *         "premiumPaid": "52600000",
         *         "priceSnapshot": "100000000000000000",
         *         "purchasedAt": "1767225600",
         *         "waitingEndsAt": null,
         *         "expiresAt": "1767312000"
         *       }
         *     }
         */
        readonly PolicyPurchasedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "policy_purchased";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly productId: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC24-001
                 */
                readonly productName: string | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Null when the index does not know the purchase.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly buyer: string | null;
                readonly holder: components["schemas"]["Address"] & unknown;
                /**
                 * @description Payer of the premium; null when unknown.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly paidBy: string | null;
                /**
                 * @description Adapter contract of the product's shield; null when unknown.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly shield: string | null;
                readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
                readonly payoutAmount: components["schemas"]["DecimalString"] & unknown;
                readonly premiumPaid: components["schemas"]["DecimalString"] & unknown;
                readonly priceSnapshot: components["schemas"]["DecimalString"] & unknown;
                readonly purchasedAt: components["schemas"]["UnixSeconds"] & unknown;
                /**
                 * @description End of the waiting period, Unix seconds; null if there is none.
                 * @example null
                 */
                readonly waitingEndsAt: Decimal | null;
                /**
                 * @description End of the cover, Unix seconds; null when unknown.
                 * @example 1767312000
                 */
                readonly expiresAt: Decimal | null;
            };
        };
        /**
         * @description The price has met a policy's trigger: three rounds at or below it count within the window. Sent once for a policy, at the log of the third round; nothing is paid yet. To its buyer. In a global pause, without the sequencer, or once the newest round is older than an hour, it cannot be triggered at once.
         * @example {
         *       "id": "evt_58bd1bef7686f13d04958ec9a23696ed",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "policy_due",
         *       "data": {
         *         "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *         "productName": "FLASHBTC24-001",
         *         "policyId": "6",
         *         "buyer": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "coverageAmount": "1000000000",
         *         "payoutAmount": "800000000",
         *         "triggerPrice": "56400000000000000000000",
         *         "rounds": [
         *           "18446744073709551730",
         *           "18446744073709551731",
         *           "18446744073709551733"
         *         ],
         *         "prices": [
         *           "56390000000000000000000",
         *           "56210000000000000000000",
         *           "55870000000000000000000"
         *         ],
         *         "expiresAt": "1767312000",
         *         "dueAt": "1767225600"
         *       }
         *     }
         */
        readonly PolicyDueEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_58bd1bef7686f13d04958ec9a23696ed
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "policy_due";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly productId: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC24-001
                 */
                readonly productName: string | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Null when the index does not know the purchase.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly buyer: string | null;
                readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
                readonly payoutAmount: components["schemas"]["DecimalString"] & unknown;
                readonly triggerPrice: components["schemas"]["DecimalString"] & unknown;
                /** @description Ids of the first three rounds of the feed at or below the trigger price within the window, rising as in a proof. */
                readonly rounds: readonly (components["schemas"]["DecimalString"] & unknown)[];
                /** @description The prices of these rounds, in their order, in USD. 18 decimals. */
                readonly prices: readonly (components["schemas"]["DecimalString"] & unknown)[];
                readonly expiresAt: components["schemas"]["UnixSeconds"] & unknown;
                readonly dueAt: components["schemas"]["UnixSeconds"] & unknown;
            };
        };
        /**
         * @description A policy pays out in a bond. To its buyer.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "policy_triggered",
         *       "data": {
         *         "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *         "productName": "FLASHBTC24-001",
         *         "policyId": "6",
         *         "buyer": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "bondId": "202801",
         *         "bondAmount": "800",
         *         "reason": "0x5052494345000000000000000000000000000000000000000000000000000000",
         *         "triggeredAt": "1767225600"
         *       }
         *     }
         */
        readonly PolicyTriggeredEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "policy_triggered";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly productId: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC24-001
                 */
                readonly productName: string | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Null when the index does not know the purchase.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly buyer: string | null;
                /**
                 * @description The bond that pays the policy; null if the transaction issued none.
                 * @example 202812
                 */
                readonly bondId: Decimal | null;
                readonly bondAmount: components["schemas"]["DecimalString"] & unknown;
                readonly reason: components["schemas"]["Bytes32"] & unknown;
                readonly triggeredAt: components["schemas"]["UnixSeconds"] & unknown;
            };
        };
        /**
         * @description A policy has expired without a trigger. Sent once, with the first block after its end; it has no transaction. A reorganisation of that block reverts it; if the policy has expired in the new chain too, another `policy_expired` names its first block there. To its buyer.
         * @example {
         *       "id": "evt_3e5b59d9c9e60948b11de557165236a9",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": null,
         *       "type": "policy_expired",
         *       "data": {
         *         "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *         "productName": "FLASHBTC24-001",
         *         "policyId": "6",
         *         "buyer": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "coverageAmount": "1000000000",
         *         "expiresAt": "1767225599"
         *       }
         *     }
         */
        readonly PolicyExpiredEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_3e5b59d9c9e60948b11de557165236a9
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "policy_expired";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Null: the event has no transaction.
             * @example null
             */
            readonly txHash: string | null;
            readonly data: {
                readonly productId: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC24-001
                 */
                readonly productName: string | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Null when the index does not know the purchase.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly buyer: string | null;
                readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
                readonly expiresAt: components["schemas"]["UnixSeconds"] & unknown;
            };
        };
        /**
         * @description A policy was cancelled. To its buyer.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "policy_cancelled",
         *       "data": {
         *         "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *         "productName": "FLASHBTC24-001",
         *         "policyId": "6",
         *         "buyer": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "cancelledAt": "1767225600"
         *       }
         *     }
         */
        readonly PolicyCancelledEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "policy_cancelled";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly productId: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC24-001
                 */
                readonly productName: string | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Null when the index does not know the purchase.
                 * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
                 */
                readonly buyer: string | null;
                readonly cancelledAt: components["schemas"]["UnixSeconds"] & unknown;
            };
        };
        /**
         * @description A bond was issued. To its holder.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "bond_minted",
         *       "data": {
         *         "bondId": "202801",
         *         "holder": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "amount": "800",
         *         "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *         "policyId": "6"
         *       }
         *     }
         */
        readonly BondMintedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "bond_minted";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly bondId: components["schemas"]["DecimalString"] & unknown;
                readonly holder: components["schemas"]["Address"] & unknown;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Product of the policy triggered in the same transaction; null if there is none.
                 * @example null
                 */
                readonly productId: string | null;
                /**
                 * @description Policy triggered in the same transaction; null if there is none.
                 * @example 6
                 */
                readonly policyId: Decimal | null;
            };
        };
        /**
         * @description A redemption above the weekly throttle was queued. To the bond's holder.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "bond_queued",
         *       "data": {
         *         "bondId": "202512",
         *         "holder": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "amount": "800",
         *         "queueId": "1",
         *         "targetEpoch": "2923"
         *       }
         *     }
         */
        readonly BondQueuedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "bond_queued";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly bondId: components["schemas"]["DecimalString"] & unknown;
                readonly holder: components["schemas"]["Address"] & unknown;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                readonly queueId: components["schemas"]["DecimalString"] & unknown;
                readonly targetEpoch: components["schemas"]["DecimalString"] & unknown;
            };
        };
        /**
         * @description A bond was redeemed for tokens, directly or from the queue. To its holder.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "bond_redeemed",
         *       "data": {
         *         "bondId": "202512",
         *         "holder": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "amount": "800",
         *         "tokenAmount": "8000000000000000000000",
         *         "priceUsed": "100000000000000000",
         *         "queueId": null
         *       }
         *     }
         */
        readonly BondRedeemedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "bond_redeemed";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                /**
                 * @description The bond's epoch, the month YYYYMM of its maturity. Null for a queued redemption if the index has not seen it being queued.
                 * @example 202812
                 */
                readonly bondId: Decimal | null;
                readonly holder: components["schemas"]["Address"] & unknown;
                /**
                 * @description Face value; null when `bondId` is null. Whole dollars.
                 * @example 800
                 */
                readonly amount: Decimal | null;
                readonly tokenAmount: components["schemas"]["DecimalString"] & unknown;
                readonly priceUsed: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Its position in the queue; null if it was not queued.
                 * @example null
                 */
                readonly queueId: Decimal | null;
            };
        };
        /**
         * @description A bond was put up for sale. To its seller.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "listing_created",
         *       "data": {
         *         "listingId": "3",
         *         "seller": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "bondId": "202801",
         *         "amount": "800",
         *         "price": "600000000"
         *       }
         *     }
         */
        readonly ListingCreatedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "listing_created";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly listingId: components["schemas"]["DecimalString"] & unknown;
                readonly seller: components["schemas"]["Address"] & unknown;
                readonly bondId: components["schemas"]["DecimalString"] & unknown;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                readonly price: components["schemas"]["DecimalString"] & unknown;
            };
        };
        /**
         * @description A listed bond was bought. To seller and buyer.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "listing_purchased",
         *       "data": {
         *         "listingId": "3",
         *         "seller": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "buyer": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *         "bondId": "202801",
         *         "amount": "800",
         *         "price": "600000000",
         *         "sellerFee": "9000000",
         *         "buyerFee": "9000000"
         *       }
         *     }
         */
        readonly ListingPurchasedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "listing_purchased";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly listingId: components["schemas"]["DecimalString"] & unknown;
                readonly seller: components["schemas"]["Address"] & unknown;
                readonly buyer: components["schemas"]["Address"] & unknown;
                /**
                 * @description The bond's epoch, the month YYYYMM of its maturity. Null when the index does not know the listing.
                 * @example 202812
                 */
                readonly bondId: Decimal | null;
                /**
                 * @description Face value; null when the index does not know the listing. Whole dollars.
                 * @example 800
                 */
                readonly amount: Decimal | null;
                readonly price: components["schemas"]["DecimalString"] & unknown;
                readonly sellerFee: components["schemas"]["DecimalString"] & unknown;
                readonly buyerFee: components["schemas"]["DecimalString"] & unknown;
            };
        };
        /**
         * @description A listing was cancelled. To its seller.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "listing_cancelled",
         *       "data": {
         *         "listingId": "3",
         *         "seller": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *         "bondId": "202801",
         *         "amount": "800",
         *         "emergency": false
         *       }
         *     }
         */
        readonly ListingCancelledEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "listing_cancelled";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly listingId: components["schemas"]["DecimalString"] & unknown;
                readonly seller: components["schemas"]["Address"] & unknown;
                /**
                 * @description The bond's epoch, the month YYYYMM of its maturity. Null when the index does not know the listing.
                 * @example 202812
                 */
                readonly bondId: Decimal | null;
                /**
                 * @description Face value; null when the index does not know the listing. Whole dollars.
                 * @example 800
                 */
                readonly amount: Decimal | null;
                /**
                 * @description True if cancelled by the marketplace's owner.
                 * @example false
                 */
                readonly emergency: boolean;
            };
        };
        /**
         * @description Protocol tokens were burned. To every webhook that names this type, whoever burns; `*` does not include it.
         * @example {
         *       "id": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "token_burned",
         *       "data": {
         *         "burner": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *         "source": "twap_burner",
         *         "tokenAmount": "526000000000000000000",
         *         "usdcSpent": "52600000",
         *         "effectivePrice": "100000000000000000"
         *       }
         *     }
         */
        readonly TokenBurnedEvent: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_6b71f8b5d4e8f1815036dd0abfac1e44
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "token_burned";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly data: {
                readonly burner: components["schemas"]["Address"] & unknown;
                /**
                 * @description The kind of burner; `direct` for a burn without a burner contract.
                 * @enum {string}
                 */
                readonly source: "twap_burner" | "buyback_engine" | "direct";
                readonly tokenAmount: components["schemas"]["DecimalString"] & unknown;
                readonly usdcSpent: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description USD per token, 18 decimals; null for a direct burn.
                 * @example 100000000000000000
                 */
                readonly effectivePrice: Decimal | null;
            };
        };
        /**
         * @description A reorganisation removed an event that was sent, or may have been sent: undo its effects. To every webhook that the event was sent to. The block fields are copied from the removed event.
         * @example {
         *       "id": "evt_04937f723e511a454359b830f3e2172b",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": "318",
         *       "blockHash": "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "type": "event_reverted",
         *       "data": {
         *         "eventId": "evt_6b71f8b5d4e8f1815036dd0abfac1e44",
         *         "eventType": "policy_purchased",
         *         "canonicalBlockHash": "0x1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a",
         *         "data": {
         *           "productId": "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9",
         *           "productName": "FLASHBTC24-001",
         *           "policyId": "6",
         *           "buyer": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *           "holder": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *           "paidBy": "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
         *           "shield": "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE",
         *           "coverageAmount": "1000000000",
         *           "payoutAmount": "800000000",
         *           "premiumPaid": "52600000",
         *           "priceSnapshot": "100000000000000000",
         *           "purchasedAt": "1767225600",
         *           "waitingEndsAt": null,
         *           "expiresAt": "1767312000"
         *         }
         *       }
         *     }
         */
        readonly EventReverted: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_04937f723e511a454359b830f3e2172b
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "event_reverted";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Null for a removed `policy_expired`.
             * @example null
             */
            readonly txHash: string | null;
            readonly data: {
                /** @description `id` of the removed event. */
                readonly eventId: string;
                /**
                 * @example policy_purchased
                 * @enum {string}
                 */
                readonly eventType: "policy_purchased" | "policy_due" | "policy_triggered" | "policy_expired" | "policy_cancelled" | "bond_minted" | "bond_queued" | "bond_redeemed" | "listing_created" | "listing_purchased" | "listing_cancelled" | "token_burned";
                readonly canonicalBlockHash: components["schemas"]["Bytes32"] & unknown;
                /** @description `data` of the removed event. */
                readonly data: {
                    readonly [key: string]: unknown;
                };
            };
        };
        /**
         * @description A test event, sent only by `POST /api/v1/webhooks/{id}/test`.
         * @example {
         *       "id": "evt_61461522d968144790a0c8821c6c356e",
         *       "version": 1,
         *       "createdAt": "2026-01-01T00:00:00.000Z",
         *       "chainId": 8453,
         *       "blockNumber": null,
         *       "blockHash": null,
         *       "txHash": null,
         *       "type": "webhook_test",
         *       "data": {
         *         "webhookId": 1,
         *         "message": "This is a test."
         *       }
         *     }
         */
        readonly WebhookTest: {
            /**
             * @description Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.
             * @example evt_61461522d968144790a0c8821c6c356e
             */
            readonly id: string;
            /** @enum {string} */
            readonly type: "webhook_test";
            /**
             * @description Version of the body. New fields may appear in the same version; changed or removed fields make a new one.
             * @enum {integer}
             */
            readonly version: 1;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @example 8453 */
            readonly chainId: number;
            /**
             * @description Null: a test has no block.
             * @example null
             */
            readonly blockNumber: string | null;
            /**
             * @description Null.
             * @example null
             */
            readonly blockHash: string | null;
            /**
             * @description Null.
             * @example null
             */
            readonly txHash: string | null;
            readonly data: {
                /** @example 1 */
                readonly webhookId: number;
                /** @example This is a test. */
                readonly message: string;
            };
        };
        readonly Health: {
            /** @enum {string} */
            readonly status: "ok" | "degraded";
            /**
             * @description Reasons for `degraded`; empty for `ok`.
             * @example []
             */
            readonly reasons: readonly {
                readonly code: string;
                readonly message: string;
            }[];
            /** @example parametric-cover-service */
            readonly service: string;
            /** @example 0.1.0 */
            readonly version: string;
            /**
             * @description Release of the protocol.
             * @example V5.4
             */
            readonly release: string;
            /**
             * @description Seconds since this process started.
             * @example 3600
             */
            readonly uptimeSeconds: number;
            readonly chain: {
                /** @example 8453 */
                readonly chainId: number;
                /** @example Base */
                readonly name: string;
                /**
                 * @description Newest block; null while the chain does not answer.
                 * @example 1234
                 */
                readonly block: Decimal | null;
                readonly rpcConnected: boolean;
                /**
                 * @description Block explorer; null for a chain without one.
                 * @example https://basescan.org
                 */
                readonly explorerUrl: string | null;
            };
            /** @description The first of `relayers`; null if no writer is running. */
            readonly relayer: {
                readonly address: components["schemas"]["Address"];
                /**
                 * @description Balance in wei; null while the chain does not answer.
                 * @example 1000000000000000000
                 */
                readonly balanceWei: Decimal | null;
            } | null;
            /** @description The wallets that running writers send from. */
            readonly relayers: readonly components["schemas"]["Relayer"][];
            /** @description The wallet that triggers due policies; null if no running writer is a keeper. */
            readonly keeper: {
                readonly address: components["schemas"]["Address"];
                /**
                 * @description Balance in wei; null while the chain does not answer.
                 * @example 1000000000000000000
                 */
                readonly balanceWei: Decimal | null;
            } | null;
            /** @description The deliveries of events; null while the database does not tell in time. */
            readonly webhooks: {
                /**
                 * @description Deliveries that are not made yet.
                 * @example 0
                 */
                readonly pending: number;
                /**
                 * @description Seconds since the longest wait of a delivery became due; null while none is due.
                 * @example null
                 */
                readonly oldestDueSeconds: number | null;
            } | null;
            readonly contracts: components["schemas"]["Contracts"];
        };
        readonly Relayer: {
            readonly address: components["schemas"]["Address"];
            /**
             * @description Balance in wei; null while the chain does not answer.
             * @example 1000000000000000000
             */
            readonly balanceWei: Decimal | null;
        };
        /** @description The protocol's contracts. Read the addresses here instead of hardcoding them. */
        readonly Contracts: {
            readonly coverRouter: components["schemas"]["Address"];
            readonly policyManager: components["schemas"]["Address"];
            readonly bondVault: components["schemas"]["Address"];
            readonly claimBond: components["schemas"]["Address"];
            readonly marketplace: components["schemas"]["Address"];
            readonly twapBurner: components["schemas"]["Address"];
            readonly buybackEngine: components["schemas"]["Address"];
            readonly pauseRegistry: components["schemas"]["Address"];
            readonly protocolToken: components["schemas"]["Address"];
            readonly usdc: components["schemas"]["Address"];
            readonly btcUsdFeed: components["schemas"]["Address"];
            readonly ethUsdFeed: components["schemas"]["Address"];
            readonly tokenUsdFeed: components["schemas"]["Address"];
            readonly sequencerFeed: components["schemas"]["Address"];
            readonly luminaToken: components["schemas"]["Address"] & unknown;
        };
        readonly IndexerHealth: {
            /** @enum {string} */
            readonly status: "synced" | "lagging" | "syncing";
            /**
             * @description The reason of the status. `backfilling`: the indexer reads the chain's history; `catching_up`: the indexer has started anew, and until it has caught up, reads describe the last block before; `caught_up`; `quiet`: caught up, and the chain has had no block for a minute; `behind`: more than 10 blocks behind; `down`: no heartbeat of the indexer.
             * @example caught_up
             * @enum {string}
             */
            readonly condition: "backfilling" | "catching_up" | "caught_up" | "quiet" | "behind" | "down";
            readonly lastSyncedBlock: components["schemas"]["DecimalString"] & unknown;
            readonly headBlock: components["schemas"]["DecimalString"] & unknown;
            readonly lagBlocks: components["schemas"]["DecimalString"] & unknown;
            readonly headTimestamp: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * @description The indexer's last heartbeat (every 2 s), Unix seconds; null before the first.
             * @example 1767225600
             */
            readonly heartbeatAt: Decimal | null;
        };
        readonly ProductList: {
            /** @example 8 */
            readonly count: number;
            readonly products: readonly components["schemas"]["Product"][];
        };
        readonly Product: {
            readonly productId: components["schemas"]["Bytes32"];
            readonly shield: components["schemas"]["Address"] & unknown;
            /**
             * @description Payout in basis points of the coverage.
             * @example 8000
             */
            readonly payoutRatioBps: number;
            /**
             * @description Probability of the trigger that the premium implies, in basis points.
             * @example 18
             */
            readonly triggerProbBps: number;
            /**
             * @description Premium in relation to the expected payout, in basis points.
             * @example 20000
             */
            readonly marginBps: number;
            /**
             * @description Duration of the cover, including the waiting period.
             * @example 3600
             */
            readonly durationSeconds: number;
            /** @description Whether the product can be bought: neither deactivated nor paused. */
            readonly active: boolean;
            /**
             * @description The name, the preimage of the id (keccak256); null when unknown.
             * @example FLASHBTC1H-001
             */
            readonly name: string | null;
            /** @example BTC flash shield, 1 hour */
            readonly displayName: string;
            /**
             * @description Symbol of the covered asset.
             * @example BTC
             */
            readonly coveredAsset: string;
            /**
             * @description Symbol of the token that pays the premium.
             * @example USDC
             */
            readonly paymentAsset: string;
            readonly coverageDescription: string;
            readonly asset: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Price fall since the purchase that triggers, in basis points.
             * @example 250
             */
            readonly triggerDropBps: number;
            /**
             * @description Premium in millionths of the coverage: 2920 is 2.92 USD per 1000 USD.
             * @example 2920
             */
            readonly premiumPpm: number;
            /**
             * @description Seconds from the purchase until cover begins; 0 for none.
             * @example 0
             */
            readonly waitingSeconds: number;
            /**
             * @description From release V5.0: its policies have no price snapshot.
             * @example false
             */
            readonly legacy: boolean;
            /**
             * @description True while the product is paused.
             * @example false
             */
            readonly paused: boolean;
        };
        readonly Quote: {
            readonly productId: components["schemas"]["Bytes32"];
            /** @example FLASHBTC1H-001 */
            readonly productName: string | null;
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly premium: components["schemas"]["DecimalString"] & unknown;
            readonly payout: components["schemas"]["DecimalString"] & unknown;
            readonly availableCapacity: components["schemas"]["DecimalString"] & unknown;
            readonly trigger: {
                /** @example BTC */
                readonly coveredAsset: string;
                readonly asset: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Price fall since the purchase that triggers, in basis points.
                 * @example 250
                 */
                readonly dropBps: number;
                /**
                 * @description Duration of the cover, in seconds.
                 * @example 3600
                 */
                readonly windowSeconds: number;
                /**
                 * @description Seconds from the purchase until cover begins; 0 for none.
                 * @example 0
                 */
                readonly waitingSeconds: number;
                /**
                 * @description Payout in basis points of the coverage.
                 * @example 8000
                 */
                readonly payoutRatioBps: number;
            };
            readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
        };
        readonly Policy: {
            readonly productId: components["schemas"]["Bytes32"];
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            readonly shield: components["schemas"]["Address"] & unknown;
            readonly buyer: components["schemas"]["Address"];
            readonly holder: components["schemas"]["Address"] & unknown;
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly payoutAmount: components["schemas"]["DecimalString"] & unknown;
            readonly premiumPaid: components["schemas"]["DecimalString"] & unknown;
            readonly createdAt: components["schemas"]["UnixSeconds"];
            readonly expiresAt: components["schemas"]["UnixSeconds"] & unknown;
            readonly status: components["schemas"]["PolicyStatus"];
            /** @example false */
            readonly triggered: boolean;
            /** @example false */
            readonly expired: boolean;
            /**
             * @description The product's name, the preimage of its id (keccak256); null when unknown.
             * @example FLASHBTC1H-001
             */
            readonly productName: string | null;
            readonly purchasedAt: components["schemas"]["UnixSeconds"];
            /**
             * @description End of the waiting period, Unix seconds; null when the product has none.
             * @example null
             */
            readonly waitingEndsAt: Decimal | null;
            /** @description Whether the product can still be bought. */
            readonly productActive: boolean;
            readonly priceSnapshot: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Unix seconds; null until triggered.
             * @example null
             */
            readonly triggeredAt: Decimal | null;
            /**
             * @description Epoch (YYYYMM) of the bond that paid the policy; null until triggered.
             * @example null
             */
            readonly bondId: Decimal | null;
            /**
             * @description The asset's price in USD at purchase, 18 decimals; null when unknown.
             * @example 60000000000000000000000
             */
            readonly strikePrice: Decimal | null;
            /**
             * @description The highest price of the asset in USD, 18 decimals, that triggers the policy; null when unknown.
             * @example 58500000000000000000000
             */
            readonly triggerPrice: Decimal | null;
            /**
             * @description The asset's price in USD, 18 decimals: the newest round of its feed; null when unknown.
             * @example 59000000000000000000000
             */
            readonly currentPrice: Decimal | null;
            /**
             * @description The time of that round, Unix seconds.
             * @example 1767225900
             */
            readonly currentPriceAt: Decimal | null;
            /**
             * @description How far the price has to fall to `triggerPrice`, in basis points of `currentPrice`, rounded up: zero at the trigger price, not above zero below it. Null when unknown, or when the policy is neither `Waiting` nor `Active`.
             * @example 85
             */
            readonly distanceToTriggerBps: number | null;
            /**
             * @description Whether a trigger submitted now would be paid: three rounds of the feed are at or below `triggerPrice`, the newest at most an hour old, the global pause is off, and the sequencer has been up for an hour. Null when `source` is `chain`: only the index knows all rounds.
             * @example false
             */
            readonly due: boolean | null;
            /**
             * @description The call that prepares the claim's transaction. Add `from` to its body, the wallet that will send the transaction; any wallet may, and the bond goes to the buyer. Null unless `due` is true.
             * @example null
             */
            readonly claim: {
                /** @enum {string} */
                readonly method: "POST";
                /** @enum {string} */
                readonly path: "/api/v1/triggers/prepare";
                readonly body: {
                    readonly productId: components["schemas"]["Bytes32"];
                    readonly policyId: components["schemas"]["DecimalString"] & unknown;
                };
            } | null;
            /**
             * @description Read from the index, or from the contracts while the index lacks the policy or lags.
             * @enum {string}
             */
            readonly source: "index" | "chain";
            readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
        };
        /**
         * @description `Triggered` or `Cancelled` after that event. Otherwise by the block's time: `Waiting` before `waitingEndsAt`, `Expired` after `expiresAt`, `Active` between them.
         * @example Active
         * @enum {string}
         */
        readonly PolicyStatus: "Waiting" | "Active" | "Triggered" | "Expired" | "Cancelled";
        readonly PolicyList: {
            readonly buyer: components["schemas"]["Address"];
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            /**
             * @description All policies of the buyer, also of other times.
             * @example 1
             */
            readonly total: number;
            readonly policies: readonly components["schemas"]["IndexedPolicy"][];
        };
        readonly IndexedPolicy: components["schemas"]["Policy"] & {
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Place of the purchase's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly PolicySearch: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly policies: readonly components["schemas"]["FoundPolicy"][];
        };
        readonly FoundPolicy: components["schemas"]["IndexedPolicy"] & {
            /**
             * @description `distanceToTriggerBps` as a percentage of `currentPrice`, with 2 digits: how far the price has to fall. Null as that field.
             * @example 0.85
             */
            readonly distanceToTriggerPercent: string | null;
        };
        readonly NearestPolicies: {
            /**
             * @description Policies in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description All active policies with a known distance.
             * @example 1
             */
            readonly total: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            readonly policies: readonly components["schemas"]["FoundPolicy"][];
        };
        readonly PurchaseReceipt: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * Format: uuid
             * @description For `GET /api/v1/purchases/{id}`.
             * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
             */
            readonly purchaseId: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            /** @example 1234 */
            readonly blockNumber: number | null;
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            readonly buyer: components["schemas"]["Address"];
            readonly productId: components["schemas"]["Bytes32"];
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly premiumPaid: components["schemas"]["DecimalString"] & unknown;
        };
        readonly Purchase: {
            /**
             * Format: uuid
             * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
             */
            readonly purchaseId: string;
            /**
             * @description `accepted`: recorded; `signed`, `broadcast`: in progress; `mined`: bought; `confirmed`: bought, with enough confirmations; `failed`: `failure` says why; `replaced`: not mined in time, replaced by an empty transfer on the same nonce, nothing was bought.
             * @example mined
             * @enum {string}
             */
            readonly state: "accepted" | "signed" | "broadcast" | "mined" | "confirmed" | "failed" | "replaced";
            readonly createdAt: components["schemas"]["Timestamp"];
            readonly productId: components["schemas"]["Bytes32"];
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly asset: components["schemas"]["Bytes32"] & unknown;
            readonly buyer: components["schemas"]["Address"];
            /**
             * @description Null until signed.
             * @example 0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465
             */
            readonly txHash: string | null;
            /** @description Null until mined. */
            readonly receipt: {
                /** @enum {boolean} */
                readonly ok: true;
                /**
                 * Format: uuid
                 * @description For `GET /api/v1/purchases/{id}`.
                 * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
                 */
                readonly purchaseId: string;
                readonly txHash: components["schemas"]["Bytes32"] & unknown;
                /** @example 1234 */
                readonly blockNumber: number | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                readonly buyer: components["schemas"]["Address"];
                readonly productId: components["schemas"]["Bytes32"];
                readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
                readonly premiumPaid: components["schemas"]["DecimalString"] & unknown;
            } | null;
            /**
             * @description Null unless failed or replaced. `error` is the code that the purchase call returns.
             * @example null
             */
            readonly failure: {
                /** @example onchain_revert */
                readonly error: string;
                readonly message: string;
            } | null;
        };
        /**
         * @example {
         *       "productName": "FLASHBTC1H-001",
         *       "coverageAmount": "1000000000",
         *       "buyer": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
         *     }
         */
        readonly PurchaseRequest: {
            /**
             * @description Id of the product. Give this or `productName`; if both, they must agree.
             * @example 0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd
             */
            readonly productId?: string;
            /**
             * @description One of the six names.
             * @example FLASHBTC1H-001
             */
            readonly productName?: string;
            /**
             * Format: uint256
             * @description Coverage, USDC base units (6 decimals); at least 100000000.
             * @example 1000000000
             */
            readonly coverageAmount: string;
            /**
             * @description The covered asset's symbol as bytes32; by default the product's.
             * @example 0x4254430000000000000000000000000000000000000000000000000000000000
             */
            readonly asset?: string;
            readonly buyer: components["schemas"]["Address"] & unknown;
            /**
             * Format: uint256
             * @description Refuse the purchase if its premium is higher, USDC base units (6 decimals). A premium that rises after acceptance refuses it in any case.
             * @example 3000000
             */
            readonly maxPremium?: string;
            readonly permit?: components["schemas"]["Permit"];
        } | unknown | unknown;
        /** @description In place of an approval: the buyer's EIP-2612 permit of USDC for the cover router. It is sent before the purchase, and not at all where the allowance is as high already. It never lowers an allowance. */
        readonly Permit: {
            /**
             * Format: uint256
             * @description The allowance, USDC base units (6 decimals): the premium, and the premiums of the buyer's purchases in flight.
             * @example 2920000
             */
            readonly value: string;
            /**
             * Format: uint256
             * @description Unix seconds; at least 15 minutes after the newest block.
             * @example 1767225600
             */
            readonly deadline: string;
            /**
             * @description Of the buyer: 65 bytes of a plain account, or what a contract wallet's ERC-1271 takes.
             * @example 0xd90a9c0e5f8fb8ef0a7660156b34c3063949929aad192d25b8c8b2a22a05b581486eb4c3ee687a3017944beab9c602dcfe6d16e841f3bd5e76b29f3efcbc28f51c
             */
            readonly signature: string;
        };
        readonly IssuedKey: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the key.
             * @example 1
             */
            readonly keyId: number;
            /**
             * @description The key. It is shown only in this response.
             * @example lk_5d1c0f6be27a94d3b8e1427fa0c6d95e3b7148f2ca60d7915e84b3f2a09c6d7e
             */
            readonly apiKey: string;
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Determines the key's rate limit.
             * @example free
             * @enum {string}
             */
            readonly tier: "free" | "paid";
            /** @example trading bot */
            readonly label: string | null;
            /**
             * @description What the key is for. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks. Public reads need none.
             * @example [
             *       "read",
             *       "buy"
             *     ]
             */
            readonly scopes: readonly ("read" | "buy" | "webhooks")[];
            /**
             * @description The products that it may buy: names, and ids of products without one. Null: all.
             * @example [
             *       "FLASHBTC1H-001"
             *     ]
             */
            readonly products: readonly string[] | null;
            /**
             * @description The most premium of one purchase, USDC base units; null: no limit.
             * @example 10000000
             */
            readonly maxPremiumPerPurchase: Decimal | null;
            /**
             * @description The most premium of all purchases that are accepted in a UTC day, USDC base units; null: no limit. A purchase counts with the premium that was quoted, unless it fails.
             * @example 50000000
             */
            readonly maxPremiumPerDay: Decimal | null;
            readonly createdAt: components["schemas"]["Timestamp"];
            /** @example Store this key now: it cannot be shown again. */
            readonly warning: string;
        };
        readonly Onboard: {
            readonly walletAddress: components["schemas"]["Address"] & unknown;
            /**
             * @description Signature by EIP-191 `personal_sign` of `message`, or of `Service onboarding for {address} at {timestamp}` with the address as in `walletAddress`, in lowercase, or with its checksum. Contract wallets sign by ERC-1271 or ERC-6492.
             * @example 0xd90a9c0e5f8fb8ef0a7660156b34c3063949929aad192d25b8c8b2a22a05b581486eb4c3ee687a3017944beab9c602dcfe6d16e841f3bd5e76b29f3efcbc28f51c
             */
            readonly signature: string;
            /**
             * @description Required without `message`: the signed timestamp in Unix seconds, within 300 seconds of the server's time.
             * @example 1767225600
             */
            readonly timestamp?: number;
            /**
             * @description Instead of `timestamp`, and recommended, because the signature counts for this service alone: the signed EIP-4361 message (Sign-In with Ethereum). It names `walletAddress`, this API's host as its domain and the main chain's id, and was issued within 300 seconds of the server's time.
             * @example cover.example wants you to sign in with your Ethereum account:
             *     0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
             *
             *     Make an API key.
             *
             *     URI: https://cover.example
             *     Version: 1
             *     Chain ID: 8453
             *     Nonce: 5d1c0f6be27a94d3
             *     Issued At: 2026-01-01T00:00:00Z
             */
            readonly message?: string;
            /**
             * @description Purpose of the key, at most 100 characters.
             * @example trading bot
             */
            readonly label?: string;
            /**
             * @description The id of an active key of this wallet, which is revoked in the same moment: for a wallet that has lost its keys. The message of `cap_reached` names them.
             * @example 7
             */
            readonly replaces?: number;
            /**
             * @description What the key is for; by default everything. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks.
             * @example [
             *       "read",
             *       "buy"
             *     ]
             */
            readonly scopes?: readonly ("read" | "buy" | "webhooks")[];
            /**
             * @description The products that the key may buy, by name or id; by default all.
             * @example [
             *       "FLASHBTC1H-001"
             *     ]
             */
            readonly products?: readonly string[];
            /**
             * Format: uint256
             * @description The most premium of one purchase, USDC base units; by default no limit.
             * @example 10000000
             */
            readonly maxPremiumPerPurchase?: string;
            /**
             * Format: uint256
             * @description The most premium of all purchases that are accepted in a UTC day, USDC base units; by default no limit.
             * @example 50000000
             */
            readonly maxPremiumPerDay?: string;
        };
        readonly RecordedDelegation: {
            /**
             * @description Id of the delegation.
             * @example 1
             */
            readonly delegationId: number;
            readonly buyer: components["schemas"]["Address"];
            readonly agent: components["schemas"]["Address"] & unknown;
            readonly totalPremiumCap: components["schemas"]["DecimalString"] & unknown;
            readonly premiumSpent: components["schemas"]["DecimalString"] & unknown;
            readonly premiumRemaining: components["schemas"]["DecimalString"] & unknown;
            readonly expiry: components["schemas"]["UnixSeconds"] & unknown;
            readonly nonce: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description `active`: purchases may be made under it; `exhausted`: the cap is used up; `expired`, `revoked`: no purchase is accepted any more.
             * @enum {string}
             */
            readonly status: "active" | "exhausted" | "expired" | "revoked";
            readonly createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Null unless revoked.
             * @example null
             */
            readonly revokedAt: string | null;
            /** @enum {boolean} */
            readonly ok: true;
        };
        /**
         * @example {
         *       "buyer": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *       "agent": "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
         *       "totalPremiumCap": "100000000",
         *       "expiry": "1769904000",
         *       "nonce": "1",
         *       "signature": "0xd90a9c0e5f8fb8ef0a7660156b34c3063949929aad192d25b8c8b2a22a05b581486eb4c3ee687a3017944beab9c602dcfe6d16e841f3bd5e76b29f3efcbc28f51c"
         *     }
         */
        readonly NewDelegation: {
            readonly buyer: components["schemas"]["Address"] & unknown;
            readonly agent: components["schemas"]["Address"] & unknown;
            /**
             * Format: uint256
             * @description Maximum sum of all premiums, USDC base units (6 decimals).
             * @example 100000000
             */
            readonly totalPremiumCap: string;
            /**
             * @description End of the delegation, Unix seconds.
             * @example 1767225600
             */
            readonly expiry: string;
            /**
             * Format: uint256
             * @description Any number; delegations with otherwise equal terms need different ones.
             * @example 1
             */
            readonly nonce: string;
            /**
             * @description The buyer's signature by EIP-712. The domain has only `chainId` and `verifyingContract` (the cover router); the primary type is `Delegation(address buyer,address agent,uint256 totalPremiumCap,uint256 expiry,uint256 nonce)`. Contract wallets sign by ERC-1271 or ERC-6492.
             * @example 0xd90a9c0e5f8fb8ef0a7660156b34c3063949929aad192d25b8c8b2a22a05b581486eb4c3ee687a3017944beab9c602dcfe6d16e841f3bd5e76b29f3efcbc28f51c
             */
            readonly signature: string;
        };
        readonly DelegationList: {
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Delegations in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description Delegations of the wallet.
             * @example 1
             */
            readonly total: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            readonly delegations: readonly components["schemas"]["Delegation"][];
        };
        readonly Delegation: {
            /**
             * @description Id of the delegation.
             * @example 1
             */
            readonly delegationId: number;
            readonly buyer: components["schemas"]["Address"];
            readonly agent: components["schemas"]["Address"] & unknown;
            readonly totalPremiumCap: components["schemas"]["DecimalString"] & unknown;
            readonly premiumSpent: components["schemas"]["DecimalString"] & unknown;
            readonly premiumRemaining: components["schemas"]["DecimalString"] & unknown;
            readonly expiry: components["schemas"]["UnixSeconds"] & unknown;
            readonly nonce: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description `active`: purchases may be made under it; `exhausted`: the cap is used up; `expired`, `revoked`: no purchase is accepted any more.
             * @enum {string}
             */
            readonly status: "active" | "exhausted" | "expired" | "revoked";
            readonly createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Null unless revoked.
             * @example null
             */
            readonly revokedAt: string | null;
        };
        readonly RevokedDelegation: {
            /** @enum {boolean} */
            readonly ok: true;
            /** @example 1 */
            readonly delegationId: number;
            readonly revokedAt: components["schemas"]["Timestamp"];
        };
        readonly GenerateKey: {
            readonly wallet: components["schemas"]["Address"] & unknown;
            /**
             * @description Purpose of the key, at most 100 characters.
             * @example trading bot
             */
            readonly label?: string;
            /**
             * @description Determines the key's rate limit.
             * @default free
             * @example free
             * @enum {string}
             */
            readonly tier: "free" | "paid";
            /**
             * @description What the key is for; by default everything. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks.
             * @example [
             *       "read",
             *       "buy"
             *     ]
             */
            readonly scopes?: readonly ("read" | "buy" | "webhooks")[];
            /**
             * @description The products that the key may buy, by name or id; by default all.
             * @example [
             *       "FLASHBTC1H-001"
             *     ]
             */
            readonly products?: readonly string[];
            /**
             * Format: uint256
             * @description The most premium of one purchase, USDC base units; by default no limit.
             * @example 10000000
             */
            readonly maxPremiumPerPurchase?: string;
            /**
             * Format: uint256
             * @description The most premium of all purchases that are accepted in a UTC day, USDC base units; by default no limit.
             * @example 50000000
             */
            readonly maxPremiumPerDay?: string;
        };
        readonly RevokedKey: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the key.
             * @example 1
             */
            readonly keyId: number;
            readonly revokedAt: components["schemas"]["Timestamp"] & unknown;
        };
        readonly Me: {
            /** @enum {boolean} */
            readonly ok: true;
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Determines the key's rate limit.
             * @example free
             * @enum {string}
             */
            readonly tier: "free" | "paid";
            /**
             * @description Id of the key.
             * @example 1
             */
            readonly keyId: number;
            /**
             * @description What the key is for. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks. Public reads need none.
             * @example [
             *       "read",
             *       "buy"
             *     ]
             */
            readonly scopes: readonly ("read" | "buy" | "webhooks")[];
            /**
             * @description The products that it may buy: names, and ids of products without one. Null: all.
             * @example [
             *       "FLASHBTC1H-001"
             *     ]
             */
            readonly products: readonly string[] | null;
            /**
             * @description The most premium of one purchase, USDC base units; null: no limit.
             * @example 10000000
             */
            readonly maxPremiumPerPurchase: Decimal | null;
            /**
             * @description The most premium of all purchases that are accepted in a UTC day, USDC base units; null: no limit. A purchase counts with the premium that was quoted, unless it fails.
             * @example 50000000
             */
            readonly maxPremiumPerDay: Decimal | null;
            /**
             * @description What the key may still spend on premiums in this UTC day, USDC base units; null without a limit per day.
             * @example 47400000
             */
            readonly premiumLeftToday: Decimal | null;
        };
        readonly ApiKeyList: {
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Keys in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description Active keys of the wallet.
             * @example 1
             */
            readonly total: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            readonly keys: readonly components["schemas"]["ApiKey"][];
        };
        readonly ApiKey: {
            /**
             * @description Id of the key.
             * @example 1
             */
            readonly keyId: number;
            /** @example trading bot */
            readonly label: string | null;
            /**
             * @description Determines the key's rate limit.
             * @example free
             * @enum {string}
             */
            readonly tier: "free" | "paid";
            /**
             * @description What the key is for. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks. Public reads need none.
             * @example [
             *       "read",
             *       "buy"
             *     ]
             */
            readonly scopes: readonly ("read" | "buy" | "webhooks")[];
            /**
             * @description The products that it may buy: names, and ids of products without one. Null: all.
             * @example [
             *       "FLASHBTC1H-001"
             *     ]
             */
            readonly products: readonly string[] | null;
            /**
             * @description The most premium of one purchase, USDC base units; null: no limit.
             * @example 10000000
             */
            readonly maxPremiumPerPurchase: Decimal | null;
            /**
             * @description The most premium of all purchases that are accepted in a UTC day, USDC base units; null: no limit. A purchase counts with the premium that was quoted, unless it fails.
             * @example 50000000
             */
            readonly maxPremiumPerDay: Decimal | null;
            readonly createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Accurate to the minute; null if never used.
             * @example 2026-01-01T00:00:00.000Z
             */
            readonly lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description Null: a revoked key is not listed.
             * @example null
             */
            readonly revokedAt: string | null;
            /**
             * @description First 8 hex digits of the key's SHA-256, to recognise a key that you have.
             * @example 3f1c8a90
             */
            readonly hashPrefix: string;
            /**
             * @description Whether this request uses the key.
             * @example true
             */
            readonly current: boolean;
        };
        readonly AnyKeyList: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly keys: readonly components["schemas"]["AnyKey"][];
        };
        readonly AnyKey: {
            /**
             * @description Id of the key.
             * @example 1
             */
            readonly keyId: number;
            /**
             * @description First 8 hex digits of the key's SHA-256, to recognise a key that you have.
             * @example 3f1c8a90
             */
            readonly hashPrefix: string;
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Determines the key's rate limit.
             * @example free
             * @enum {string}
             */
            readonly tier: "free" | "paid";
            /** @example trading bot */
            readonly label: string | null;
            readonly createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Accurate to the minute; null if never used.
             * @example 2026-01-01T00:00:00.000Z
             */
            readonly lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description Null while the key is accepted.
             * @example null
             */
            readonly revokedAt: string | null;
        };
        readonly StopList: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly stops: readonly components["schemas"]["StopInForce"][];
        };
        readonly StopInForce: {
            /**
             * @description `global`: no purchase is accepted, and no transaction signed or sent. `keeper`: the keeper sends nothing. `wallet`: a wallet of the service sends nothing, or a client's wallet buys nothing with any of its keys. `key`: one key buys nothing.
             * @example wallet
             * @enum {string}
             */
            readonly scope: "global" | "keeper" | "wallet" | "key";
            /**
             * @description The stopped wallet; null in other scopes.
             * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
             */
            readonly wallet: string | null;
            /**
             * @description The stopped key; null in other scopes.
             * @example null
             */
            readonly keyId: number | null;
            /**
             * @description As the operator wrote it.
             * @example asked by its owner
             */
            readonly reason: string;
            readonly since: components["schemas"]["Timestamp"];
            /**
             * @description `api`: by this API, with the admin token. `command line`: by `npm run ledger`.
             * @example api
             * @enum {string}
             */
            readonly setBy: "api" | "command line";
            /**
             * @description The command that lifts the stop. No call of this API does.
             * @example npm run ledger -- resume wallet 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
             */
            readonly resume: string;
        };
        readonly SetStop: components["schemas"]["StopInForce"] & {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Whether the stop was in force before: then `reason` and `since` are those of the first call.
             * @example false
             */
            readonly alreadyStopped: boolean;
            /**
             * @description Set if no writer sends from the wallet and it has no API key: the address may be wrong.
             * @example null
             */
            readonly warning: string | null;
        };
        readonly NewStop: {
            /**
             * @description `global`: no purchase is accepted, and no transaction signed or sent. `keeper`: the keeper sends nothing. `wallet`: a wallet of the service sends nothing, or a client's wallet buys nothing with any of its keys. `key`: one key buys nothing.
             * @example wallet
             * @enum {string}
             */
            readonly scope: "global" | "keeper" | "wallet" | "key";
            /**
             * @description Required with scope `wallet`, and refused with any other.
             * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
             */
            readonly wallet?: string;
            /**
             * @description Required with scope `key`, and refused with any other.
             * @example 1
             */
            readonly keyId?: number;
            /**
             * @description Why, for the next operator: one line, at most 200 characters.
             * @example asked by its owner
             */
            readonly reason: string;
        };
        readonly Ledger: {
            /** @description Every wallet of the service. */
            readonly wallets: readonly components["schemas"]["LedgerWallet"][];
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            /** @description Transactions that may still be mined, oldest first: one page. */
            readonly inFlight: readonly components["schemas"]["LedgerFlight"][];
            /**
             * @description Purchases and service transactions without a nonce.
             * @example 0
             */
            readonly waitingTotal: number;
            /** @description The oldest of them. */
            readonly waiting: readonly components["schemas"]["LedgerWaiting"][];
            /** @description Service transactions that failed in the last 24 hours, newest first. */
            readonly failed: readonly components["schemas"]["LedgerFailure"][];
            /** @description Nonces that the ledger lacks below transactions in flight. */
            readonly nonceGaps: readonly components["schemas"]["NonceGap"][];
            /** @description Clients that may not buy, because three of their purchases reverted within an hour. */
            readonly pausedClients: readonly components["schemas"]["PausedClient"][];
            /** @description Gas of this UTC day and its budgets. */
            readonly gas: readonly components["schemas"]["LedgerGas"][];
            /** @description Spent on transactions signed since midnight UTC. */
            readonly spendingByWallet: readonly components["schemas"]["WalletSpending"][];
            /** @description The same by API key, highest gas cost first. */
            readonly spendingByKey: readonly components["schemas"]["KeySpending"][];
            /** @description The keeper's work that has failed, and times in which none was at work; null if none ever was. */
            readonly keeper: {
                readonly failedTasks: readonly components["schemas"]["KeeperFailure"][];
                readonly absences: readonly components["schemas"]["KeeperAbsence"][];
            } | null;
        };
        readonly LedgerWallet: {
            /** @example 8453 */
            readonly chainId: number;
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description What the wallet sends.
             * @example relayer
             * @enum {string}
             */
            readonly role: "relayer" | "keeper" | "sandbox" | "faucet";
            /**
             * @description The next transaction's nonce; null before the wallet's first use.
             * @example 13
             */
            readonly nextNonce: Decimal | null;
            /**
             * @description Transactions that have a nonce and are in no block.
             * @example 1
             */
            readonly inFlight: number;
            /**
             * @description Age of the oldest of them; null when there is none.
             * @example 3.2
             */
            readonly oldestSeconds: number | null;
            /**
             * @description Transactions that the chain has and the ledger lacks. Above 0 nothing new is signed.
             * @example 0
             */
            readonly unknownTransactions: number;
            /**
             * @description Transactions are in flight, and no writer has held the wallet for a minute.
             * @example false
             */
            readonly abandoned: boolean;
            /**
             * @description Scope of the stop that covers it; null when none does.
             * @example null
             * @enum {string|null}
             */
            readonly stoppedBy: "global" | "keeper" | "wallet" | null;
            /**
             * @description Why its writer cannot sign with it now, in words; null when it can.
             * @example null
             */
            readonly fault: string | null;
            /**
             * @description The writer that holds it; null when none does.
             * @example host-4711-1f0c6be2
             */
            readonly writer: string | null;
        };
        readonly LedgerFlight: {
            /** @example 8453 */
            readonly chainId: number;
            readonly wallet: components["schemas"]["Address"];
            readonly nonce: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description `filler`: an empty transfer that closes a gap between nonces.
             * @example purchase
             * @enum {string}
             */
            readonly kind: "purchase" | "permit" | "service_transaction" | "filler";
            /**
             * @description `accepted`: it has a nonce only; `signed`: no node has taken it; `broadcast`: one has. Null of a filler.
             * @example broadcast
             * @enum {string|null}
             */
            readonly state: "accepted" | "signed" | "broadcast" | null;
            /**
             * @description Of a transaction of the service itself; null of a purchase, a permit and a filler.
             * @example null
             * @enum {string|null}
             */
            readonly purpose: "faucet_ether" | "faucet_usdc" | "sandbox_ether" | "sandbox_usdc" | "sandbox_approval" | "keeper_trigger" | "keeper_expire" | "keeper_queue" | null;
            /**
             * @description The purchase (of a permit, its purchase) or service transaction, for `npm run ledger -- show <id>`; null of a filler.
             * @example 7f1f6a52-5b7e-4f0a-9c0e-2b1d6c1f0a11
             */
            readonly id: string | null;
            /**
             * @description Time since it got its nonce, or since a reorganisation took its block.
             * @example 3.2
             */
            readonly ageSeconds: number;
            /**
             * @description Signed forms; later ones pay higher fees.
             * @example 1
             */
            readonly attempts: number;
            /**
             * @description Whether one of them cancels the call.
             * @example false
             */
            readonly cancels: boolean;
            /**
             * @description Wei, of the newest form; null before the first.
             * @example 2000000000
             */
            readonly maxFeePerGas: Decimal | null;
            /**
             * @description Wei, of the newest form; null before the first.
             * @example 1000000000
             */
            readonly maxPriorityFeePerGas: Decimal | null;
            /**
             * @description Time since the newest form was sent; null if it never was.
             * @example 3.2
             */
            readonly lastSentSeconds: number | null;
        };
        readonly LedgerWaiting: {
            /** @example 8453 */
            readonly chainId: number;
            /** @description For `npm run ledger -- show <id>`. */
            readonly id: string;
            /**
             * @description Of a transaction of the service itself; null of a purchase, a permit and a filler.
             * @example null
             * @enum {string|null}
             */
            readonly purpose: "faucet_ether" | "faucet_usdc" | "sandbox_ether" | "sandbox_usdc" | "sandbox_approval" | "keeper_trigger" | "keeper_expire" | "keeper_queue" | null;
            /**
             * @description The key that bought; null without one.
             * @example 1
             */
            readonly keyId: Decimal | null;
            readonly wallet: components["schemas"]["Address"] & unknown;
            /**
             * @description Time since it was accepted.
             * @example 3.2
             */
            readonly ageSeconds: number;
        };
        readonly LedgerFailure: {
            /** @example 8453 */
            readonly chainId: number;
            readonly id: string;
            /** @enum {string} */
            readonly purpose: "faucet_ether" | "faucet_usdc" | "sandbox_ether" | "sandbox_usdc" | "sandbox_approval" | "keeper_trigger" | "keeper_expire" | "keeper_queue";
            /**
             * @description Time since it failed.
             * @example 3.2
             */
            readonly ageSeconds: number;
            /** @example onchain_revert */
            readonly code: string;
            readonly message: string;
            /**
             * @description With a hash it reverted in a block; null when nothing was signed.
             * @example null
             */
            readonly txHash: string | null;
        };
        readonly NonceGap: {
            /** @example 8453 */
            readonly chainId: number;
            readonly wallet: components["schemas"]["Address"];
            readonly nonce: components["schemas"]["DecimalString"] & unknown;
        };
        readonly PausedClient: {
            readonly wallet: components["schemas"]["Address"];
            readonly until: components["schemas"]["Timestamp"];
        };
        readonly LedgerGas: {
            /** @example 8453 */
            readonly chainId: number;
            /**
             * @description `keeper`: its wallet, which has a budget of its own; `others`: all other wallets of the chain.
             * @example others
             * @enum {string}
             */
            readonly of: "others" | "keeper";
            readonly spent: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description The most for a UTC day; null before a writer has noted it.
             * @example 5000000000000000000
             */
            readonly budget: Decimal | null;
            /**
             * @description The most for the purchases of one wallet's keys; null of the keeper.
             * @example 500000000000000000
             */
            readonly budgetPerClient: Decimal | null;
        };
        readonly WalletSpending: {
            /** @example 8453 */
            readonly chainId: number;
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description What the wallet sends.
             * @example relayer
             * @enum {string}
             */
            readonly role: "relayer" | "keeper" | "sandbox" | "faucet";
            /**
             * @description Transactions in blocks.
             * @example 1
             */
            readonly transactions: number;
            readonly gas: components["schemas"]["DecimalString"] & unknown;
            readonly sent: components["schemas"]["DecimalString"] & unknown;
        };
        readonly KeySpending: {
            readonly keyId: components["schemas"]["DecimalString"] & unknown;
            readonly wallet: components["schemas"]["Address"];
            /** @example trading bot */
            readonly label: string | null;
            /**
             * @description Purchases in blocks.
             * @example 1
             */
            readonly purchases: number;
            /**
             * @description Those that reverted.
             * @example 0
             */
            readonly reverted: number;
            readonly gas: components["schemas"]["DecimalString"] & unknown;
            readonly premiums: components["schemas"]["DecimalString"] & unknown;
        };
        readonly KeeperFailure: {
            /** @example 8453 */
            readonly chainId: number;
            /** @enum {string} */
            readonly purpose: "trigger" | "expire" | "queue";
            /**
             * @description Null for the redemption queue.
             * @example null
             */
            readonly productId: string | null;
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Failures in a row.
             * @example 1
             */
            readonly failures: number;
            readonly failure: string;
            /**
             * @description Time until the next try; below 0: at the next look.
             * @example 5
             */
            readonly nextTrySeconds: number;
        };
        readonly KeeperAbsence: {
            /** @example 8453 */
            readonly chainId: number;
            readonly from: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Null while it lasts.
             * @example null
             */
            readonly to: string | null;
        };
        readonly LateWebhookList: {
            readonly backlog: {
                /**
                 * @description Deliveries that are not made yet.
                 * @example 3
                 */
                readonly pending: number;
                /**
                 * @description Seconds since the oldest due delivery became due; null when none is due.
                 * @example 0.4
                 */
                readonly oldestDueSeconds: number | null;
                /**
                 * @description Undeliverable webhooks.
                 * @example 0
                 */
                readonly undeliverable: number;
                /**
                 * @description The newest block whose events are in the outbox.
                 * @example 317
                 */
                readonly processedBlock: Decimal | null;
            };
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly webhooks: readonly components["schemas"]["LateWebhook"][];
        };
        readonly LateWebhook: {
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            /** @example 8453 */
            readonly chainId: number;
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Host of the webhook's URL, and its port if that is not 443. The rest is the subscriber's.
             * @example example.com
             */
            readonly host: string;
            /**
             * @description `undeliverable`: nothing is sent until its owner calls `POST …/retry`.
             * @enum {string}
             */
            readonly state: "active" | "undeliverable";
            /**
             * Format: date-time
             * @description Null while active.
             * @example null
             */
            readonly undeliverableSince: string | null;
            /**
             * @description Deliveries that were not made; 10000 stands for any number from there on.
             * @example 3
             */
            readonly undelivered: number;
            /**
             * @description Failed attempts of the oldest of them; null when there is none.
             * @example 2
             */
            readonly failures: number | null;
            /**
             * Format: date-time
             * @description When the oldest of them was created; null when there is none.
             * @example 2026-01-01T00:00:00.000Z
             */
            readonly oldestPendingAt: string | null;
            /**
             * Format: date-time
             * @description When it is tried next; null while undeliverable.
             * @example null
             */
            readonly nextAttemptAt: string | null;
        };
        readonly CreatedWebhook: {
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            /**
             * @description The normalised URL.
             * @example https://example.com/hook
             */
            readonly url: string;
            /**
             * @description Names of event types, or `*` alone.
             * @example [
             *       "policy_triggered",
             *       "bond_redeemed"
             *     ]
             */
            readonly events: readonly string[];
            /**
             * @description `undeliverable`: seven attempts for one event have failed over about 39 hours; nothing is sent until `POST …/retry`.
             * @enum {string}
             */
            readonly state: "active" | "undeliverable";
            /**
             * Format: date-time
             * @description Null while active.
             * @example null
             */
            readonly undeliverableSince: string | null;
            readonly fromBlock: components["schemas"]["DecimalString"] & unknown;
            /**
             * Format: date-time
             * @description Until then the previous secret signs too; null if there is none.
             * @example null
             */
            readonly previousSecretValidUntil: string | null;
            readonly createdAt: components["schemas"]["Timestamp"];
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Signs the deliveries; shown only in this response. The HMAC key is these 64 characters; libraries for Standard Webhooks take `whsec_` and their base64.
             * @example 8c1f4b7e02d95a63f1b84ce7306da92f5be07c4183d6a95f20e7b1c84d3a6f9e
             */
            readonly secret: string;
            /** @example Store this secret now: it cannot be shown again. */
            readonly warning: string;
        };
        /**
         * @example {
         *       "url": "https://example.com/hook",
         *       "events": [
         *         "policy_triggered",
         *         "bond_redeemed"
         *       ]
         *     }
         */
        readonly NewWebhook: {
            /**
             * @description Receives the events: https, port 443, a public address; at most 2048 characters, no user name or password. Redirects are not followed. The host's addresses are checked now and before each delivery.
             * @example https://example.com/hook
             */
            readonly url: string;
            /**
             * @description Event types to send: `*` for all events of the own wallet, including types of later versions, or one name or a list of names. Burns, which are of no wallet, are sent to webhooks that name `token_burned`. `event_reverted` is always sent for events that were sent, so it cannot be the only name.
             * @example *
             */
            readonly events: ("policy_purchased" | "policy_due" | "policy_triggered" | "policy_expired" | "policy_cancelled" | "bond_minted" | "bond_queued" | "bond_redeemed" | "listing_created" | "listing_purchased" | "listing_cancelled" | "token_burned" | "event_reverted" | "*") | readonly ("policy_purchased" | "policy_due" | "policy_triggered" | "policy_expired" | "policy_cancelled" | "bond_minted" | "bond_queued" | "bond_redeemed" | "listing_created" | "listing_purchased" | "listing_cancelled" | "token_burned" | "event_reverted" | "*")[];
        };
        readonly WebhookList: {
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Webhooks in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description Webhooks of the wallet.
             * @example 1
             */
            readonly total: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            readonly webhooks: readonly components["schemas"]["Webhook"][];
        };
        readonly Webhook: {
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            /**
             * @description The normalised URL.
             * @example https://example.com/hook
             */
            readonly url: string;
            /**
             * @description Names of event types, or `*` alone.
             * @example [
             *       "policy_triggered",
             *       "bond_redeemed"
             *     ]
             */
            readonly events: readonly string[];
            /**
             * @description `undeliverable`: seven attempts for one event have failed over about 39 hours; nothing is sent until `POST …/retry`.
             * @enum {string}
             */
            readonly state: "active" | "undeliverable";
            /**
             * Format: date-time
             * @description Null while active.
             * @example null
             */
            readonly undeliverableSince: string | null;
            readonly fromBlock: components["schemas"]["DecimalString"] & unknown;
            /**
             * Format: date-time
             * @description Until then the previous secret signs too; null if there is none.
             * @example null
             */
            readonly previousSecretValidUntil: string | null;
            readonly createdAt: components["schemas"]["Timestamp"];
        };
        readonly DeletedWebhook: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
        };
        readonly RotatedSecret: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            /**
             * @description Signs the deliveries; shown only in this response. The HMAC key is these 64 characters; libraries for Standard Webhooks take `whsec_` and their base64.
             * @example 8c1f4b7e02d95a63f1b84ce7306da92f5be07c4183d6a95f20e7b1c84d3a6f9e
             */
            readonly secret: string;
            /** @example Store this secret now: it cannot be shown again. */
            readonly warning: string;
            readonly previousSecretValidUntil: components["schemas"]["Timestamp"] & unknown;
        };
        readonly ScheduledDeliveries: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            /**
             * @description Scheduled deliveries, including running ones, which continue.
             * @example 3
             */
            readonly scheduled: number;
        };
        readonly TestedWebhook: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            /** @example true */
            readonly delivered: boolean;
            readonly delivery: components["schemas"]["Delivery"];
        };
        readonly Delivery: {
            /**
             * @description Id of the delivery.
             * @example 12
             */
            readonly id: number;
            /**
             * @description The event's `id`.
             * @example evt_2b9c40d7e1f58a6374c0d91be85f2a63
             */
            readonly eventId: string;
            /**
             * @example policy_purchased
             * @enum {string}
             */
            readonly eventType: "policy_purchased" | "policy_due" | "policy_triggered" | "policy_expired" | "policy_cancelled" | "bond_minted" | "bond_queued" | "bond_redeemed" | "listing_created" | "listing_purchased" | "listing_cancelled" | "token_burned" | "event_reverted" | "webhook_test";
            /**
             * @description `delivering`: in progress; `retry_scheduled`: the last attempt failed, the next is at `nextAttemptAt`; `delivered`; `undeliverable`: given up until the webhook is re-enabled; `cancelled`: a reorganisation removed the event before it was delivered.
             * @example delivered
             * @enum {string}
             */
            readonly state: "delivering" | "retry_scheduled" | "delivered" | "undeliverable" | "cancelled";
            /**
             * @description True for a test, which is attempted once.
             * @example false
             */
            readonly test: boolean;
            /** @description Oldest first. */
            readonly attempts: readonly components["schemas"]["DeliveryAttempt"][];
            /**
             * Format: date-time
             * @description Null unless `retry_scheduled`.
             * @example null
             */
            readonly nextAttemptAt: string | null;
            readonly createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Time of the last successful attempt; null if never delivered.
             * @example 2026-01-01T00:00:00.000Z
             */
            readonly deliveredAt: string | null;
        };
        readonly DeliveryAttempt: {
            readonly at: components["schemas"]["Timestamp"] & unknown;
            /**
             * @description Milliseconds.
             * @example 84
             */
            readonly durationMs: number;
            /**
             * @description `delivered`: a status of 2xx; `refused`: any other; `timeout`: no status within ten seconds; `connection_failed`: the connection failed or broke; `target_refused`: the URL leads to an address that is not allowed, and nothing was sent.
             * @enum {string}
             */
            readonly outcome: "delivered" | "refused" | "timeout" | "connection_failed" | "target_refused";
            /**
             * @description HTTP status of the response; null without one.
             * @example 200
             */
            readonly status: number | null;
            /**
             * @description Reason of the failure; null when delivered.
             * @example null
             */
            readonly error: string | null;
            /**
             * @description First 2 kB of the response; null without one.
             * @example ok
             */
            readonly response: string | null;
        };
        readonly DeliveryList: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly deliveries: readonly (components["schemas"]["Delivery"] | components["schemas"]["FlatDelivery"])[];
        };
        readonly FlatDelivery: {
            /**
             * @description Id of the delivery.
             * @example 12
             */
            readonly id: number;
            /**
             * @description The event's `id`.
             * @example evt_2b9c40d7e1f58a6374c0d91be85f2a63
             */
            readonly eventId: string;
            /**
             * @example policy_purchased
             * @enum {string}
             */
            readonly event: "policy_purchased" | "policy_due" | "policy_triggered" | "policy_expired" | "policy_cancelled" | "bond_minted" | "bond_queued" | "bond_redeemed" | "listing_created" | "listing_purchased" | "listing_cancelled" | "token_burned" | "event_reverted" | "webhook_test";
            /**
             * @description `delivering`: in progress; `retry_scheduled`: the last attempt failed, the next is at `nextAttemptAt`; `delivered`; `undeliverable`: given up until the webhook is re-enabled; `cancelled`: a reorganisation removed the event before it was delivered.
             * @example delivered
             * @enum {string}
             */
            readonly status: "delivering" | "retry_scheduled" | "delivered" | "undeliverable" | "cancelled";
            /**
             * @description Number of attempts so far, counted up to 20.
             * @example 1
             */
            readonly attempts: number;
            /**
             * @description HTTP status of the last attempt's response; null without one.
             * @example 200
             */
            readonly responseCode: number | null;
            /**
             * Format: date-time
             * @description Null unless `retry_scheduled`.
             * @example null
             */
            readonly nextAttemptAt: string | null;
            readonly createdAt: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Time of the last successful attempt; null if never delivered.
             * @example 2026-01-01T00:00:00.000Z
             */
            readonly deliveredAt: string | null;
        };
        readonly ReplayedDelivery: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description Id of the webhook.
             * @example 1
             */
            readonly id: number;
            readonly delivery: components["schemas"]["Delivery"];
        };
        readonly BurnStats: {
            readonly total_token_burned: components["schemas"]["DecimalString"] & unknown;
            readonly total_usdc_volume: components["schemas"]["DecimalString"] & unknown;
            readonly last_30_days_burned: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of burns.
             * @example 12
             */
            readonly burns_count: number;
            /** @description Every day of the period, from its first burn to today, oldest first; days without burns are zero. */
            readonly by_day: readonly {
                /**
                 * @description UTC day.
                 * @example 2026-01-31
                 */
                readonly day: string;
                readonly token_burned: components["schemas"]["DecimalString"] & unknown;
                readonly usdc_spent: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Number of burns.
                 * @example 1
                 */
                readonly burns: number;
            }[];
            /** @description Each kind of burner, and `direct` for burns without a burner contract. */
            readonly by_source: readonly {
                /** @enum {string} */
                readonly source: "twap_burner" | "buyback_engine" | "direct";
                readonly token_burned: components["schemas"]["DecimalString"] & unknown;
                readonly usdc_spent: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Number of burns.
                 * @example 1
                 */
                readonly burns: number;
            }[];
        };
        readonly ProtocolStats: {
            /**
             * @description Policies with status `Active`.
             * @example 3
             */
            readonly active_policies: number;
            /**
             * @description Policies with status `Waiting`.
             * @example 0
             */
            readonly waiting_policies: number;
            /**
             * @description Policies bought so far.
             * @example 40
             */
            readonly policies_total: number;
            /**
             * @description Triggered policies.
             * @example 4
             */
            readonly policies_triggered: number;
            /**
             * @description Cancelled policies.
             * @example 1
             */
            readonly policies_cancelled: number;
            readonly coverage_total: components["schemas"]["DecimalString"] & unknown;
            readonly bonds_outstanding_usd: components["schemas"]["DecimalString"] & unknown;
            readonly bonds_queued_usd: components["schemas"]["DecimalString"] & unknown;
            readonly total_premium_collected: components["schemas"]["DecimalString"] & unknown;
            readonly total_premium_refunded: components["schemas"]["DecimalString"] & unknown;
            readonly marketplace_volume_total: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of sales.
             * @example 7
             */
            readonly marketplace_sales: number;
            /**
             * @description Active listings.
             * @example 2
             */
            readonly active_listings: number;
            readonly token_total_burned: components["schemas"]["DecimalString"] & unknown;
            readonly token_circulating: components["schemas"]["DecimalString"] & unknown;
        };
        readonly ActivityFeed: {
            readonly events: readonly components["schemas"]["Activity"][];
            /**
             * @description Events in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
        };
        readonly Activity: {
            /** @enum {string} */
            readonly type: "policy_purchased" | "bond_minted" | "bond_redeemed" | "marketplace_buy" | "token_burned";
            readonly actor: components["schemas"]["Address"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description `productId:policyId`, the bond's epoch, the listing's id, or the burn's source.
             * @example 0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd:1
             */
            readonly ref: string;
            readonly tx_hash: components["schemas"]["Bytes32"] & unknown;
            readonly block_number: components["schemas"]["DecimalString"] & unknown;
            readonly block_timestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly log_index: number;
        };
        readonly PriceHistory: {
            /** @enum {string} */
            readonly range: "24h" | "7d" | "30d" | "all";
            /**
             * @description Start of the range or `from`, whichever is later, Unix seconds; null for neither.
             * @example 1767225600
             */
            readonly from: Decimal | null;
            /**
             * @description Points in this response.
             * @example 1
             */
            readonly count: number;
            readonly points: readonly components["schemas"]["PricePoint"][];
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
        };
        readonly PricePoint: {
            readonly timestamp: components["schemas"]["UnixSeconds"];
            readonly price: components["schemas"]["DecimalString"] & unknown;
            readonly token_burned: components["schemas"]["DecimalString"] & unknown;
            readonly usdc_spent: components["schemas"]["DecimalString"] & unknown;
            /** @enum {string} */
            readonly source: "twap_burner" | "buyback_engine";
            readonly tx_hash: components["schemas"]["Bytes32"] & unknown;
            readonly block_number: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly log_index: number;
        };
        readonly Cover: {
            /** @description Policies with status `Active`. */
            readonly active: {
                /**
                 * @description Active policies.
                 * @example 3
                 */
                readonly policies: number;
                readonly coverage: components["schemas"]["DecimalString"] & unknown;
                readonly payout: components["schemas"]["DecimalString"] & unknown;
            };
            /** @description Policies with status `Waiting`: bought, and their waiting period has not ended. */
            readonly waiting: {
                /**
                 * @description Waiting policies.
                 * @example 3
                 */
                readonly policies: number;
                readonly coverage: components["schemas"]["DecimalString"] & unknown;
                readonly payout: components["schemas"]["DecimalString"] & unknown;
            };
            /** @description Every product that the index knows, by name; without open policies it has zeros. */
            readonly by_product: readonly {
                readonly product_id: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC1H-001
                 */
                readonly product_name: string | null;
                /** @description Policies with status `Active`. */
                readonly active: {
                    /**
                     * @description Active policies.
                     * @example 3
                     */
                    readonly policies: number;
                    readonly coverage: components["schemas"]["DecimalString"] & unknown;
                    readonly payout: components["schemas"]["DecimalString"] & unknown;
                };
                /** @description Policies with status `Waiting`: bought, and their waiting period has not ended. */
                readonly waiting: {
                    /**
                     * @description Waiting policies.
                     * @example 3
                     */
                    readonly policies: number;
                    readonly coverage: components["schemas"]["DecimalString"] & unknown;
                    readonly payout: components["schemas"]["DecimalString"] & unknown;
                };
            }[];
            /** @description Each asset with open policies. */
            readonly by_asset: readonly {
                /**
                 * @description The covered asset's symbol as bytes32; null when unknown.
                 * @example 0x4254430000000000000000000000000000000000000000000000000000000000
                 */
                readonly asset: string | null;
                /**
                 * @description Null when unknown.
                 * @example BTC
                 */
                readonly symbol: string | null;
                /** @description Policies with status `Active`. */
                readonly active: {
                    /**
                     * @description Active policies.
                     * @example 3
                     */
                    readonly policies: number;
                    readonly coverage: components["schemas"]["DecimalString"] & unknown;
                    readonly payout: components["schemas"]["DecimalString"] & unknown;
                };
                /** @description Policies with status `Waiting`: bought, and their waiting period has not ended. */
                readonly waiting: {
                    /**
                     * @description Waiting policies.
                     * @example 3
                     */
                    readonly policies: number;
                    readonly coverage: components["schemas"]["DecimalString"] & unknown;
                    readonly payout: components["schemas"]["DecimalString"] & unknown;
                };
            }[];
            /** @description By the time that is left until expiry: an hour, 6 hours, a day, 2 days, 7 days, longer. */
            readonly by_expiry: readonly {
                /**
                 * @description Later than so many seconds after the indexed block; 0 includes the block's time.
                 * @example 0
                 */
                readonly after_seconds: number;
                /**
                 * @description At most so many seconds after it; null for all that expire later.
                 * @example 3600
                 */
                readonly within_seconds: number | null;
                /** @description Policies with status `Active`. */
                readonly active: {
                    /**
                     * @description Active policies.
                     * @example 3
                     */
                    readonly policies: number;
                    readonly coverage: components["schemas"]["DecimalString"] & unknown;
                    readonly payout: components["schemas"]["DecimalString"] & unknown;
                };
                /** @description Policies with status `Waiting`: bought, and their waiting period has not ended. */
                readonly waiting: {
                    /**
                     * @description Waiting policies.
                     * @example 3
                     */
                    readonly policies: number;
                    readonly coverage: components["schemas"]["DecimalString"] & unknown;
                    readonly payout: components["schemas"]["DecimalString"] & unknown;
                };
            }[];
        };
        readonly ProductStats: {
            /** @description Every product that an event has named, and every one with policies that count, by name. */
            readonly products: readonly {
                readonly product_id: components["schemas"]["Bytes32"];
                /**
                 * @description Null when unknown.
                 * @example FLASHBTC1H-001
                 */
                readonly product_name: string | null;
                /**
                 * @description The covered asset's symbol as bytes32; null when unknown.
                 * @example 0x4254430000000000000000000000000000000000000000000000000000000000
                 */
                readonly asset: string | null;
                /**
                 * @description Policies bought.
                 * @example 40
                 */
                readonly policies: number;
                /**
                 * @description Policies with status `Active`.
                 * @example 3
                 */
                readonly active: number;
                /**
                 * @description Policies with status `Waiting`.
                 * @example 0
                 */
                readonly waiting: number;
                /**
                 * @description Triggered policies.
                 * @example 4
                 */
                readonly triggered: number;
                /**
                 * @description Policies with status `Expired`: their cover ended without a trigger, closed on chain or not.
                 * @example 32
                 */
                readonly expired: number;
                /**
                 * @description Cancelled policies.
                 * @example 1
                 */
                readonly cancelled: number;
                readonly coverage: components["schemas"]["DecimalString"] & unknown;
                readonly premium: components["schemas"]["DecimalString"] & unknown;
                readonly premium_refunded: components["schemas"]["DecimalString"] & unknown;
                readonly payout: components["schemas"]["DecimalString"] & unknown;
                readonly paid: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description `paid` divided by the premiums that were not refunded; null without any. Bonds count with their face value, which is due two years later. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 14.940552
                 */
                readonly loss_ratio: string | null;
                /**
                 * @description `triggered` divided by `triggered` and `expired` together: the share of ended policies that were triggered. Null before the first one ended. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 0.111111
                 */
                readonly realised_trigger_rate: string | null;
                /**
                 * @description `premium` divided by `payout`: if this share of the payout were triggered, premiums would equal payouts. Null without policies. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 0.003650
                 */
                readonly break_even_trigger_rate: string | null;
                /**
                 * @description Half of `break_even_trigger_rate`: the probability of a trigger from which the premiums were computed, because a premium is twice the expected payout (margin 2.00). Weighted by payout, where `realised_trigger_rate` counts policies. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 0.001825
                 */
                readonly modelled_trigger_rate: string | null;
            }[];
            /** @description The same over all products. */
            readonly total: {
                /**
                 * @description Policies bought.
                 * @example 40
                 */
                readonly policies: number;
                /**
                 * @description Policies with status `Active`.
                 * @example 3
                 */
                readonly active: number;
                /**
                 * @description Policies with status `Waiting`.
                 * @example 0
                 */
                readonly waiting: number;
                /**
                 * @description Triggered policies.
                 * @example 4
                 */
                readonly triggered: number;
                /**
                 * @description Policies with status `Expired`: their cover ended without a trigger, closed on chain or not.
                 * @example 32
                 */
                readonly expired: number;
                /**
                 * @description Cancelled policies.
                 * @example 1
                 */
                readonly cancelled: number;
                readonly coverage: components["schemas"]["DecimalString"] & unknown;
                readonly premium: components["schemas"]["DecimalString"] & unknown;
                readonly premium_refunded: components["schemas"]["DecimalString"] & unknown;
                readonly payout: components["schemas"]["DecimalString"] & unknown;
                readonly paid: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description `paid` divided by the premiums that were not refunded; null without any. Bonds count with their face value, which is due two years later. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 14.940552
                 */
                readonly loss_ratio: string | null;
                /**
                 * @description `triggered` divided by `triggered` and `expired` together: the share of ended policies that were triggered. Null before the first one ended. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 0.111111
                 */
                readonly realised_trigger_rate: string | null;
                /**
                 * @description `premium` divided by `payout`: if this share of the payout were triggered, premiums would equal payouts. Null without policies. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 0.003650
                 */
                readonly break_even_trigger_rate: string | null;
                /**
                 * @description Half of `break_even_trigger_rate`: the probability of a trigger from which the premiums were computed, because a premium is twice the expected payout (margin 2.00). Weighted by payout, where `realised_trigger_rate` counts policies. A decimal fraction with 6 digits, rounded towards zero.
                 * @example 0.001825
                 */
                readonly modelled_trigger_rate: string | null;
            };
        };
        readonly Series: {
            /** @enum {string} */
            readonly metric: "premiums" | "cover" | "policies" | "payouts" | "triggers" | "burns" | "bond_sales" | "new_buyers" | "returning_buyers";
            /** @enum {string} */
            readonly interval: "day" | "week" | "month";
            /**
             * @description Null for all products.
             * @example null
             */
            readonly product: string | null;
            /**
             * @description Of `value`: `usdc` has 6 decimals, `token` 18, `dollars` are whole dollars of face value.
             * @example usdc
             * @enum {string}
             */
            readonly unit: "usdc" | "dollars" | "token" | "count";
            /**
             * @description Buckets in this response.
             * @example 1
             */
            readonly count: number;
            readonly buckets: readonly components["schemas"]["SeriesBucket"][];
        };
        readonly SeriesBucket: {
            /**
             * @description First UTC day of the bucket.
             * @example 2026-01-31
             */
            readonly day: string;
            /**
             * @description Start of the bucket, Unix seconds.
             * @example 1767225600
             */
            readonly start: string;
            readonly end: components["schemas"]["UnixSeconds"] & unknown;
            /** @description Whether it ended before the indexed block. */
            readonly complete: boolean;
            /**
             * @description In `unit`.
             * @example 52600000
             */
            readonly value: Decimal;
            /**
             * @description Policies, triggers, burns, sales or buyers behind the value.
             * @example 1
             */
            readonly events: number;
        };
        readonly ClaimFeed: {
            readonly claims: readonly components["schemas"]["Claim"][];
            /**
             * @description Claims in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
        };
        readonly Claim: {
            readonly product_id: components["schemas"]["Bytes32"];
            /**
             * @description Null when unknown.
             * @example FLASHBTC1H-001
             */
            readonly product_name: string | null;
            readonly policy_id: components["schemas"]["DecimalString"] & unknown;
            readonly buyer: components["schemas"]["Address"] & unknown;
            /**
             * @description The account that called the contracts: of triggers in a batch the batch's contract. Null when unknown.
             * @example 0x90F79bf6EB2c4f870365E785982E1f101E93b906
             */
            readonly submitter: string | null;
            readonly paid: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description The month (YYYYMM) in which that bond matures; null when unknown.
             * @example 202812
             */
            readonly bond_epoch: Decimal | null;
            /**
             * @description Coverage of the policy. Null when the index does not know the policy. USDC, 6 decimals.
             * @example 1000000000
             */
            readonly coverage: Decimal | null;
            /**
             * @description What the policy promised; `paid` is this in whole dollars, rounded down. Null when the index does not know the policy. USDC, 6 decimals.
             * @example 800000000
             */
            readonly payout: Decimal | null;
            /**
             * @description Premium of the policy. Null when the index does not know the policy. USDC, 6 decimals.
             * @example 2920000
             */
            readonly premium: Decimal | null;
            /**
             * @description The covered asset's symbol as bytes32; null when unknown.
             * @example 0x4254430000000000000000000000000000000000000000000000000000000000
             */
            readonly asset: string | null;
            /**
             * @description The asset's price in USD at purchase, 18 decimals; null when unknown.
             * @example 60000000000000000000000
             */
            readonly strike_price: Decimal | null;
            /**
             * @description The highest price of the asset in USD, 18 decimals, that triggered the policy; null when unknown.
             * @example 58500000000000000000000
             */
            readonly trigger_price: Decimal | null;
            /**
             * @description When the policy was bought, Unix seconds. Null when the index does not know the policy.
             * @example 1767225600
             */
            readonly bought_at: Decimal | null;
            /**
             * @description Block time since when three rounds of the feed at or below `trigger_price` counted for the policy: from then on the condition was met. A round of a new aggregator counts once the feed answers from it. Null when the index does not know these rounds.
             * @example 1767226800
             */
            readonly proven_at: Decimal | null;
            readonly triggered_at: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * @description From `bought_at` to `triggered_at`; null as `bought_at`.
             * @example 1260
             */
            readonly seconds_to_trigger: number | null;
            /**
             * @description From `proven_at` to `triggered_at`: how long the claim was not yet submitted; null as `proven_at`.
             * @example 60
             */
            readonly seconds_from_proof: number | null;
            readonly tx_hash: components["schemas"]["Bytes32"] & unknown;
            readonly block_number: components["schemas"]["DecimalString"] & unknown;
            readonly block_timestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly log_index: number;
        };
        readonly VaultStats: {
            readonly reserve_token: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Their value at `token_price`. Null without `token_price`. USDC, 6 decimals.
             * @example 2000000000000
             */
            readonly reserve_usdc: Decimal | null;
            readonly reserved_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly obligations_usd: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description What new policies may pay out: `reserve_usdc` minus `reserved_usdc` and `obligations_usd`, not below 0. Null without `token_price`. USDC, 6 decimals.
             * @example 1835700000000
             */
            readonly capacity_usdc: Decimal | null;
            /**
             * @description Part of the reserve that is taken: `reserved_usdc` and `obligations_usd` divided by `reserve_usdc`. Null without a price or a reserve. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.082150
             */
            readonly utilisation: string | null;
            /**
             * @description `reserve_usdc` divided by `obligations_usd`: below 1 the reserve does not cover the bonds. Null without a price or obligations. A decimal fraction with 6 digits, rounded towards zero.
             * @example 23.724792
             */
            readonly solvency_ratio: string | null;
            /**
             * @description Total value locked, as an adapter counts it: all tokens that back cover, which is `reserve_usdc`. They are the protocol's own token, which DefiLlama shows apart from other TVL. Null without `token_price`. USDC, 6 decimals.
             * @example 2000000000000
             */
            readonly tvl_usdc: Decimal | null;
            /** @description The newest price that an indexed event names: of a purchase, a burn or a redemption. Each is the answer of the token's feed in its block, at most an hour old then; the feed may have moved since. Null before the first such event. */
            readonly token_price: {
                readonly price: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description The kind of event that named it.
                 * @example purchase
                 * @enum {string}
                 */
                readonly source: "purchase" | "burn" | "redemption";
                readonly block_number: components["schemas"]["DecimalString"] & unknown;
                readonly observed_at: components["schemas"]["UnixSeconds"] & unknown;
                /**
                 * @description Seconds from then to the indexed block.
                 * @example 12
                 */
                readonly age_seconds: number;
            } | null;
        };
        readonly BondMaturities: {
            readonly epochs: readonly components["schemas"]["BondMaturity"][];
            /** @description The sums over all epochs. */
            readonly total: {
                readonly minted_usd: components["schemas"]["DecimalString"] & unknown;
                readonly redeemed_usd: components["schemas"]["DecimalString"] & unknown;
                readonly queued_usd: components["schemas"]["DecimalString"] & unknown;
                readonly surrendered_usd: components["schemas"]["DecimalString"] & unknown;
                readonly outstanding_usd: components["schemas"]["DecimalString"] & unknown;
                readonly listed_usd: components["schemas"]["DecimalString"] & unknown;
            };
        };
        readonly BondMaturity: {
            readonly epoch_id: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Unix seconds; null when unknown.
             * @example 1861919999
             */
            readonly maturity_date: Decimal | null;
            /** @description Whether the bonds are redeemable at the block's time. */
            readonly matured: boolean;
            readonly minted_usd: components["schemas"]["DecimalString"] & unknown;
            readonly redeemed_usd: components["schemas"]["DecimalString"] & unknown;
            readonly queued_usd: components["schemas"]["DecimalString"] & unknown;
            readonly surrendered_usd: components["schemas"]["DecimalString"] & unknown;
            readonly outstanding_usd: components["schemas"]["DecimalString"] & unknown;
            readonly listed_usd: components["schemas"]["DecimalString"] & unknown;
        };
        readonly RedemptionQueue: {
            readonly entries: readonly components["schemas"]["QueueEntry"][];
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
            readonly waiting: {
                /**
                 * @description Waiting entries.
                 * @example 1
                 */
                readonly entries: number;
                readonly usd: components["schemas"]["DecimalString"] & unknown;
                readonly due_usd: components["schemas"]["DecimalString"] & unknown;
            };
            readonly throttle: {
                readonly week: components["schemas"]["DecimalString"] & unknown;
                readonly ends_at: components["schemas"]["UnixSeconds"] & unknown;
                readonly limit_token: components["schemas"]["DecimalString"] & unknown;
                readonly paid_token: components["schemas"]["DecimalString"] & unknown;
                readonly left_token: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Its value at `token_price`. A redemption is paid at once if it and the due entries fit in. Null without a price. USDC, 6 decimals.
                 * @example 20600000000
                 */
                readonly left_usdc: Decimal | null;
            };
            /** @description The newest price that an indexed event names: of a purchase, a burn or a redemption. Each is the answer of the token's feed in its block, at most an hour old then; the feed may have moved since. Null before the first such event. */
            readonly token_price: {
                readonly price: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description The kind of event that named it.
                 * @example purchase
                 * @enum {string}
                 */
                readonly source: "purchase" | "burn" | "redemption";
                readonly block_number: components["schemas"]["DecimalString"] & unknown;
                readonly observed_at: components["schemas"]["UnixSeconds"] & unknown;
                /**
                 * @description Seconds from then to the indexed block.
                 * @example 12
                 */
                readonly age_seconds: number;
            } | null;
        };
        readonly QueueEntry: {
            readonly queue_id: components["schemas"]["DecimalString"] & unknown;
            readonly holder: components["schemas"]["Address"];
            readonly epoch_id: components["schemas"]["DecimalString"] & unknown;
            readonly usd_amount: components["schemas"]["DecimalString"] & unknown;
            readonly ahead_usd: components["schemas"]["DecimalString"] & unknown;
            readonly target_week: components["schemas"]["DecimalString"] & unknown;
            readonly payable_from: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * @description Start of the week in which the vault will pay it, or of the current week, Unix seconds: by the throttle's rules, if the price stays at `token_price`, nobody redeems at once or changes the reserve, and the queue is processed each week. Null without a price, and when the reserve does not suffice.
             * @example 1785369600
             */
            readonly expected_from: Decimal | null;
            readonly tx_hash: components["schemas"]["Bytes32"] & unknown;
            readonly block_number: components["schemas"]["DecimalString"] & unknown;
            readonly block_timestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly log_index: number;
        };
        readonly BondHolders: {
            readonly holders: readonly components["schemas"]["BondHolder"][];
            /**
             * @description Holders in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
            /**
             * @description Number of holders.
             * @example 12
             */
            readonly holders_total: number;
            readonly outstanding_usd: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Part of these that the ten largest holders have; null without bonds. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.981000
             */
            readonly top_10_share: string | null;
            /** @description Every epoch, the earliest first, whether or not one is given. */
            readonly by_epoch: readonly components["schemas"]["EpochHolders"][];
        };
        readonly BondHolder: {
            readonly holder: components["schemas"]["Address"];
            readonly bonds_usd: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Its part of all bonds in circulation. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.542081
             */
            readonly share: string | null;
        };
        readonly EpochHolders: {
            readonly epoch_id: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of its holders.
             * @example 9
             */
            readonly holders: number;
            readonly outstanding_usd: components["schemas"]["DecimalString"] & unknown;
        };
        readonly Buyers: {
            readonly buyers: readonly components["schemas"]["Buyer"][];
            /**
             * @description Buyers in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
            /**
             * @description Number of buyers.
             * @example 12
             */
            readonly buyers_total: number;
            readonly coverage_usdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Part of it that the ten largest buyers have; null without coverage. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.981000
             */
            readonly top_10_share: string | null;
        };
        readonly Buyer: {
            readonly buyer: components["schemas"]["Address"];
            /**
             * @description Policies bought.
             * @example 3
             */
            readonly policies: number;
            readonly coverage_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly premium_usdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Part of all coverage so far; null without coverage. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.784313
             */
            readonly share: string | null;
        };
        readonly MarketStatistics: {
            /** @description Every day of the period, from the first with a sale to the indexed block's, oldest first. */
            readonly by_day: readonly components["schemas"]["MarketDay"][];
            /** @description Every epoch with listings or sales so far, the earliest first. Sales are of all time. */
            readonly by_epoch: readonly components["schemas"]["MarketEpoch"][];
            /**
             * @description Lowest price of one bond, a dollar of face value, among all active listings; null without any. USDC, 6 decimals.
             * @example 980000
             */
            readonly floor_price: Decimal | null;
            /**
             * @description Sales of the 24 hours before the indexed block.
             * @example 1
             */
            readonly sales_24h: number;
            readonly volume_24h_usdc: components["schemas"]["DecimalString"] & unknown;
        };
        readonly MarketDay: {
            /**
             * @description UTC day.
             * @example 2026-01-31
             */
            readonly day: string;
            /**
             * @description Number of sales.
             * @example 7
             */
            readonly sales: number;
            readonly sold_usd: components["schemas"]["DecimalString"] & unknown;
            readonly volume_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly fees_usdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Price per bond in `sold_usd`, rounded down; null without any. USDC, 6 decimals.
             * @example 1101851
             */
            readonly average_price: Decimal | null;
        };
        readonly MarketEpoch: {
            readonly epoch_id: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Unix seconds; null when unknown.
             * @example 1861919999
             */
            readonly maturity_date: Decimal | null;
            /**
             * @description Active listings.
             * @example 2
             */
            readonly active_listings: number;
            readonly listed_usd: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Lowest price of one bond, a dollar of face value, among the epoch's active listings; null without any. USDC, 6 decimals.
             * @example 980000
             */
            readonly floor_price: Decimal | null;
            /**
             * @description `floor_price` divided by the face value of a dollar. Null without it. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.980000
             */
            readonly floor_to_face: string | null;
            /**
             * @description Yearly yield of a bond bought at `floor_price` before fees and paid with its face value at maturity, without compounding: (1 − floor_to_face) / floor_to_face × 365 days / time to maturity. Below 0 above the face value. Null without a floor, at a floor of 0, and from maturity on. A decimal fraction with 6 digits, rounded towards zero.
             * @example 0.010279
             */
            readonly implied_yield: string | null;
            /**
             * @description Number of sales.
             * @example 7
             */
            readonly sales: number;
            readonly sold_usd: components["schemas"]["DecimalString"] & unknown;
            readonly volume_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly fees_usdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Price per bond in `sold_usd`, rounded down; null without any. USDC, 6 decimals.
             * @example 1101851
             */
            readonly average_price: Decimal | null;
        };
        readonly BurnerStats: {
            /** @description Both burners on every day of the period, from the first with an event to the indexed block's, oldest first. */
            readonly by_day: readonly components["schemas"]["BurnerDay"][];
            /** @description Both burners with their sums of all time. */
            readonly burners: readonly components["schemas"]["Burner"][];
        };
        readonly BurnerDay: {
            /**
             * @description UTC day.
             * @example 2026-01-31
             */
            readonly day: string;
            /**
             * @description The burner contract: `twap_burner` receives premiums, `buyback_engine` the marketplace's fees.
             * @enum {string}
             */
            readonly source: "twap_burner" | "buyback_engine";
            readonly premium_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly fee_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly spent_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly token_burned: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of burns.
             * @example 3
             */
            readonly burns: number;
        };
        readonly Burner: {
            /**
             * @description The burner contract: `twap_burner` receives premiums, `buyback_engine` the marketplace's fees.
             * @enum {string}
             */
            readonly source: "twap_burner" | "buyback_engine";
            /**
             * @description The contract; null when the deployment does not name it.
             * @example 0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0
             */
            readonly address: string | null;
            readonly premium_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly fee_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly spent_usdc: components["schemas"]["DecimalString"] & unknown;
            readonly token_burned: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of burns.
             * @example 3
             */
            readonly burns: number;
            /**
             * @description Received and not spent yet: premiums and fees minus `spent_usdc`. USDC, 6 decimals. Below 0 if the burner also spent USDC that it got without an event.
             * @example 9060500000
             */
            readonly pending_usdc: string;
        };
        readonly Pauses: {
            readonly pauses: readonly components["schemas"]["Pause"][];
            /**
             * @description Pauses in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly next_cursor: string | null;
            readonly state: {
                /** @description The router, by its owner. */
                readonly router: {
                    /** @example false */
                    readonly paused: boolean;
                    /**
                     * @description Start of this state, Unix seconds; null if there was never a pause.
                     * @example 1767225600
                     */
                    readonly since: Decimal | null;
                };
                /** @description The router, by the token's price. */
                readonly auto: {
                    /** @example false */
                    readonly paused: boolean;
                    /**
                     * @description Start of this state, Unix seconds; null if there was never a pause.
                     * @example 1767225600
                     */
                    readonly since: Decimal | null;
                };
                /** @description Everything. */
                readonly global: {
                    /** @example false */
                    readonly paused: boolean;
                    /**
                     * @description Start of this state, Unix seconds; null if there was never a pause.
                     * @example 1767225600
                     */
                    readonly since: Decimal | null;
                };
            };
            /** @description The status of the chain's sequencer; null while unknown. */
            readonly sequencer: {
                /** @example true */
                readonly up: boolean;
                readonly since: components["schemas"]["UnixSeconds"] & unknown;
                /** @description Whether the contracts sell and pay cover: the sequencer is up for more than 3600 seconds. */
                readonly accepted: boolean;
            } | null;
        };
        readonly Pause: {
            /**
             * @description `router`: by the router's owner; `auto`: the router, while the token's price is too low; `global`: everything; `sequencer`: the chain's sequencer was down.
             * @enum {string}
             */
            readonly scope: "router" | "auto" | "global" | "sequencer";
            readonly started_at: components["schemas"]["UnixSeconds"];
            /**
             * @description Unix seconds; null while it lasts.
             * @example 1767229200
             */
            readonly ended_at: Decimal | null;
            /**
             * @description Until the end, or until the indexed block while it lasts; never negative.
             * @example 3600
             */
            readonly duration_seconds: number;
            /**
             * @description The account that began a global pause; null for the others.
             * @example null
             */
            readonly started_by: string | null;
            /**
             * @description The account that ended it.
             * @example null
             */
            readonly ended_by: string | null;
            /**
             * @description The token's price that began an automatic pause, USD with 18 decimals; null for the others.
             * @example null
             */
            readonly start_price: Decimal | null;
            /**
             * @description The price that ended it.
             * @example null
             */
            readonly end_price: Decimal | null;
            /**
             * @description Transaction that ended it; null while it lasts.
             * @example null
             */
            readonly end_tx_hash: string | null;
            readonly tx_hash: components["schemas"]["Bytes32"] & unknown;
            readonly block_number: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly log_index: number;
        };
        readonly Prices: {
            readonly feeds: readonly components["schemas"]["FeedPrice"][];
            /** @description The newest price that an indexed event names: of a purchase, a burn or a redemption. Each is the answer of the token's feed in its block, at most an hour old then; the feed may have moved since. Null before the first such event. */
            readonly token: {
                readonly price: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description The kind of event that named it.
                 * @example purchase
                 * @enum {string}
                 */
                readonly source: "purchase" | "burn" | "redemption";
                readonly block_number: components["schemas"]["DecimalString"] & unknown;
                readonly observed_at: components["schemas"]["UnixSeconds"] & unknown;
                /**
                 * @description Seconds from then to the indexed block.
                 * @example 12
                 */
                readonly age_seconds: number;
            } | null;
        };
        readonly FeedPrice: {
            /** @enum {string} */
            readonly symbol: "BTC" | "ETH";
            readonly asset: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description USD with 8 decimals, as the feed gives it.
             * @example 6000000000000
             */
            readonly answer: string | null;
            /**
             * @description The feed's round. Null before the first answer.
             * @example 18446744073709551617
             */
            readonly round_id: Decimal | null;
            /**
             * @description Time of the answer, Unix seconds. Null before the first answer.
             * @example 1767225600
             */
            readonly updated_at: Decimal | null;
            /**
             * @description Seconds from then to the indexed block.
             * @example 12
             */
            readonly age_seconds: number | null;
            /** @description Whether the shields accept it in the indexed block: above zero, and at most 3600 seconds old. */
            readonly fresh: boolean;
        };
        readonly AssetPriceHistory: {
            readonly asset: components["schemas"]["Bytes32"] & unknown;
            /** @enum {string} */
            readonly range: "1h" | "24h" | "7d" | "30d";
            readonly from: components["schemas"]["UnixSeconds"] & unknown;
            readonly to: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * @description Length of a step.
             * @example 300
             */
            readonly step_seconds: number;
            /**
             * @description Points in this response.
             * @example 1
             */
            readonly count: number;
            readonly points: readonly components["schemas"]["AssetPricePoint"][];
        };
        readonly AssetPricePoint: {
            readonly timestamp: components["schemas"]["UnixSeconds"] & unknown;
            readonly price: components["schemas"]["DecimalString"] & unknown;
            readonly lowest: components["schemas"]["DecimalString"] & unknown;
            readonly highest: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Rounds of the step; the answer of a new aggregator is one.
             * @example 1
             */
            readonly rounds: number;
        };
        readonly KeeperAudit: {
            /**
             * @description Policies that ended up to this block were audited; null where no keeper of this service has been at work.
             * @example 1234
             */
            readonly audited_to: Decimal | null;
            /** @description Every result, also those of no policy. Empty before the audit. */
            readonly results: readonly components["schemas"]["KeeperAuditResult"][];
        };
        readonly KeeperAuditResult: {
            /**
             * @description `missed`: a trigger would have been paid in some block, and nobody sent one; `missed_while_down`: the same, and no keeper of this service was at work in any of those blocks; `refused`: payable by the audit's reasoning, and refused by the contracts; `never_payable`: three rounds met the price, and no block could have paid.
             * @enum {string}
             */
            readonly result: "missed" | "missed_while_down" | "refused" | "never_payable";
            /**
             * @description Of `never_payable`: `sequencer_down`, `paused` (the global pause), `sequencer_down_and_paused`, `last_block` (the third round came in the window's last block), `stale` (the newest round was older than an hour in each block that was left), `payout_too_small` (below one dollar). Null for the others.
             * @enum {string|null}
             */
            readonly reason: "sequencer_down" | "paused" | "sequencer_down_and_paused" | "last_block" | "stale" | "payout_too_small" | null;
            /**
             * @description Policies with this result.
             * @example 0
             */
            readonly policies: number;
        };
        readonly LiveStats: {
            /** @description Price of the protocol token. */
            readonly tokenPrice: {
                /**
                 * @description USD, rounded to 6 places.
                 * @example 0.1
                 */
                readonly usd: number;
                readonly price: components["schemas"]["DecimalString"] & unknown;
                readonly updatedAt: components["schemas"]["UnixSeconds"] & unknown;
                /**
                 * @description Contract that the figures were read from.
                 * @example tokenUsdFeed
                 */
                readonly source: string;
            };
            /** @description The same as `tokenPrice`. */
            readonly luminaPrice: {
                /**
                 * @description USD, rounded to 6 places.
                 * @example 0.1
                 */
                readonly usd: number;
                readonly price: components["schemas"]["DecimalString"] & unknown;
                readonly updatedAt: components["schemas"]["UnixSeconds"] & unknown;
                /**
                 * @description Contract that the figures were read from.
                 * @example tokenUsdFeed
                 */
                readonly source: string;
            };
            /** @description The vault's reserve. */
            readonly bondReserve: {
                /**
                 * @description Tokens that back the bonds, with 2 places.
                 * @example 50000000.00
                 */
                readonly token: string;
                /**
                 * @description The same as `token`.
                 * @example 50000000.00
                 */
                readonly lumina: string;
                /**
                 * @description What they are worth at `tokenPrice`, USD with 2 places.
                 * @example 5000000.00
                 */
                readonly usd: string;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Contract that the figures were read from.
                 * @example bondVault
                 */
                readonly source: string;
            };
            /** @description What the vault has promised, and can still promise. */
            readonly capacity: {
                /**
                 * @description Committed part of what the vault can pay.
                 * @example 12.34%
                 */
                readonly usedPercent: string;
                /**
                 * @description Whole dollars of `committed`.
                 * @example 617000
                 */
                readonly committedUSD: string;
                /**
                 * @description Whole dollars of `available`.
                 * @example 4383000
                 */
                readonly availableUSD: string;
                readonly committed: components["schemas"]["DecimalString"] & unknown;
                readonly available: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Contract that the figures were read from.
                 * @example bondVault
                 */
                readonly source: string;
            };
            /** @description Supply of the protocol token: 100 million less the burned ones. */
            readonly totalSupply: {
                /**
                 * @description Whole tokens, with commas.
                 * @example 99,999,000
                 */
                readonly token: string;
                /**
                 * @description The same as `token`.
                 * @example 99,999,000
                 */
                readonly lumina: string;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description Contract that the figures were read from.
                 * @example protocolToken
                 */
                readonly source: string;
            };
            readonly chainStatus: {
                /** @example 8453 */
                readonly chainId: number;
                /** @example Base */
                readonly name: string;
                /**
                 * @description The block of all figures.
                 * @example 1234
                 */
                readonly blockNumber: number;
            };
            readonly lastUpdated: components["schemas"]["Timestamp"] & unknown;
            /**
             * @description True while the chain does not answer: then these are the last figures that were read.
             * @example false
             */
            readonly stale: boolean;
        };
        readonly BondList: {
            readonly owner: components["schemas"]["Address"];
            /**
             * @description Epochs in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description Epochs in which the owner holds bonds.
             * @example 1
             */
            readonly total: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            readonly totalAmount: components["schemas"]["DecimalString"] & unknown;
            readonly bonds: readonly components["schemas"]["BondHolding"][];
        };
        readonly BondHolding: {
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly owner: components["schemas"]["Address"];
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly faceValueUsd: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description When they become redeemable, Unix seconds; null when unknown.
             * @example 1861919999
             */
            readonly maturityDate: Decimal | null;
            /** @description Whether they are redeemable at the block's time. */
            readonly matured: boolean;
        };
        readonly WalletBondList: {
            readonly wallet: components["schemas"]["Address"];
            /**
             * @description Epochs with the status.
             * @example 1
             */
            readonly totalBonds: number;
            /**
             * @description The vault's price of the protocol token in USD, 18 decimals; null while its feed is stale or the chain does not answer.
             * @example 100000000000000000
             */
            readonly tokenPrice: Decimal | null;
            readonly bonds: readonly components["schemas"]["WalletBond"][];
            readonly pagination: {
                /** @example 100 */
                readonly limit: number;
                /** @example 0 */
                readonly offset: number;
                /**
                 * @description Whether another page follows.
                 * @example false
                 */
                readonly hasMore: boolean;
            };
        };
        readonly WalletBond: {
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly owner: components["schemas"]["Address"];
            readonly balance: components["schemas"]["DecimalString"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly redeemedAmount: components["schemas"]["DecimalString"] & unknown;
            readonly queuedAmount: components["schemas"]["DecimalString"] & unknown;
            readonly faceValue: components["schemas"]["DecimalString"] & unknown;
            readonly faceValueUsdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * Format: date-time
             * @description 730 days before the maturity: the issue that the epoch stands for.
             * @example 2027-01-01T23:59:59.000Z
             */
            readonly createdAt: string | null;
            /**
             * Format: date-time
             * @description When they become redeemable; null when unknown.
             * @example 2028-12-31T23:59:59.000Z
             */
            readonly maturityDate: string | null;
            /**
             * @description Whether they are redeemable at the block's time.
             * @example false
             */
            readonly isMatured: boolean;
            /**
             * @description The same as `isMatured`.
             * @example false
             */
            readonly matured: boolean;
            /**
             * @description Whether the wallet has redeemed them, and has none left: none held, none in the queue, none in an open listing.
             * @example false
             */
            readonly isRedeemed: boolean;
            /**
             * @description Protocol tokens (18 decimals) that a redemption of the bonds held would pay at `tokenPrice`; null without a price.
             * @example 8000000000000000000000
             */
            readonly tokenEquivalent: Decimal | null;
            /**
             * @description The same as `tokenEquivalent`.
             * @example 8000000000000000000000
             */
            readonly luminaEquivalent: Decimal | null;
        };
        readonly TriggerFeed: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly triggers: readonly components["schemas"]["TriggerSubmission"][];
        };
        readonly TriggerSubmission: {
            readonly productId: components["schemas"]["Bytes32"];
            /**
             * @description Null when unknown.
             * @example FLASHBTC1H-001
             */
            readonly productName: string | null;
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            readonly submitter: components["schemas"]["Address"] & unknown;
            /**
             * @description The policy's buyer, who received the bond.
             * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
             */
            readonly buyer: string | null;
            /**
             * @description Epoch (YYYYMM) of the bond that paid the policy.
             * @example 202812
             */
            readonly bondId: Decimal | null;
            /**
             * @description Face value of that bond in whole dollars.
             * @example 800
             */
            readonly bondAmount: Decimal | null;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockTimestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly DuePolicyList: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly policies: readonly components["schemas"]["DuePolicy"][];
        };
        readonly DuePolicy: {
            readonly productId: components["schemas"]["Bytes32"];
            /**
             * @description The product's name, the preimage of its id (keccak256); null when unknown.
             * @example FLASHBTC1H-001
             */
            readonly productName: string | null;
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            readonly buyer: components["schemas"]["Address"];
            readonly holder: components["schemas"]["Address"] & unknown;
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly payoutAmount: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description The asset's price in USD, 18 decimals: the newest round of its feed; null when unknown.
             * @example 59000000000000000000000
             */
            readonly currentPrice: Decimal | null;
            /**
             * @description The time of that round, Unix seconds.
             * @example 1767225900
             */
            readonly currentPriceAt: Decimal | null;
            readonly strikePrice: components["schemas"]["DecimalString"] & unknown;
            readonly triggerPrice: components["schemas"]["DecimalString"] & unknown;
            readonly expiresAt: components["schemas"]["UnixSeconds"] & unknown;
            readonly metAt: components["schemas"]["UnixSeconds"] & unknown;
            /** @description The three rounds of the proof, by rising id: the newest that count. */
            readonly rounds: readonly components["schemas"]["ProofRound"][];
            /**
             * @description The argument `oracleProof` of `submitTrigger`: `abi.encode(uint80[3])` of the rounds' ids.
             * @example 0x000000000000000000000000000000000000000000000001000000000000000400000000000000000000000000000000000000000000000100000000000000050000000000000000000000000000000000000000000000010000000000000006
             */
            readonly oracleProof: string;
            readonly validUntil: components["schemas"]["UnixSeconds"] & unknown;
            /** @description The call that prepares the claim's transaction. Add `from` to its body, the wallet that will send the transaction; any wallet may, and the bond goes to the buyer. */
            readonly claim: {
                /** @enum {string} */
                readonly method: "POST";
                /** @enum {string} */
                readonly path: "/api/v1/triggers/prepare";
                readonly body: {
                    readonly productId: components["schemas"]["Bytes32"];
                    readonly policyId: components["schemas"]["DecimalString"] & unknown;
                };
            };
        };
        readonly ProofRound: {
            readonly roundId: components["schemas"]["DecimalString"] & unknown;
            readonly price: components["schemas"]["DecimalString"] & unknown;
            readonly updatedAt: components["schemas"]["UnixSeconds"] & unknown;
        };
        readonly TriggerEvaluation: {
            readonly productId: components["schemas"]["Bytes32"];
            /**
             * @description The product's name, the preimage of its id (keccak256); null when unknown.
             * @example FLASHBTC1H-001
             */
            readonly productName: string | null;
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            readonly buyer: components["schemas"]["Address"];
            readonly holder: components["schemas"]["Address"] & unknown;
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly payoutAmount: components["schemas"]["DecimalString"] & unknown;
            readonly purchasedAt: components["schemas"]["UnixSeconds"];
            /**
             * @description The asset's price in USD at purchase, 18 decimals; null when unknown.
             * @example 60000000000000000000000
             */
            readonly strikePrice: Decimal | null;
            /**
             * @description The highest price of the asset in USD, 18 decimals, that triggers the policy; null when unknown.
             * @example 58500000000000000000000
             */
            readonly triggerPrice: Decimal | null;
            /**
             * @description The asset's price in USD, 18 decimals: the newest round of its feed; null when unknown.
             * @example 59000000000000000000000
             */
            readonly currentPrice: Decimal | null;
            /**
             * @description The time of that round, Unix seconds.
             * @example 1767225900
             */
            readonly currentPriceAt: Decimal | null;
            /**
             * @description How far the price has to fall to `triggerPrice`, in basis points of `currentPrice`, rounded up: zero at the trigger price, not above zero below it. Null when unknown, or when the policy is neither `Waiting` nor `Active`.
             * @example 85
             */
            readonly distanceToTriggerBps: number | null;
            /**
             * @description As in `GET /policies/{productId}/{policyId}`; null when the end of the cover is unknown.
             * @example Active
             * @enum {string|null}
             */
            readonly status: "Waiting" | "Active" | "Triggered" | "Expired" | "Cancelled" | null;
            /**
             * @description Prices count from then on, Unix seconds: the purchase, or the end of the waiting period. Null when unknown.
             * @example 1767225600
             */
            readonly coverFrom: Decimal | null;
            /**
             * @description Prices count until then, and the policy can be triggered until then, Unix seconds; null when unknown.
             * @example 1767229200
             */
            readonly expiresAt: Decimal | null;
            readonly verdict: components["schemas"]["TriggerVerdict"];
            /**
             * @description Rounds that count, three at most: as many as a trigger needs.
             * @example 1
             */
            readonly roundsCounted: number;
            /**
             * @description The time of the third round, by the rounds' own times, that is in the policy's window and at or below its trigger price: since then the condition is met. The policy may be due only since later, after a pause or an outage of the sequencer. Null before it.
             * @example null
             */
            readonly metAt: Decimal | null;
            /**
             * @description Rounds in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            /** @description Rounds of the asset's feed, the newest first by `updatedAt`: from the hour before the purchase, which has the round of the strike price, to the hour after the window. Empty when the window is unknown. */
            readonly rounds: readonly components["schemas"]["EvaluatedRound"][];
            /** @description What stops every trigger of the policy now, whatever the prices are. Empty for a policy that is not open any more. */
            readonly obstacles: readonly components["schemas"]["TriggerObstacle"][];
        };
        /** @description Whether the policy was paid, is due, or is not, and why; `code` says which. */
        readonly TriggerVerdict: {
            /**
             * @description The policy was paid.
             * @enum {string}
             */
            readonly code: "triggered";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            /**
             * @description The account that called the cover router, from the event. For a trigger that came in a batch it is the contract that made the calls (Multicall3), and not the sender of the transaction.
             * @example 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC
             */
            readonly submitter: string | null;
            /**
             * @description Epoch (YYYYMM) of the bond that paid the policy; null when unknown.
             * @example 202812
             */
            readonly bondId: Decimal | null;
            readonly bondAmount: components["schemas"]["DecimalString"] & unknown;
            readonly reason: components["schemas"]["Bytes32"] & unknown;
            /** @description The three rounds that proved the trigger, if only three could when it was mined. Null if more could: only the transaction's calldata names the chosen ones, and it is not indexed. */
            readonly provenBy: readonly (components["schemas"]["DecimalString"] & unknown)[] | null;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockTimestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        } | {
            /**
             * @description The owner cancelled the policy and refunded its premium.
             * @enum {string}
             */
            readonly code: "cancelled";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            readonly cancelledAt: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description A trigger submitted now would be paid.
             * @enum {string}
             */
            readonly code: "due";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            /** @description The three rounds of the proof, by rising id: the newest that count. */
            readonly rounds: readonly components["schemas"]["ProofRound"][];
            /**
             * @description The argument `oracleProof` of `submitTrigger`: `abi.encode(uint80[3])` of the rounds' ids.
             * @example 0x000000000000000000000000000000000000000000000001000000000000000400000000000000000000000000000000000000000000000100000000000000050000000000000000000000000000000000000000000000010000000000000006
             */
            readonly oracleProof: string;
            readonly validUntil: components["schemas"]["UnixSeconds"] & unknown;
            /** @description The call that prepares the claim's transaction. Add `from` to its body, the wallet that will send the transaction; any wallet may, and the bond goes to the buyer. */
            readonly claim: {
                /** @enum {string} */
                readonly method: "POST";
                /** @enum {string} */
                readonly path: "/api/v1/triggers/prepare";
                readonly body: {
                    readonly productId: components["schemas"]["Bytes32"];
                    readonly policyId: components["schemas"]["DecimalString"] & unknown;
                };
            };
        } | {
            /**
             * @description The waiting period has not ended: no price counts yet.
             * @enum {string}
             */
            readonly code: "waiting";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            readonly coverFrom: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description Fewer than three rounds count so far.
             * @enum {string}
             */
            readonly code: "not_met";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            /**
             * @description Rounds that are missing.
             * @example 2
             */
            readonly missing: number;
        } | {
            /**
             * @description Three rounds count, but the newest is more than an hour old: the shield takes no such proof. One more round at or below the trigger price makes the policy due again.
             * @enum {string}
             */
            readonly code: "met_but_stale";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            readonly freshUntil: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description Three rounds prove the trigger, but something else stops it: see `obstacles`.
             * @enum {string}
             */
            readonly code: "blocked";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            readonly freshUntil: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description The cover ended, and the policy was not triggered.
             * @enum {string}
             */
            readonly code: "expired";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            /**
             * @description Whether three rounds counted within the window. If so, either nobody submitted the trigger in time, or it could not be paid: in a pause, without the sequencer, or because the third round came too late.
             * @example false
             */
            readonly met: boolean;
            /**
             * @description When somebody closed the policy on chain, which frees its capacity; null until then.
             * @example 1767232900
             */
            readonly closedAt: Decimal | null;
        } | {
            /**
             * @description The index does not know enough to tell.
             * @enum {string}
             */
            readonly code: "unknown";
            /**
             * @description The same for people.
             * @example One of three rounds counts so far.
             */
            readonly message: string;
            /**
             * @description `terms`: of a product from before the first indexed block; `price`: of the asset at purchase; `rounds`: of the feed's newest phase, which the indexer reads after a restart.
             * @example terms
             * @enum {string}
             */
            readonly missing: "terms" | "price" | "rounds";
        };
        readonly EvaluatedRound: {
            readonly roundId: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description The feed's phase; 0 for a feed without phases.
             * @example 1
             */
            readonly phase: number;
            /**
             * @description The round's price in USD, 18 decimals; null for an answer below zero.
             * @example 58400000000000000000000
             */
            readonly price: Decimal | null;
            readonly updatedAt: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * @description What the round is to this policy. `counts`: in the window, and at or below the trigger price; `above_trigger_price`: in the window, and above the trigger price; `before_window`: before the purchase, or in the waiting period; `after_window`: after the cover's end; `phase_not_begun`: from an aggregator that the feed does not ask yet, or did not before the cover's end; `invalid`: not above zero: the shield takes no such price.
             * @example counts
             * @enum {string}
             */
            readonly verdict: "counts" | "above_trigger_price" | "before_window" | "after_window" | "phase_not_begun" | "invalid";
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockTimestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly TriggerObstacle: {
            /**
             * @description `global_pause`: the owner has paused the whole protocol (a pause of sales stops no trigger); `sequencer_down`: the chain's sequencer is down; `sequencer_grace`: it came back less than an hour ago; `sequencer_unknown`: its feed has no status; `payout_too_small`: a bond is a dollar at least.
             * @example sequencer_grace
             * @enum {string}
             */
            readonly code: "global_pause" | "sequencer_down" | "sequencer_grace" | "sequencer_unknown" | "payout_too_small";
            /**
             * @description The same for people.
             * @example The protocol is paused.
             */
            readonly message: string;
            /**
             * @description First second in which it does not stop a trigger any more, Unix seconds, if nothing else happens; null when nobody knows.
             * @example null
             */
            readonly until: Decimal | null;
        };
        readonly BurnFeed: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly burns: readonly components["schemas"]["Burn"][];
        };
        readonly Burn: {
            /**
             * @description The kind of burner; `direct` for a burn without a burner contract.
             * @enum {string}
             */
            readonly source: "twap_burner" | "buyback_engine" | "direct";
            readonly burner: components["schemas"]["Address"] & unknown;
            readonly tokenBurned: components["schemas"]["DecimalString"] & unknown;
            readonly usdcSpent: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description USD per token, 18 decimals; null for a direct burn.
             * @example 100000000000000000
             */
            readonly effectivePrice: Decimal | null;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            readonly blockTimestamp: components["schemas"]["UnixSeconds"];
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly ListingFeed: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            /**
             * @description Active listings, in the period if one is given.
             * @example 2
             */
            readonly total: number;
            readonly listings: readonly components["schemas"]["Listing"][];
        };
        readonly Listing: {
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
            readonly sellerAddress: components["schemas"]["Address"];
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly pricePerUnit: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Unix seconds; null when unknown.
             * @example 1861919999
             */
            readonly maturityDate: Decimal | null;
            /** @description Whether the bonds are redeemable at the block's time. */
            readonly matured: boolean;
            /** @enum {string} */
            readonly status: "active";
            readonly createdAt: components["schemas"]["UnixSeconds"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly SaleFeed: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly sales: readonly components["schemas"]["Sale"][];
        };
        readonly Sale: {
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
            readonly buyer: components["schemas"]["Address"] & unknown;
            readonly seller: components["schemas"]["Address"];
            /**
             * @description Id of the bond; null when the index does not know the listing.
             * @example 202812
             */
            readonly bondId: Decimal | null;
            /**
             * @description The month of maturity, YYYYMM.
             * @example 202812
             */
            readonly epochId: Decimal | null;
            /**
             * @description Bonds sold, whole dollars of face value.
             * @example 800
             */
            readonly amount: Decimal | null;
            readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Price of one bond, USDC, 6 decimals, rounded down.
             * @example 1125000
             */
            readonly pricePerUnit: Decimal | null;
            readonly sellerFeeUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly buyerFeeUsdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description When it was listed, Unix seconds.
             * @example 1767225600
             */
            readonly listedAt: Decimal | null;
            readonly soldAt: components["schemas"]["UnixSeconds"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly ListingSearch: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /**
             * @description Active listings that match.
             * @example 2
             */
            readonly total: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            readonly listings: readonly components["schemas"]["MarketListing"][];
        };
        readonly MarketListing: {
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
            readonly seller: components["schemas"]["Address"];
            readonly sellerAddress: components["schemas"]["Address"] & unknown;
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly priceUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly pricePerUnit: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Whole basis points by which the price is below the face value; 0 at or above it.
             * @example 2500
             */
            readonly discountBps: number;
            /**
             * Format: date-time
             * @description Null when unknown.
             * @example 2028-12-31T23:59:59.000Z
             */
            readonly maturityDate: string | null;
            /** @description Whether the bonds are redeemable at the block's time. */
            readonly matured: boolean;
            /**
             * @description `active`: for sale, as in `/api/v1/marketplace/active-listings`; `executed`: sold; `cancelled`: by the seller, or in an emergency by the owner.
             * @example active
             * @enum {string}
             */
            readonly status: "active" | "executed" | "cancelled";
            /**
             * @description Null unless `executed`.
             * @example null
             */
            readonly buyer: string | null;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            readonly listedAt: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * Format: date-time
             * @description When it was sold or cancelled; null while active.
             * @example null
             */
            readonly closedAt: string | null;
            /**
             * @description Transaction of the sale or cancellation; null while active.
             * @example null
             */
            readonly closedTxHash: string | null;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly MarketStats: {
            /**
             * @description Lowest price of an active listing; null without one.
             * @example 600000000
             */
            readonly floor: Decimal | null;
            /**
             * @description Lowest price of one bond (one dollar of face value) among active listings, rounded down; null without one.
             * @example 750000
             */
            readonly floorPerUnit: Decimal | null;
            readonly volume24h: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of these sales.
             * @example 1
             */
            readonly sales24h: number;
            /**
             * @description Active listings.
             * @example 2
             */
            readonly totalListings: number;
            readonly totalVolume: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Number of all sales.
             * @example 3
             */
            readonly totalSales: number;
            readonly totalFees: components["schemas"]["DecimalString"] & unknown;
        };
        readonly TradeFeed: {
            /**
             * @description Entries in this response.
             * @example 1
             */
            readonly count: number;
            /** @example 50 */
            readonly limit: number;
            /** @example 0 */
            readonly offset: number;
            /**
             * @description `cursor` of the next page; null at the end.
             * @example null
             */
            readonly nextCursor: string | null;
            readonly trades: readonly components["schemas"]["Trade"][];
        };
        readonly Trade: {
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
            readonly buyer: components["schemas"]["Address"] & unknown;
            readonly buyerAddress: components["schemas"]["Address"] & unknown;
            readonly seller: components["schemas"]["Address"];
            readonly sellerAddress: components["schemas"]["Address"] & unknown;
            /**
             * @description Id of the bond; null when the index does not know the listing.
             * @example 202812
             */
            readonly bondId: Decimal | null;
            /**
             * @description The month of maturity, YYYYMM.
             * @example 202812
             */
            readonly epochId: Decimal | null;
            /**
             * @description Bonds sold, whole dollars of face value.
             * @example 800
             */
            readonly amount: Decimal | null;
            readonly priceUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly totalPaidUsdc: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Price of one bond, USDC, 6 decimals, rounded down.
             * @example 1125000
             */
            readonly pricePerUnit: Decimal | null;
            readonly timestamp: components["schemas"]["UnixSeconds"] & unknown;
            readonly executedAt: components["schemas"]["Timestamp"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
        };
        readonly PriceProof: {
            /**
             * @example BTC
             * @enum {string}
             */
            readonly asset: "BTC" | "ETH";
            readonly assetBytes32: components["schemas"]["Bytes32"] & unknown;
            readonly price: components["schemas"]["DecimalString"] & unknown;
            /**
             * @description Decimals of `price`.
             * @example 8
             */
            readonly decimals: number;
            /**
             * @description When the writer read and signed the price, Unix seconds.
             * @example 1767225600
             */
            readonly verifiedAt: number;
            /**
             * @description The feed's last update, Unix seconds.
             * @example 1767225600
             */
            readonly feedUpdatedAt: number;
            readonly signer: components["schemas"]["Address"];
            /**
             * @description EIP-712 signature of `PriceProof(int256 price,bytes32 asset,uint256 verifiedAt)`, with `assetBytes32` as the asset: 65 bytes r, s, v.
             * @example 0x9de736326fb0fb1bf2475f000b9a2d54cf1a3cbfe7c7563a808cf83e94f0ec254e14b9884827b365f18ac99e892ba0d00f7377a62fb1746e28be43cc444e64641b
             */
            readonly signature: string;
        };
        readonly SignProofRequest: {
            /**
             * @description The asset to price.
             * @example BTC
             * @enum {string}
             */
            readonly asset: "BTC" | "ETH";
        };
        readonly OracleSigner: {
            readonly signer: components["schemas"]["Address"];
            /** @description The EIP-712 domain of the proofs. */
            readonly domain: {
                /** @example PriceProofVerifier */
                readonly name: string;
                /** @example 1 */
                readonly version: string;
                /** @example 8453 */
                readonly chainId: number;
                readonly verifyingContract: components["schemas"]["Address"] & unknown;
            };
        };
        readonly Redemption: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description The same as `ok`.
             * @enum {boolean}
             */
            readonly success: true;
            /**
             * Format: uuid
             * @description For `GET /api/v1/reports/{id}`.
             * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
             */
            readonly reportId: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Block of the transaction.
             * @example 1234
             */
            readonly blockNumber: number;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly usdAmount: components["schemas"]["DecimalString"] & unknown;
            readonly ownerAddress: components["schemas"]["Address"] & unknown;
            /**
             * @description `redeemed`: paid in the reported transaction; `queued`: above the week's throttle, to be paid later, see `queue`; `paid`: paid from the queue.
             * @example redeemed
             * @enum {string}
             */
            readonly status: "redeemed" | "queued" | "paid";
            /**
             * @description Protocol tokens received, 18 decimals; null until paid.
             * @example 8000000000000000000000
             */
            readonly tokenReceived: Decimal | null;
            /**
             * @description The same as `tokenReceived`.
             * @example 8000000000000000000000
             */
            readonly luminaReceived: Decimal | null;
            /**
             * @description USD per token, 18 decimals; null until paid.
             * @example 100000000000000000
             */
            readonly priceUsed: Decimal | null;
            readonly executedAt: components["schemas"]["Timestamp"] & unknown;
            /** @description What the reporting wallet has now. Null when the chain's node did not tell in time. */
            readonly holdings: {
                readonly usdcBalance: components["schemas"]["DecimalString"] & unknown;
                readonly bondBalance: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description The reported listing while it is open; null once it is sold or cancelled.
                 * @example null
                 */
                readonly openListing: {
                    readonly listingId: components["schemas"]["DecimalString"] & unknown;
                    readonly amount: components["schemas"]["DecimalString"] & unknown;
                    readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                } | null;
                readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
            } | null;
            /**
             * @description Null unless it was queued.
             * @example null
             */
            readonly queue: {
                readonly queueId: components["schemas"]["DecimalString"] & unknown;
                readonly targetEpoch: components["schemas"]["DecimalString"] & unknown;
                readonly payableFrom: components["schemas"]["Timestamp"] & unknown;
                /**
                 * @description The transaction that paid it; null until the index has it.
                 * @example null
                 */
                readonly payment: {
                    readonly txHash: components["schemas"]["Bytes32"] & unknown;
                    readonly paidAt: components["schemas"]["Timestamp"] & unknown;
                } | null;
            } | null;
        };
        readonly Report: {
            /**
             * Format: uuid
             * @description For `GET /api/v1/reports/{id}`.
             * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
             */
            readonly reportId: string;
            /**
             * @description What was reported.
             * @example redeem
             * @enum {string}
             */
            readonly kind: "redeem" | "list" | "buy";
            /**
             * @description `pending`: the transaction is in no block yet; `recorded`: a block has it, as reported.
             * @example pending
             * @enum {string}
             */
            readonly status: "pending" | "recorded";
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly walletAddress: components["schemas"]["Address"] & unknown;
            readonly reportedAt: components["schemas"]["Timestamp"];
            /**
             * @description A recorded redemption.
             * @example null
             */
            readonly redemption: {
                /** @enum {boolean} */
                readonly ok: true;
                /**
                 * @description The same as `ok`.
                 * @enum {boolean}
                 */
                readonly success: true;
                /**
                 * Format: uuid
                 * @description For `GET /api/v1/reports/{id}`.
                 * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
                 */
                readonly reportId: string;
                readonly txHash: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Block of the transaction.
                 * @example 1234
                 */
                readonly blockNumber: number;
                readonly blockHash: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Index of the event's log in its block.
                 * @example 5
                 */
                readonly logIndex: number;
                readonly epochId: components["schemas"]["DecimalString"] & unknown;
                readonly bondId: components["schemas"]["DecimalString"] & unknown;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                readonly usdAmount: components["schemas"]["DecimalString"] & unknown;
                readonly ownerAddress: components["schemas"]["Address"] & unknown;
                /**
                 * @description `redeemed`: paid in the reported transaction; `queued`: above the week's throttle, to be paid later, see `queue`; `paid`: paid from the queue.
                 * @example redeemed
                 * @enum {string}
                 */
                readonly status: "redeemed" | "queued" | "paid";
                /**
                 * @description Protocol tokens received, 18 decimals; null until paid.
                 * @example 8000000000000000000000
                 */
                readonly tokenReceived: Decimal | null;
                /**
                 * @description The same as `tokenReceived`.
                 * @example 8000000000000000000000
                 */
                readonly luminaReceived: Decimal | null;
                /**
                 * @description USD per token, 18 decimals; null until paid.
                 * @example 100000000000000000
                 */
                readonly priceUsed: Decimal | null;
                readonly executedAt: components["schemas"]["Timestamp"] & unknown;
                /** @description What the reporting wallet has now. Null when the chain's node did not tell in time. */
                readonly holdings: {
                    readonly usdcBalance: components["schemas"]["DecimalString"] & unknown;
                    readonly bondBalance: components["schemas"]["DecimalString"] & unknown;
                    /**
                     * @description The reported listing while it is open; null once it is sold or cancelled.
                     * @example null
                     */
                    readonly openListing: {
                        readonly listingId: components["schemas"]["DecimalString"] & unknown;
                        readonly amount: components["schemas"]["DecimalString"] & unknown;
                        readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                    } | null;
                    readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
                } | null;
                /**
                 * @description Null unless it was queued.
                 * @example null
                 */
                readonly queue: {
                    readonly queueId: components["schemas"]["DecimalString"] & unknown;
                    readonly targetEpoch: components["schemas"]["DecimalString"] & unknown;
                    readonly payableFrom: components["schemas"]["Timestamp"] & unknown;
                    /**
                     * @description The transaction that paid it; null until the index has it.
                     * @example null
                     */
                    readonly payment: {
                        readonly txHash: components["schemas"]["Bytes32"] & unknown;
                        readonly paidAt: components["schemas"]["Timestamp"] & unknown;
                    } | null;
                } | null;
            } | null;
            /**
             * @description A recorded listing.
             * @example null
             */
            readonly listing: {
                /** @enum {boolean} */
                readonly ok: true;
                /**
                 * @description The same as `ok`.
                 * @enum {boolean}
                 */
                readonly success: true;
                /**
                 * Format: uuid
                 * @description For `GET /api/v1/reports/{id}`.
                 * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
                 */
                readonly reportId: string;
                readonly txHash: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Block of the transaction.
                 * @example 1234
                 */
                readonly blockNumber: number;
                readonly blockHash: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Index of the event's log in its block.
                 * @example 5
                 */
                readonly logIndex: number;
                readonly epochId: components["schemas"]["DecimalString"] & unknown;
                readonly bondId: components["schemas"]["DecimalString"] & unknown;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                readonly listingId: components["schemas"]["DecimalString"] & unknown;
                readonly sellerAddress: components["schemas"]["Address"] & unknown;
                readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                readonly createdAt: components["schemas"]["Timestamp"] & unknown;
                /** @description What the reporting wallet has now. Null when the chain's node did not tell in time. */
                readonly holdings: {
                    readonly usdcBalance: components["schemas"]["DecimalString"] & unknown;
                    readonly bondBalance: components["schemas"]["DecimalString"] & unknown;
                    /**
                     * @description The reported listing while it is open; null once it is sold or cancelled.
                     * @example null
                     */
                    readonly openListing: {
                        readonly listingId: components["schemas"]["DecimalString"] & unknown;
                        readonly amount: components["schemas"]["DecimalString"] & unknown;
                        readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                    } | null;
                    readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
                } | null;
            } | null;
            /**
             * @description A recorded purchase of a listing.
             * @example null
             */
            readonly purchase: {
                /** @enum {boolean} */
                readonly ok: true;
                /**
                 * @description The same as `ok`.
                 * @enum {boolean}
                 */
                readonly success: true;
                /**
                 * Format: uuid
                 * @description For `GET /api/v1/reports/{id}`.
                 * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
                 */
                readonly reportId: string;
                readonly txHash: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Block of the transaction.
                 * @example 1234
                 */
                readonly blockNumber: number;
                readonly blockHash: components["schemas"]["Bytes32"] & unknown;
                /**
                 * @description Index of the event's log in its block.
                 * @example 5
                 */
                readonly logIndex: number;
                readonly epochId: components["schemas"]["DecimalString"] & unknown;
                readonly bondId: components["schemas"]["DecimalString"] & unknown;
                readonly amount: components["schemas"]["DecimalString"] & unknown;
                readonly listingId: components["schemas"]["DecimalString"] & unknown;
                readonly buyerAddress: components["schemas"]["Address"] & unknown;
                readonly sellerAddress: components["schemas"]["Address"] & unknown;
                readonly totalPaidUsdc: components["schemas"]["DecimalString"] & unknown;
                readonly executedAt: components["schemas"]["Timestamp"] & unknown;
                /** @description What the reporting wallet has now. Null when the chain's node did not tell in time. */
                readonly holdings: {
                    readonly usdcBalance: components["schemas"]["DecimalString"] & unknown;
                    readonly bondBalance: components["schemas"]["DecimalString"] & unknown;
                    /**
                     * @description The reported listing while it is open; null once it is sold or cancelled.
                     * @example null
                     */
                    readonly openListing: {
                        readonly listingId: components["schemas"]["DecimalString"] & unknown;
                        readonly amount: components["schemas"]["DecimalString"] & unknown;
                        readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                    } | null;
                    readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
                } | null;
            } | null;
        };
        /**
         * @example {
         *       "epochId": "202812",
         *       "usdAmount": "800",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "ownerAddress": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
         *     }
         */
        readonly RedemptionRequest: {
            /**
             * Format: uint256
             * @description The bond's epoch: the month of its maturity, YYYYMM. Or `bondId`.
             * @example 202812
             */
            readonly epochId?: string;
            /**
             * Format: uint256
             * @description The same as `epochId`.
             * @example 202812
             */
            readonly bondId?: string;
            /**
             * Format: uint256
             * @description Redeemed bonds, whole dollars.
             * @example 800
             */
            readonly usdAmount: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly ownerAddress: components["schemas"]["Address"] & unknown;
        } | unknown | unknown;
        readonly NewListing: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description The same as `ok`.
             * @enum {boolean}
             */
            readonly success: true;
            /**
             * Format: uuid
             * @description For `GET /api/v1/reports/{id}`.
             * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
             */
            readonly reportId: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Block of the transaction.
             * @example 1234
             */
            readonly blockNumber: number;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
            readonly sellerAddress: components["schemas"]["Address"] & unknown;
            readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly createdAt: components["schemas"]["Timestamp"] & unknown;
            /** @description What the reporting wallet has now. Null when the chain's node did not tell in time. */
            readonly holdings: {
                readonly usdcBalance: components["schemas"]["DecimalString"] & unknown;
                readonly bondBalance: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description The reported listing while it is open; null once it is sold or cancelled.
                 * @example null
                 */
                readonly openListing: {
                    readonly listingId: components["schemas"]["DecimalString"] & unknown;
                    readonly amount: components["schemas"]["DecimalString"] & unknown;
                    readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                } | null;
                readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
            } | null;
        };
        /**
         * @example {
         *       "bondId": "202812",
         *       "amount": "800",
         *       "totalPriceUsdc": "900000000",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "sellerAddress": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
         *     }
         */
        readonly ListingRequest: {
            /**
             * Format: uint256
             * @description The bond's epoch: the month of its maturity, YYYYMM. Or `bondId`.
             * @example 202812
             */
            readonly epochId?: string;
            /**
             * Format: uint256
             * @description The same as `epochId`.
             * @example 202812
             */
            readonly bondId?: string;
            /**
             * Format: uint256
             * @description Bonds, whole dollars.
             * @example 800
             */
            readonly amount: string;
            /**
             * Format: uint256
             * @description Price of the whole listing. USDC, 6 decimals.
             * @example 900000000
             */
            readonly totalPriceUsdc: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly sellerAddress: components["schemas"]["Address"] & unknown;
        } | unknown | unknown;
        readonly ListingPurchase: {
            /** @enum {boolean} */
            readonly ok: true;
            /**
             * @description The same as `ok`.
             * @enum {boolean}
             */
            readonly success: true;
            /**
             * Format: uuid
             * @description For `GET /api/v1/reports/{id}`.
             * @example 700bf5d5-c0cc-4436-94de-27031b1d28ee
             */
            readonly reportId: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Block of the transaction.
             * @example 1234
             */
            readonly blockNumber: number;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Index of the event's log in its block.
             * @example 5
             */
            readonly logIndex: number;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly bondId: components["schemas"]["DecimalString"] & unknown;
            readonly amount: components["schemas"]["DecimalString"] & unknown;
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
            readonly buyerAddress: components["schemas"]["Address"] & unknown;
            readonly sellerAddress: components["schemas"]["Address"] & unknown;
            readonly totalPaidUsdc: components["schemas"]["DecimalString"] & unknown;
            readonly executedAt: components["schemas"]["Timestamp"] & unknown;
            /** @description What the reporting wallet has now. Null when the chain's node did not tell in time. */
            readonly holdings: {
                readonly usdcBalance: components["schemas"]["DecimalString"] & unknown;
                readonly bondBalance: components["schemas"]["DecimalString"] & unknown;
                /**
                 * @description The reported listing while it is open; null once it is sold or cancelled.
                 * @example null
                 */
                readonly openListing: {
                    readonly listingId: components["schemas"]["DecimalString"] & unknown;
                    readonly amount: components["schemas"]["DecimalString"] & unknown;
                    readonly totalPriceUsdc: components["schemas"]["DecimalString"] & unknown;
                } | null;
                readonly asOfBlock: components["schemas"]["DecimalString"] & unknown;
            } | null;
        };
        /**
         * @example {
         *       "listingId": "17",
         *       "amount": "800",
         *       "totalPaidUsdc": "913500000",
         *       "txHash": "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
         *       "buyerAddress": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
         *     }
         */
        readonly ListingPurchaseRequest: {
            /**
             * Format: uint256
             * @description Id of the listing.
             * @example 17
             */
            readonly listingId: string;
            /**
             * Format: uint256
             * @description Bonds, whole dollars.
             * @example 800
             */
            readonly amount: string;
            /**
             * Format: uint256
             * @description The listing's price and the buyer's fee of 1.5 %. USDC, 6 decimals.
             * @example 900000000
             */
            readonly totalPaidUsdc: string;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            readonly buyerAddress: components["schemas"]["Address"] & unknown;
        };
        readonly Prepared: {
            /** @enum {string} */
            readonly action: "redeem" | "list" | "buy" | "cancel" | "trigger" | "purchase";
            /**
             * @description Chain on which to send the steps.
             * @example 8453
             */
            readonly chainId: number;
            readonly from: components["schemas"]["Address"] & unknown;
            /** @description The block that everything was read at. */
            readonly asOf: {
                readonly blockNumber: components["schemas"]["DecimalString"] & unknown;
                readonly blockHash: components["schemas"]["Bytes32"] & unknown;
                readonly timestamp: components["schemas"]["UnixSeconds"];
            };
            readonly validUntil: components["schemas"]["UnixSeconds"] & unknown;
            /** @description What the action does, for the wallet's owner. */
            readonly summary: string;
            /** @description What stands in its way; empty when nothing does. */
            readonly issues: readonly components["schemas"]["PreparedIssue"][];
            /** @description What the wallet signs, in this order, transactions without nonce and fees. Empty while there is no call to make. */
            readonly steps: readonly components["schemas"]["PreparedStep"][];
            /** @description The parameter of `wallet_sendCalls` (EIP-5792): the steps with status `incomplete` that are not optional. */
            readonly sendCalls: {
                /** @enum {string} */
                readonly version: "2.0.0";
                /**
                 * @description Hex, without leading zeros.
                 * @example 0x2105
                 */
                readonly chainId: string;
                readonly from: components["schemas"]["Address"];
                /** @enum {boolean} */
                readonly atomicRequired: false;
                readonly calls: readonly {
                    readonly to: components["schemas"]["Address"];
                    /**
                     * @description The calldata.
                     * @example 0x4ee30d0b0000000000000000000000000000000000000000000000000000000000000011
                     */
                    readonly data: string;
                    /**
                     * @description Wei, hex.
                     * @example 0x0
                     */
                    readonly value: string;
                }[];
            };
            readonly simulation: components["schemas"]["PreparedSimulation"];
        };
        readonly PreparedIssue: {
            /**
             * @description The spender may take too little of the wallet's USDC. The approval step allows it.
             * @enum {string}
             */
            readonly code: "allowance";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly spender: components["schemas"]["Address"] & unknown;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description The token knows no permits: approve the cover router by a transaction.
             * @enum {string}
             */
            readonly code: "permit_unsupported";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly token: components["schemas"]["Address"] & unknown;
        } | {
            /**
             * @description The marketplace may not take the wallet's bonds. The approval step allows it.
             * @enum {string}
             */
            readonly code: "bond_approval";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly operator: components["schemas"]["Address"] & unknown;
        } | {
            /**
             * @description The wallet has too little of a token.
             * @enum {string}
             */
            readonly code: "balance";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly token: components["schemas"]["Address"] & unknown;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description The wallet has too few bonds.
             * @enum {string}
             */
            readonly code: "bond_balance";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description A field of the request is below the contracts' minimum.
             * @enum {string}
             */
            readonly code: "below_minimum";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            /** @enum {string} */
            readonly field: "usdAmount" | "amount" | "totalPriceUsdc" | "coverageAmount";
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description There are no bonds of this epoch.
             * @enum {string}
             */
            readonly code: "unknown_bond";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly epochId: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description The bonds cannot be redeemed before they mature.
             * @enum {string}
             */
            readonly code: "not_mature";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly maturesAt: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description The marketplace takes bonds from 800 days to one day before they mature.
             * @enum {string}
             */
            readonly code: "not_listable";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly maturesAt: components["schemas"]["UnixSeconds"] & unknown;
            readonly listableFrom: components["schemas"]["UnixSeconds"] & unknown;
            readonly listableUntil: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description The owner of the bonds does not let the marketplace move them.
             * @enum {string}
             */
            readonly code: "transfer_not_allowed";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly operator: components["schemas"]["Address"] & unknown;
        } | {
            /**
             * @description The owner has paused the contracts.
             * @enum {string}
             */
            readonly code: "paused";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            /**
             * @description `protocol`: everything; `router`: sales.
             * @enum {string}
             */
            readonly scope: "protocol" | "router";
        } | {
            /**
             * @description The chain's sequencer is down, or came back less than an hour ago.
             * @enum {string}
             */
            readonly code: "sequencer_down";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
        } | {
            /**
             * @description The price that the contracts use is missing, or older than an hour.
             * @enum {string}
             */
            readonly code: "price_stale";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly feed: components["schemas"]["Address"] & unknown;
            readonly updatedAt: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description At so low a price of the protocol token the vault redeems nothing.
             * @enum {string}
             */
            readonly code: "price_too_low";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description The vault has too few protocol tokens.
             * @enum {string}
             */
            readonly code: "insufficient_reserve";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description The redemption is above this week's throttle: it would be queued, and paid later.
             * @enum {string}
             */
            readonly code: "throttled";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly targetEpoch: components["schemas"]["DecimalString"] & unknown;
            readonly payableFrom: components["schemas"]["UnixSeconds"] & unknown;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description The listing was sold or cancelled.
             * @enum {string}
             */
            readonly code: "listing_closed";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly listingId: components["schemas"]["DecimalString"] & unknown;
        } | {
            /**
             * @description Only the seller can cancel a listing.
             * @enum {string}
             */
            readonly code: "not_seller";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly seller: components["schemas"]["Address"] & unknown;
        } | {
            /**
             * @description The policy was paid or cancelled.
             * @enum {string}
             */
            readonly code: "already_finalized";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            /** @enum {string} */
            readonly status: "Triggered" | "Cancelled";
        } | {
            /**
             * @description The policy has expired.
             * @enum {string}
             */
            readonly code: "expired";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly expiresAt: components["schemas"]["UnixSeconds"] & unknown;
        } | {
            /**
             * @description Fewer than three prices in the policy's window are at or below its trigger price.
             * @enum {string}
             */
            readonly code: "not_triggered";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            /**
             * @description The feed's newest price in USD, 18 decimals; null without one.
             * @example null
             */
            readonly price: Decimal | null;
            readonly triggerPrice: components["schemas"]["DecimalString"] & unknown;
            readonly coverFrom: components["schemas"]["UnixSeconds"] & unknown;
            /**
             * @description Rounds that count, of three; at most two.
             * @example 1
             */
            readonly rounds: number;
        } | {
            /**
             * @description The service cannot read the price feed's rounds far enough back now.
             * @enum {string}
             */
            readonly code: "rounds_unknown";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
        } | {
            /**
             * @description The product is paused.
             * @enum {string}
             */
            readonly code: "product_paused";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
        } | {
            /**
             * @description The product is not sold.
             * @enum {string}
             */
            readonly code: "product_inactive";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
        } | {
            /**
             * @description The payout exceeds the vault's free capacity.
             * @enum {string}
             */
            readonly code: "exceeds_capacity";
            /**
             * @description True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.
             * @example true
             */
            readonly blocking: boolean;
            /**
             * @description The same for people.
             * @example The bonds mature later.
             */
            readonly message: string;
            readonly actual: components["schemas"]["DecimalString"] & unknown;
            readonly needed: components["schemas"]["DecimalString"] & unknown;
        };
        readonly PreparedStep: {
            /** @enum {string} */
            readonly id: "approve" | "revoke" | "redeem" | "list" | "buy" | "cancel" | "trigger" | "purchase";
            /** @enum {string} */
            readonly kind: "transaction";
            /**
             * @description `complete`: the chain has its effect already, nothing is to be sent.
             * @example incomplete
             * @enum {string}
             */
            readonly status: "complete" | "incomplete";
            /**
             * @description True for a step that the action does not need; it is neither in `sendCalls` nor simulated.
             * @example false
             */
            readonly optional: boolean;
            /** @description What it does, for the wallet's owner. */
            readonly description: string;
            /** @description The call that `data` encodes. */
            readonly call: {
                /**
                 * @description Key of `contracts` in `GET /health`.
                 * @enum {string}
                 */
                readonly contract: "coverRouter" | "policyManager" | "bondVault" | "claimBond" | "marketplace" | "twapBurner" | "buybackEngine" | "pauseRegistry" | "protocolToken" | "usdc" | "btcUsdFeed" | "ethUsdFeed" | "tokenUsdFeed" | "sequencerFeed";
                /** @example executeBuy */
                readonly function: string;
                /**
                 * @description Arguments in their order: integers as decimal digits, bytes and addresses as hex.
                 * @example [
                 *       "17"
                 *     ]
                 */
                readonly args: readonly (string | boolean)[];
            };
            readonly to: components["schemas"]["Address"] & unknown;
            /**
             * @description The calldata.
             * @example 0x4ee30d0b0000000000000000000000000000000000000000000000000000000000000011
             */
            readonly data: string;
            readonly value: components["schemas"]["DecimalString"] & unknown;
            /** @description Where the transaction can be reported once it is mined; null where there is no report. */
            readonly report: {
                /** @enum {string} */
                readonly method: "POST";
                /** @enum {string} */
                readonly path: "/api/v1/redeem" | "/api/v1/marketplace/list" | "/api/v1/marketplace/buy";
                /**
                 * @description The body without `txHash`: add the hash of the mined transaction. Needs a key of `from`.
                 * @example {
                 *       "listingId": "17",
                 *       "amount": "800",
                 *       "totalPaidUsdc": "913500000"
                 *     }
                 */
                readonly body: {
                    readonly [key: string]: string;
                };
            } | null;
        } | {
            /** @enum {string} */
            readonly id: "permit";
            /** @enum {string} */
            readonly kind: "signature";
            /**
             * @description `complete`: the allowance suffices, nothing is to be signed.
             * @example incomplete
             * @enum {string}
             */
            readonly status: "complete" | "incomplete";
            /** @enum {boolean} */
            readonly optional: false;
            /** @description What it allows, for the wallet's owner. */
            readonly description: string;
            /** @description For `eth_signTypedData_v4` (EIP-712). */
            readonly typedData: {
                readonly domain: {
                    /** @example USD Coin */
                    readonly name: string;
                    /** @example 2 */
                    readonly version: string;
                    /** @example 8453 */
                    readonly chainId: number;
                    readonly verifyingContract: components["schemas"]["Address"];
                };
                readonly types: {
                    readonly [key: string]: readonly {
                        readonly name: string;
                        readonly type: string;
                    }[];
                };
                /** @enum {string} */
                readonly primaryType: "Permit";
                readonly message: {
                    readonly owner: components["schemas"]["Address"];
                    readonly spender: components["schemas"]["Address"];
                    readonly value: components["schemas"]["DecimalString"] & unknown;
                    readonly nonce: components["schemas"]["DecimalString"] & unknown;
                    readonly deadline: components["schemas"]["UnixSeconds"];
                };
            };
            /** @description The purchase: add the signature as `permit.signature`; there is no `permit` where the step is complete. Needs a key of `from`. */
            readonly report: {
                /** @enum {string} */
                readonly method: "POST";
                /** @enum {string} */
                readonly path: "/api/v1/policies";
                readonly body: {
                    readonly productId: components["schemas"]["Bytes32"];
                    readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
                    readonly buyer: components["schemas"]["Address"];
                    readonly permit?: {
                        readonly value: components["schemas"]["DecimalString"] & unknown;
                        readonly deadline: components["schemas"]["UnixSeconds"];
                    };
                };
            };
        };
        /** @description The calls of `sendCalls`, run one after the other in the state after the block (`eth_simulateV1`). `unknown`: the node could not, or there is nothing to send. */
        readonly PreparedSimulation: {
            /** @enum {string} */
            readonly status: "ok";
        } | {
            /** @enum {string} */
            readonly status: "reverts";
            /**
             * @description Id of the first step that reverts.
             * @example buy
             */
            readonly step: string;
            /** @example ERC20InsufficientAllowance(…) */
            readonly reason: string;
        } | {
            /** @enum {string} */
            readonly status: "unknown";
            /** @example ERC20InsufficientAllowance(…) */
            readonly reason: string;
        };
        /**
         * @example {
         *       "from": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *       "epochId": "202812",
         *       "usdAmount": "800"
         *     }
         */
        readonly PrepareRedemptionRequest: {
            readonly from: components["schemas"]["Address"] & unknown;
            /**
             * Format: uint256
             * @description The bond's epoch: the month of its maturity, YYYYMM. Or `bondId`.
             * @example 202812
             */
            readonly epochId?: string;
            /**
             * Format: uint256
             * @description The same as `epochId`.
             * @example 202812
             */
            readonly bondId?: string;
            /**
             * Format: uint256
             * @description Bonds to redeem, whole dollars.
             * @example 800
             */
            readonly usdAmount: string;
        } | unknown | unknown;
        /**
         * @example {
         *       "from": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *       "epochId": "202812",
         *       "amount": "800",
         *       "totalPriceUsdc": "900000000"
         *     }
         */
        readonly PrepareListingRequest: {
            readonly from: components["schemas"]["Address"] & unknown;
            /**
             * Format: uint256
             * @description The bond's epoch: the month of its maturity, YYYYMM. Or `bondId`.
             * @example 202812
             */
            readonly epochId?: string;
            /**
             * Format: uint256
             * @description The same as `epochId`.
             * @example 202812
             */
            readonly bondId?: string;
            /**
             * Format: uint256
             * @description Bonds, whole dollars.
             * @example 800
             */
            readonly amount: string;
            /**
             * Format: uint256
             * @description Price of the whole listing. USDC, 6 decimals.
             * @example 900000000
             */
            readonly totalPriceUsdc: string;
        } | unknown | unknown;
        /**
         * @example {
         *       "from": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *       "listingId": "17"
         *     }
         */
        readonly PrepareListingActionRequest: {
            readonly from: components["schemas"]["Address"] & unknown;
            /**
             * Format: uint256
             * @description Id of the listing.
             * @example 17
             */
            readonly listingId: string;
        };
        /**
         * @example {
         *       "from": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *       "productId": "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd",
         *       "policyId": "1"
         *     }
         */
        readonly PrepareTriggerRequest: {
            readonly from: components["schemas"]["Address"] & unknown;
            readonly productId: components["schemas"]["Bytes32"];
            /**
             * Format: uint256
             * @description Numbered per product.
             * @example 1
             */
            readonly policyId: string;
        };
        /**
         * @example {
         *       "from": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
         *       "productName": "FLASHBTC1H-001",
         *       "coverageAmount": "1000000000"
         *     }
         */
        readonly PreparePolicyRequest: {
            readonly from: components["schemas"]["Address"] & unknown;
            /**
             * @description Id of the product. Give this or `productName`; if both, they must agree.
             * @example 0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd
             */
            readonly productId?: string;
            /**
             * @description One of the six names.
             * @example FLASHBTC1H-001
             */
            readonly productName?: string;
            /**
             * Format: uint256
             * @description Coverage, USDC base units (6 decimals); at least 100000000.
             * @example 1000000000
             */
            readonly coverageAmount: string;
            /**
             * @description True: for `POST /api/v1/policies`, which pays the gas: the wallet only signs a permit of USDC, where its allowance is too low.
             * @default false
             */
            readonly relayed: boolean;
        } | unknown | unknown;
        readonly SandboxInfo: {
            /** @enum {boolean} */
            readonly ok: true;
            /** @description False if there is no sandbox, or the operator has stopped it. */
            readonly enabled: boolean;
            /**
             * @description Whether `POST /sandbox/try` can buy now. `unready`: the wallet lacks funds or an approval, or no writer is running; the service recovers by itself.
             * @enum {string}
             */
            readonly status: "ready" | "unready" | "disabled";
            /**
             * @description Why the sandbox cannot buy, or why its wallet cannot be refilled; null otherwise.
             * @example null
             */
            readonly reason: string | null;
            /**
             * @description Chain id of the testnet; null without one.
             * @example 84532
             */
            readonly chainId: number | null;
            /**
             * @description The shared wallet that pays the premiums and owns the policies; null without one.
             * @example 0xBcd4042DE499D14e55001CcbB24a551F3b954096
             */
            readonly sandboxWallet: string | null;
            readonly coverageCapUsdc: components["schemas"]["DecimalString"] & unknown;
            /** @description Asset of the default product. */
            readonly asset: {
                /** @example BTC */
                readonly symbol: string;
                readonly bytes32: components["schemas"]["Bytes32"] & unknown;
            };
            readonly defaultProductId: components["schemas"]["Bytes32"] & unknown;
            /** @example FLASHBTC1H-001 */
            readonly defaultProductName: string;
            /** @description Limit of `POST /sandbox/try` per client address. */
            readonly rateLimit: {
                /** @example 10 */
                readonly perIp: number;
                /** @example 3600 */
                readonly windowSeconds: number;
            };
            /** @description The wallet's funds when the writer last checked; null before the first check. */
            readonly funds: {
                readonly usdc: components["schemas"]["DecimalString"] & unknown;
                readonly allowance: components["schemas"]["DecimalString"] & unknown;
                readonly eth: components["schemas"]["DecimalString"] & unknown;
                readonly checkedAt: components["schemas"]["Timestamp"];
            } | null;
            /**
             * @description URL of this description.
             * @example http://127.0.0.1:8080/api-docs#tag/sandbox
             */
            readonly docs: string;
        };
        readonly SandboxPurchase: {
            /** @enum {boolean} */
            readonly ok: true;
            /** @enum {boolean} */
            readonly sandbox: true;
            /**
             * @description Chain id of the testnet.
             * @example 84532
             */
            readonly chainId: number;
            readonly policyId: components["schemas"]["DecimalString"] & unknown;
            readonly productId: components["schemas"]["Bytes32"];
            readonly buyer: components["schemas"]["Address"] & unknown;
            readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
            readonly premiumPaid: components["schemas"]["DecimalString"] & unknown;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            /** @example 1234 */
            readonly blockNumber: number;
            /**
             * @description URL of the policy in this API.
             * @example http://127.0.0.1:8080/sandbox/policies/0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd/1
             */
            readonly policyUrl: string;
            /**
             * @description URL of the transaction in an explorer, or in this API for a chain without one.
             * @example http://127.0.0.1:8080/sandbox/transactions/0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465
             */
            readonly blockExplorer: string;
        };
        /**
         * @example {
         *       "productName": "FLASHETH24-001"
         *     }
         */
        readonly SandboxRequest: {
            /**
             * @description Id of the product; if `productName` is given too, they must agree.
             * @example 0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd
             */
            readonly productId?: string;
            /**
             * @description One of the six names. A call without name and id buys the default product.
             * @example FLASHETH24-001
             */
            readonly productName?: string;
            /**
             * Format: uint256
             * @description Validated and otherwise ignored: the coverage is always `coverageCapUsdc` of `GET /sandbox/info`.
             * @example 100000000
             */
            readonly coverageAmount?: string;
        };
        readonly SandboxTransaction: {
            /**
             * @description Chain id of the testnet.
             * @example 84532
             */
            readonly chainId: number;
            readonly txHash: components["schemas"]["Bytes32"] & unknown;
            /** @enum {string} */
            readonly status: "success" | "reverted";
            /** @example 1234 */
            readonly blockNumber: number;
            readonly blockHash: components["schemas"]["Bytes32"] & unknown;
            readonly from: components["schemas"]["Address"];
            /**
             * @description Null for a contract creation.
             * @example 0xA51c1fc2f0D1a1b8494Ed1FE312d7C3a78Ed91C0
             */
            readonly to: string | null;
            readonly gasUsed: components["schemas"]["DecimalString"] & unknown;
            /** @description Policies bought from the testnet's cover router. */
            readonly policies: readonly {
                readonly productId: components["schemas"]["Bytes32"];
                /**
                 * @description Null for a product of another release.
                 * @example FLASHBTC1H-001
                 */
                readonly productName: string | null;
                readonly policyId: components["schemas"]["DecimalString"] & unknown;
                readonly buyer: components["schemas"]["Address"];
                readonly coverageAmount: components["schemas"]["DecimalString"] & unknown;
                readonly premiumPaid: components["schemas"]["DecimalString"] & unknown;
                readonly payoutAmount: components["schemas"]["DecimalString"] & unknown;
            }[];
        };
        readonly FaucetClaim: {
            /** @enum {boolean} */
            readonly success: true;
            readonly ethTxHash: components["schemas"]["Bytes32"] & unknown;
            readonly usdcTxHash: components["schemas"]["Bytes32"] & unknown;
            /**
             * @description Ether sent. In ETH, as a decimal number.
             * @example 0.05
             */
            readonly ethAmount: string;
            /**
             * @description Amount minted. In mock USDC, as a decimal number.
             * @example 10000
             */
            readonly usdcAmount: string;
            readonly mockUsdcAddress: components["schemas"]["Address"] & unknown;
            readonly nextEligibleAt: components["schemas"]["Timestamp"] & unknown;
        };
        /**
         * @example {
         *       "wallet": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
         *     }
         */
        readonly FaucetClaimRequest: {
            readonly wallet: components["schemas"]["Address"] & unknown;
        };
        readonly FaucetStatus: {
            /** @description False if there is no faucet, or the operator has stopped it. */
            readonly enabled: boolean;
            /**
             * @description Whether a claim can be granted now. `unready`: no writer is running, the ether is spent, gas is too expensive or its daily budget spent, or all grants of the day are given.
             * @enum {string}
             */
            readonly status: "ready" | "unready" | "disabled";
            /**
             * @description Why no claim can be granted; null when ready.
             * @example null
             */
            readonly reason: string | null;
            /**
             * @description Balance of the faucet's wallet; 0 without one. In ETH, as a decimal number.
             * @example 9999.95
             */
            readonly relayerEthBalance: string;
            /**
             * @description Always null: the token is minted for each claim.
             * @example null
             */
            readonly relayerUsdcBalance: string | null;
            /**
             * @description Null without a testnet.
             * @example 0x5FbDB2315678afecb367f032d93F642f64180aa3
             */
            readonly mockUsdcAddress: string | null;
            /**
             * @description Per claim. In mock USDC, as a decimal number.
             * @example 10000
             */
            readonly usdcPerClaim: string;
            /**
             * @description Per claim. In ETH, as a decimal number.
             * @example 0.05
             */
            readonly ethPerClaim: string;
            /**
             * @description Hours between two claims of a wallet, or of a client address.
             * @example 24
             */
            readonly cooldownHours: number;
            /**
             * @description Claims within the last 24 hours, without those that sent nothing.
             * @example 3
             */
            readonly claimsLast24h: number;
            /**
             * @description The same for this UTC day; `dailyCap` limits them.
             * @example 3
             */
            readonly claimsToday: number;
            /**
             * @description Maximum claims per UTC day.
             * @example 50
             */
            readonly dailyCap: number;
            readonly capResetsAt: components["schemas"]["Timestamp"] & unknown;
        };
        readonly OpenApiDocument: {
            /** @enum {string} */
            readonly openapi: "3.0.3";
        } & {
            readonly [key: string]: unknown;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Requests that the key, or without a key the client address, may make per window. On a 401 `unauthenticated`: refused credentials of the address. */
        readonly "x-ratelimit-limit": number;
        /** @description Requests left in this window. */
        readonly "x-ratelimit-remaining": number;
        /** @description Seconds until the window ends. */
        readonly "x-ratelimit-reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Contracts and health. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly getIndexerHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The index's position. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IndexerHealth"];
                };
            };
        };
    };
    readonly listProducts: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The products, in the router's order. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProductList"];
                };
            };
        };
    };
    readonly listProductsV1: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The products, in the router's order. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProductList"];
                };
            };
        };
    };
    readonly getProduct: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The product. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Product"];
                };
            };
        };
    };
    readonly getProductV1: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The product. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Product"];
                };
            };
        };
    };
    readonly getQuote: {
        readonly parameters: {
            readonly query: {
                /** @description Coverage, USDC base units (6 decimals); at least 100000000. */
                readonly coverageAmount: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The premium, the payout, and the terms of the trigger. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Quote"];
                };
            };
        };
    };
    readonly getQuoteV1: {
        readonly parameters: {
            readonly query: {
                /** @description Coverage, USDC base units (6 decimals); at least 100000000. */
                readonly coverageAmount: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The premium, the payout, and the terms of the trigger. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Quote"];
                };
            };
        };
    };
    readonly getPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
                /** @description Numbered per product. */
                readonly policyId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The policy. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    readonly listPoliciesByBuyer: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description An address. Accepted in any case, returned with its checksum. */
                readonly address: components["schemas"]["Address"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first; statuses are those at the indexed block's time. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyList"];
                    /** @example productId,policyId,shield,buyer,holder,coverageAmount,payoutAmount,premiumPaid,createdAt,expiresAt,status,triggered,expired,productName,purchasedAt,waitingEndsAt,productActive,priceSnapshot,triggeredAt,bondId,strikePrice,triggerPrice,currentPrice,currentPriceAt,distanceToTriggerBps,due,claim.method,claim.path,claim.body.productId,claim.body.policyId,source,asOfBlock,txHash,blockNumber,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly searchPolicies: {
        readonly parameters: {
            readonly query?: {
                /** @description Only policies of this product's id. */
                readonly product?: string;
                /** @description Only policies that cover this asset: its symbol as bytes32. */
                readonly asset?: string;
                /** @description Only policies with this status at the indexed block's time. */
                readonly status?: "Waiting" | "Active" | "Triggered" | "Expired" | "Cancelled";
                /** @description Only policies of this buyer. */
                readonly buyer?: string;
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Only policies whose `expiresAt` is this time or later, Unix seconds. */
                readonly expiresFrom?: string;
                /** @description Only policies whose `expiresAt` is earlier, Unix seconds; later than `expiresFrom`. */
                readonly expiresTo?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, the newest purchase first; statuses are those at the indexed block's time. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySearch"];
                    /** @example productId,policyId,shield,buyer,holder,coverageAmount,payoutAmount,premiumPaid,createdAt,expiresAt,status,triggered,expired,productName,purchasedAt,waitingEndsAt,productActive,priceSnapshot,triggeredAt,bondId,strikePrice,triggerPrice,currentPrice,currentPriceAt,distanceToTriggerBps,due,claim.method,claim.path,claim.body.productId,claim.body.policyId,source,asOfBlock,txHash,blockNumber,logIndex,distanceToTriggerPercent */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listNearestPolicies: {
        readonly parameters: {
            readonly query?: {
                /** @description Only policies of this product's id. */
                readonly product?: string;
                /** @description Only policies that cover this asset: its symbol as bytes32. */
                readonly asset?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, the nearest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NearestPolicies"];
                    /** @example productId,policyId,shield,buyer,holder,coverageAmount,payoutAmount,premiumPaid,createdAt,expiresAt,status,triggered,expired,productName,purchasedAt,waitingEndsAt,productActive,priceSnapshot,triggeredAt,bondId,strikePrice,triggerPrice,currentPrice,currentPriceAt,distanceToTriggerBps,due,claim.method,claim.path,claim.body.productId,claim.body.policyId,source,asOfBlock,txHash,blockNumber,logIndex,distanceToTriggerPercent */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getPolicyV1: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
                /** @description Numbered per product. */
                readonly policyId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The policy. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    readonly listOwnPolicies: {
        readonly parameters: {
            readonly query?: {
                /** @description The key's own wallet, which is the default; any other is 403. */
                readonly owner?: string;
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first; statuses are those at the indexed block's time. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyList"];
                };
            };
        };
    };
    readonly buyPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Valid per wallet, at most 128 characters; a UUIDv4 is recommended. Required with `Prefer: respond-async`. */
                readonly "Idempotency-Key"?: string;
                /** @description `respond-async` (RFC 7240): do not wait for the transaction. The response is 202 with the purchase's URL if the purchase is still in progress. Needs an `Idempotency-Key`; 400 without one. */
                readonly Prefer?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PurchaseRequest"];
            };
        };
        readonly responses: {
            /** @description The same purchase, made by an earlier call; nothing was spent again. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PurchaseReceipt"];
                };
            };
            /** @description Bought: the receipt of the mined transaction. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PurchaseReceipt"];
                };
            };
            /** @description In progress; only with `Prefer: respond-async`. Get the outcome from `Location`. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Purchase"];
                };
            };
        };
    };
    readonly scanPolicies: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description An address. Accepted in any case, returned with its checksum. */
                readonly wallet: components["schemas"]["Address"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first; statuses are those at the block's time, and `source` is `chain`. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyList"];
                };
            };
        };
    };
    readonly getPurchase: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The purchase. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Purchase"];
                };
            };
        };
    };
    readonly onboard: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Onboard"];
            };
        };
        readonly responses: {
            /** @description The new key. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IssuedKey"];
                };
            };
        };
    };
    readonly listDelegations: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DelegationList"];
                };
            };
        };
    };
    readonly delegate: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewDelegation"];
            };
        };
        readonly responses: {
            /** @description The agent's keys may buy for the buyer from now on. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RecordedDelegation"];
                };
            };
        };
    };
    readonly revokeDelegation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description No purchase is accepted under it from now on. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RevokedDelegation"];
                };
            };
        };
    };
    readonly generateKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GenerateKey"];
            };
        };
        readonly responses: {
            /** @description The new key. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IssuedKey"];
                };
            };
        };
    };
    readonly revokeKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The key is refused from now on. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RevokedKey"];
                };
            };
        };
    };
    readonly getMe: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The wallet, tier, id and limits of the key. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Me"];
                };
            };
        };
    };
    readonly listKeys: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyList"];
                };
            };
        };
    };
    readonly revokeOwnKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly keyId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The key is refused from now on. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RevokedKey"];
                };
            };
        };
    };
    readonly listAllKeys: {
        readonly parameters: {
            readonly query?: {
                /** @description Only keys of this wallet. */
                readonly wallet?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AnyKeyList"];
                };
            };
        };
    };
    readonly listStops: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StopList"];
                };
            };
        };
    };
    readonly stop: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewStop"];
            };
        };
        readonly responses: {
            /** @description It was stopped already. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SetStop"];
                };
            };
            /** @description Stopped by this call. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SetStop"];
                };
            };
        };
    };
    readonly getLedger: {
        readonly parameters: {
            readonly query?: {
                /** @description Leaves out of `inFlight` and `waiting` what is younger, in seconds. What is left at 60 is stuck. */
                readonly minAge?: number;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Ledger"];
                };
            };
        };
    };
    readonly listLateWebhooks: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LateWebhookList"];
                };
            };
        };
    };
    readonly listWebhooks: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    readonly createWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewWebhook"];
            };
        };
        readonly responses: {
            /** @description Created: events of blocks after `fromBlock` will be sent. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
        };
    };
    readonly getWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhook. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    readonly deleteWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Deleted: nothing more is sent. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
        };
    };
    readonly rotateWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The new secret. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RotatedSecret"];
                };
            };
        };
    };
    readonly retryWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhook is active. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ScheduledDeliveries"];
                };
            };
        };
    };
    readonly testWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The attempt was made; `delivered` says whether it succeeded. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TestedWebhook"];
                };
            };
        };
    };
    readonly listDeliveries: {
        readonly parameters: {
            readonly query?: {
                /** @description Only deliveries in this state. */
                readonly state?: "delivering" | "retry_scheduled" | "delivered" | "undeliverable" | "cancelled";
                /** @description `flat` shows each delivery as one row: `event`, `status`, the number of `attempts` and the last `responseCode`, in place of `eventType`, `state` and the attempts. */
                readonly view?: "full" | "flat";
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeliveryList"];
                };
            };
        };
    };
    readonly replayDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: number;
                readonly deliveryId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The event will be sent. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReplayedDelivery"];
                };
            };
        };
    };
    readonly replayEvents: {
        readonly parameters: {
            readonly query: {
                /** @description Start of the events, Unix seconds, within the last 30 days. */
                readonly since: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The events will be sent. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ScheduledDeliveries"];
                };
            };
        };
    };
    readonly getBurnStats: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The sums. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BurnStats"];
                    /** @example day,token_burned,usdc_spent,burns */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getProtocolStats: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The sums as of the indexed block; policies are counted by their status at its time. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProtocolStats"];
                    /** @example active_policies,waiting_policies,policies_total,policies_triggered,policies_cancelled,coverage_total,bonds_outstanding_usd,bonds_queued_usd,total_premium_collected,total_premium_refunded,marketplace_volume_total,marketplace_sales,active_listings,token_total_burned,token_circulating */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getActivity: {
        readonly parameters: {
            readonly query?: {
                /** @description Only events of this type. */
                readonly type?: "policy_purchased" | "bond_minted" | "bond_redeemed" | "marketplace_buy" | "token_burned";
                /** @description Only events of this actor. */
                readonly actor?: string;
                /** @description The older name of `from`; of both the later one counts. */
                readonly since?: string;
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description At most 100 events, newest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ActivityFeed"];
                    /** @example type,actor,amount,ref,tx_hash,block_number,block_timestamp,log_index */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getTokenPriceHistory: {
        readonly parameters: {
            readonly query?: {
                /** @description How far back; `all` starts at the first burn. If absent, `all` with `from` or `to`, and `30d` without. */
                readonly range?: "24h" | "7d" | "30d" | "all";
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The points, oldest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceHistory"];
                    /** @example timestamp,price,token_burned,usdc_spent,source,tx_hash,block_number,log_index */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getCover: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The sums as of the indexed block. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Cover"];
                    /** @example product_id,product_name,active.policies,active.coverage,active.payout,waiting.policies,waiting.coverage,waiting.payout */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getProductStats: {
        readonly parameters: {
            readonly query?: {
                /** @description Only policies bought from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only policies bought before this time, Unix seconds; later than `from`. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The sums as of the indexed block. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ProductStats"];
                    /** @example product_id,product_name,asset,policies,active,waiting,triggered,expired,cancelled,coverage,premium,premium_refunded,payout,paid,loss_ratio,realised_trigger_rate,break_even_trigger_rate,modelled_trigger_rate */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getSeries: {
        readonly parameters: {
            readonly query: {
                /** @description `premiums`: premiums paid, refunded ones too; `cover`: coverage sold; `policies`: policies bought; `payouts`: bonds issued for triggered policies; `triggers`: triggered policies; `burns`: tokens burned; `bond_sales`: prices of sold listings; `new_buyers`: buyers whose first policy was bought in the bucket; `returning_buyers`: buyers who bought in the bucket, and for the first time in an earlier one. A bucket's new and returning buyers are together all that bought in it. */
                readonly metric: "premiums" | "cover" | "policies" | "payouts" | "triggers" | "burns" | "bond_sales" | "new_buyers" | "returning_buyers";
                /** @description Length of the buckets. */
                readonly interval?: "day" | "week" | "month";
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Only of this product's id; for `premiums`, `cover`, `policies`, `payouts`, `triggers`. */
                readonly product?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The buckets, oldest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Series"];
                    /** @example day,start,end,complete,value,events */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listClaims: {
        readonly parameters: {
            readonly query?: {
                /** @description Only claims of this product's id. */
                readonly product?: string;
                /** @description Only claims of this buyer. */
                readonly buyer?: string;
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClaimFeed"];
                    /** @example product_id,product_name,policy_id,buyer,submitter,paid,bond_epoch,coverage,payout,premium,asset,strike_price,trigger_price,bought_at,proven_at,triggered_at,seconds_to_trigger,seconds_from_proof,tx_hash,block_number,block_timestamp,log_index */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getVaultStats: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The vault. Amounts are 0 before the first event. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VaultStats"];
                    /** @example reserve_token,reserve_usdc,reserved_usdc,obligations_usd,capacity_usdc,utilisation,solvency_ratio,tvl_usdc,token_price.price,token_price.source,token_price.block_number,token_price.observed_at,token_price.age_seconds */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getBondMaturities: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Every epoch with bonds, the earliest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BondMaturities"];
                    /** @example epoch_id,maturity_date,matured,minted_usd,redeemed_usd,queued_usd,surrendered_usd,outstanding_usd,listed_usd */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getRedemptionQueue: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page of the waiting entries, the next to be paid first. `from` and `to` leave entries out by the time at which they were queued; `waiting` counts all. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RedemptionQueue"];
                    /** @example queue_id,holder,epoch_id,usd_amount,ahead_usd,target_week,payable_from,expected_from,tx_hash,block_number,block_timestamp,log_index */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listBondHolders: {
        readonly parameters: {
            readonly query?: {
                /** @description Only bonds of this epoch, YYYYMM. */
                readonly epoch?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, the largest holder first. The figures are of the given epoch, or of all. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BondHolders"];
                    /** @example holder,bonds_usd,share */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listBuyers: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, the largest buyer first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Buyers"];
                    /** @example buyer,policies,coverage_usdc,premium_usdc,share */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getMarketStatistics: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The market. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MarketStatistics"];
                    /** @example day,sales,sold_usd,volume_usdc,fees_usdc,average_price */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getBurnerStats: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The flows by day, and the burners. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BurnerStats"];
                    /** @example day,source,premium_usdc,fee_usdc,spent_usdc,token_burned,burns */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listPauses: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, the newest pause first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pauses"];
                    /** @example scope,started_at,ended_at,duration_seconds,started_by,ended_by,start_price,end_price,end_tx_hash,tx_hash,block_number,log_index */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getPrices: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The prices. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prices"];
                    /** @example symbol,asset,answer,round_id,updated_at,age_seconds,fresh */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getAssetPriceHistory: {
        readonly parameters: {
            readonly query: {
                /** @description The asset's symbol as bytes32. */
                readonly asset: components["schemas"]["Bytes32"] & unknown;
                /** @description How far back, in steps of 12 seconds for `1h`, 300 seconds for `24h`, 1800 seconds for `7d`, 7200 seconds for `30d`. */
                readonly range?: "1h" | "24h" | "7d" | "30d";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The points, oldest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AssetPriceHistory"];
                    /** @example timestamp,price,lowest,highest,rounds */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getKeeperAudit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The counts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["KeeperAudit"];
                    /** @example result,reason,policies */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getLiveStats: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The figures. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LiveStats"];
                };
            };
        };
    };
    readonly listBondsByOwner: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description An address. Accepted in any case, returned with its checksum. */
                readonly address: components["schemas"]["Address"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Epochs with a balance above zero, earliest maturity first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BondList"];
                    /** @example bondId,epochId,owner,amount,faceValueUsd,maturityDate,matured */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listWalletBonds: {
        readonly parameters: {
            readonly query?: {
                /** @description `active`: held and not matured; `matured`: held and redeemable; `redeemed`: some were redeemed and paid; `all`: each of these, and those in the redemption queue. */
                readonly status?: "active" | "matured" | "redeemed" | "all";
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description An address. Accepted in any case, returned with its checksum. */
                readonly wallet: components["schemas"]["Address"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, the latest epoch first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WalletBondList"];
                };
            };
        };
    };
    readonly scanBonds: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description An address. Accepted in any case, returned with its checksum. */
                readonly wallet: components["schemas"]["Address"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Epochs with a balance above zero, earliest maturity first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BondList"];
                };
            };
        };
    };
    readonly listRecentTriggers: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TriggerFeed"];
                    /** @example productId,productName,policyId,submitter,buyer,bondId,bondAmount,txHash,blockNumber,blockTimestamp,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listDuePolicies: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, by deadline, then by product and id. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DuePolicyList"];
                    /** @example productId,productName,policyId,buyer,holder,coverageAmount,payoutAmount,currentPrice,currentPriceAt,strikePrice,triggerPrice,expiresAt,metAt,rounds,oracleProof,validUntil,claim.method,claim.path,claim.body.productId,claim.body.policyId */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getTriggerEvaluation: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
                /** @description Numbered per product. */
                readonly policyId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The evaluation, with one page of rounds. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TriggerEvaluation"];
                    /** @example roundId,phase,price,updatedAt,verdict,txHash,blockNumber,blockTimestamp,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listRecentBurns: {
        readonly parameters: {
            readonly query?: {
                /** @description Only burns of this kind. */
                readonly source?: "twap_burner" | "buyback_engine" | "direct";
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BurnFeed"];
                    /** @example source,burner,tokenBurned,usdcSpent,effectivePrice,txHash,blockNumber,blockTimestamp,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listActiveListings: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ListingFeed"];
                    /** @example listingId,sellerAddress,bondId,epochId,amount,totalPriceUsdc,pricePerUnit,maturityDate,matured,status,createdAt,txHash,blockNumber,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listRecentSales: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SaleFeed"];
                    /** @example listingId,buyer,seller,bondId,epochId,amount,totalPriceUsdc,pricePerUnit,sellerFeeUsdc,buyerFeeUsdc,listedAt,soldAt,txHash,blockNumber,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly searchListings: {
        readonly parameters: {
            readonly query?: {
                /** @description By total price or by listing time; `createdAt-desc` and `listedAt-desc` are the same. */
                readonly sortBy?: "price-asc" | "price-desc" | "createdAt-desc" | "listedAt-desc";
                /** @description Highest total price, USDC, 6 decimals. */
                readonly maxPriceUsdc?: string;
                /** @description Lowest `discountBps`; 0 leaves nothing out. */
                readonly minDiscountBps?: number;
                /** @description Only listings of this seller. */
                readonly seller?: string;
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ListingSearch"];
                    /** @example listingId,seller,sellerAddress,bondId,epochId,amount,totalPriceUsdc,priceUsdc,pricePerUnit,discountBps,maturityDate,matured,status,buyer,createdAt,listedAt,closedAt,closedTxHash,txHash,blockNumber,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getListing: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the listing; 0 is valid. */
                readonly listingId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The listing. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MarketListing"];
                    /** @example listingId,seller,sellerAddress,bondId,epochId,amount,totalPriceUsdc,priceUsdc,pricePerUnit,discountBps,maturityDate,matured,status,buyer,createdAt,listedAt,closedAt,closedTxHash,txHash,blockNumber,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly getMarketStats: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Floor, volume and listings at the block. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MarketStats"];
                    /** @example floor,floorPerUnit,volume24h,sales24h,totalListings,totalVolume,totalSales,totalFees */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly listTrades: {
        readonly parameters: {
            readonly query?: {
                /** @description Only rows of blocks from this time on, Unix seconds. */
                readonly from?: string;
                /** @description Only rows of blocks before this time, Unix seconds; later than `from`. */
                readonly to?: string;
                /** @description Maximum number of entries in the response. */
                readonly limit?: number;
                /** @description Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it. */
                readonly offset?: number;
                /** @description The next cursor of the previous page. */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TradeFeed"];
                    /** @example listingId,buyer,buyerAddress,seller,sellerAddress,bondId,epochId,amount,priceUsdc,totalPaidUsdc,pricePerUnit,timestamp,executedAt,txHash,blockNumber,logIndex */
                    readonly "text/csv": string;
                };
            };
        };
    };
    readonly signPriceProof: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignProofRequest"];
            };
        };
        readonly responses: {
            /** @description The price and its signature. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PriceProof"];
                };
            };
        };
    };
    readonly getOracleSigner: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The signer's address, and the domain of its signatures. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OracleSigner"];
                };
            };
        };
    };
    readonly reportRedemption: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RedemptionRequest"];
            };
        };
        readonly responses: {
            /** @description Redeemed, or queued: `status` says which. Once a queued one is paid, the same report has the payment. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Redemption"];
                };
            };
            /** @description The transaction is in no block yet. Send the same report again, or read `Location`. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Report"];
                };
            };
        };
    };
    readonly reportListing: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ListingRequest"];
            };
        };
        readonly responses: {
            /** @description Listed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["NewListing"];
                };
            };
            /** @description The transaction is in no block yet. Send the same report again, or read `Location`. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Report"];
                };
            };
        };
    };
    readonly reportListingPurchase: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ListingPurchaseRequest"];
            };
        };
        readonly responses: {
            /** @description Bought. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ListingPurchase"];
                };
            };
            /** @description The transaction is in no block yet. Send the same report again, or read `Location`. */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Report"];
                };
            };
        };
    };
    readonly getReport: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The report. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Report"];
                };
            };
        };
    };
    readonly prepareRedemption: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PrepareRedemptionRequest"];
            };
        };
        readonly responses: {
            /** @description The prepared action. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    readonly prepareListing: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PrepareListingRequest"];
            };
        };
        readonly responses: {
            /** @description The prepared action. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    readonly prepareListingPurchase: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PrepareListingActionRequest"];
            };
        };
        readonly responses: {
            /** @description The prepared action. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    readonly prepareListingCancellation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PrepareListingActionRequest"];
            };
        };
        readonly responses: {
            /** @description The prepared action. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    readonly prepareTrigger: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PrepareTriggerRequest"];
            };
        };
        readonly responses: {
            /** @description The prepared action. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    readonly preparePolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PreparePolicyRequest"];
            };
        };
        readonly responses: {
            /** @description The prepared action. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    readonly getSandbox: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The status; `enabled` is false if there is no sandbox. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SandboxInfo"];
                };
            };
        };
    };
    readonly trySandbox: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description At most 128 characters; a UUIDv4 is recommended. Without one each call buys another policy. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["SandboxRequest"];
            };
        };
        readonly responses: {
            /** @description Bought: the transaction is mined on the testnet. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SandboxPurchase"];
                };
            };
        };
    };
    readonly getSandboxTransaction: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly txHash: components["schemas"]["Bytes32"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The mined transaction. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SandboxTransaction"];
                };
            };
        };
    };
    readonly getSandboxPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description 32 bytes as hex. */
                readonly productId: components["schemas"]["Bytes32"];
                /** @description Numbered per product. */
                readonly policyId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The policy. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Policy"];
                };
            };
        };
    };
    readonly claimFaucet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["FaucetClaimRequest"];
            };
        };
        readonly responses: {
            /** @description Both transfers are mined. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["FaucetClaim"];
                };
            };
        };
    };
    readonly getFaucetStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The status. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["FaucetStatus"];
                };
            };
        };
    };
    readonly getExplorer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly getOpenApi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description OpenAPI 3.0.3. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["OpenApiDocument"];
                };
            };
        };
    };
}
