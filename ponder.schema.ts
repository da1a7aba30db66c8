import {
  bigint,
  boolean,
  hex,
  index,
  integer,
  onchainTable,
  onchainView,
  primaryKey,
  sql,
  text,
} from "ponder";
import { sumTable } from "./src/shared/sums/sum-table.ts";

/**
 * The indexed tables. Hex columns (addresses, hashes, ids) are lowercase. USDC amounts, coverage and payouts have 6
 * decimals, the token and every price 18; bond amounts are whole dollars. Times are Unix seconds of a block, unless a
 * column says otherwise. Feeds are read newest first, by primary key (block number, log index) descending.
 */

/** The position of an event in the chain. On an entity's row, that of the event that created it. */
const eventColumns = () => ({
  blockNumber: bigint().notNull(),
  logIndex: integer().notNull(),
  blockHash: hex().notNull(),
  blockTimestamp: bigint().notNull(),
  txHash: hex().notNull(),
});

/** The burner, the engine that buys bonds back and burns tokens of the reserve, and `direct` for all other burns. */
export const burnSources = ["twap_burner", "buyback_engine", "direct"] as const;
export const activityTypes = [
  "policy_purchased",
  "bond_minted",
  "bond_redeemed",
  "marketplace_buy",
  "token_burned",
] as const;

export const pauseScopes = ["router", "auto", "global"] as const;

/** The key of sums over the whole protocol, in SQL. */
const whole = { id: "'protocol'" };
/** SQL for the start of the UTC day, or of the redemption throttle's week, of a row's block. */
const dayOfBlock = "block_timestamp - block_timestamp % 86400";
const weekOfBlock = "block_timestamp - block_timestamp % 604800";
const ofEpoch = { epochId: "epoch_id" };
const ofHolder = { owner: "holder", epochId: "epoch_id" };
/** What an unpaid redemption in the queue adds to the bonds of its epoch or holder. */
const queueAmounts = { queued: "case status when 'queued' then usd_amount end" };
/** The zero address, in SQL. */
const nobody = `'0x${"0".repeat(40)}'`;

// ---------------------------------------------------------------------------------------------------------- chain head

/** One row: the newest indexed block. A reorganisation reverts it like all rows. Reads use its timestamp as "now". */
export const head = onchainTable("head", (t) => ({
  chainId: t.integer().primaryKey(),
  number: t.bigint().notNull(),
  hash: t.hex().notNull(),
  timestamp: t.bigint().notNull(),
}));

// ------------------------------------------------------------------------------------------------ products and policies

/** A product, from its events, and from the catalogue: null for a product that it lacks. All else is read from the contracts. */
export const product = onchainTable(
  "product",
  (t) => ({
    productId: t.hex().primaryKey(),
    name: t.text(),
    /** The adapter of its newest registration; null before. */
    shield: t.hex(),
    asset: t.hex(),
    durationSeconds: t.bigint(),
    triggerDropBps: t.integer(),
    /** The manager's switch: false once deactivated. The router's has no event with its state. */
    active: t.boolean().notNull(),
    /** Block of the newest event about the product. */
    updatedAtBlock: t.bigint().notNull(),
  }),
  (table) => ({ byName: index().on(table.name) }),
);

/** Every event about a product. */
export const productEvent = onchainTable(
  "product_event",
  (t) => ({
    ...eventColumns(),
    productId: t.hex().notNull(),
    kind: t.text({ enum: ["registered", "configured", "deactivated", "removed"] }).notNull(),
    /** The event's other arguments by name. */
    args: t.jsonb().$type<Record<string, string>>().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byProduct: index().on(table.productId, table.blockNumber, table.logIndex),
  }),
);

/**
 * A policy, positioned at its `PolicyPurchased` event, or at `PolicyCreated` if there is no other. These columns and the
 * head's timestamp determine its status: triggered where that time is set, else expired after `expiresAt`, else active.
 */
const policyColumns = () => ({
  productId: hex().notNull(),
  policyId: bigint().notNull(),
  buyer: hex().notNull(),
  /** The sender of the purchase, a relayer or the buyer, from the router's event; null when there is only `PolicyCreated`. */
  paidBy: hex(),
  /** The adapter of the shield that keeps the policy; null when the index did not know the product. */
  shield: hex(),
  /** The covered asset's symbol as bytes32; null when the index did not know the product. */
  asset: hex(),
  /** The asset's price at purchase, 18 decimals, from the shield's event; null without one. */
  strike: bigint(),
  /** The highest price that triggers the policy: 18 decimals, rounded down to 8. Null as `strike`, or for an unknown drop. */
  triggerPrice: bigint(),
  coverage: bigint().notNull(),
  premium: bigint().notNull(),
  payout: bigint().notNull(),
  /** Token price in USD with 18 decimals at the end of the purchase's block; 0 when the node or the oracle had none. */
  priceSnapshot: bigint().notNull(),
  createdAt: bigint().notNull(),
  /** From the shield's event; null without one. */
  expiresAt: bigint(),
  /** Observations in a row so far; the third pays. */
  observations: integer().notNull(),
  /** The time of the last observation, that of the round which it saw (null when the index did not know it), and its block or a later reset's. */
  observedAt: bigint(),
  observedRound: bigint(),
  observedIn: bigint(),
  triggeredAt: bigint(),
  /** The time at which the expired policy was closed on chain. It expired earlier. */
  markedExpiredAt: bigint(),
  /** The bond's epoch and its face value in whole dollars; null until triggered. */
  bondEpochId: bigint(),
  bondAmount: bigint(),
  ...eventColumns(),
});

export const policy = onchainTable("policy", policyColumns(), (table) => ({
  pk: primaryKey({ columns: [table.productId, table.policyId] }),
  byBuyer: index().on(table.buyer, table.blockNumber, table.logIndex),
  byBlock: index().on(table.blockNumber, table.logIndex),
  byProduct: index().on(table.productId, table.blockNumber, table.logIndex),
  // Named, because a name is made of the columns alone.
  triggeredByProduct: index("policy_triggered_by_product")
    .on(table.productId, table.blockNumber, table.logIndex)
    .where(sql`triggered_at is not null`),
  byExpiry: index().on(table.expiresAt, table.triggeredAt),
  // The open ones, with nulls first, by their expiry: those that expired and nobody has closed.
  byOpen: index().on(table.triggeredAt, table.markedExpiredAt, table.expiresAt),
}));

/**
 * Policies whose key has come again: a product with a new adapter, or with another manager, counts from 1 again. They stay
 * in lists and sums; the key is the newer policy's. Nobody can trigger the older one any more, so an open one has ended.
 */
export const replacedPolicy = onchainTable("replaced_policy", policyColumns(), (table) => ({
  pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
  byBuyer: index().on(table.buyer, table.blockNumber, table.logIndex),
}));

/** All policies that were ever sold. */
const policies = [policy, replacedPolicy] as const;

/** Evaluations of open policies: each observation, and each reset by a price above the trigger price. */
export const policyObservation = onchainTable(
  "policy_observation",
  (t) => ({
    ...eventColumns(),
    productId: t.hex().notNull(),
    policyId: t.bigint().notNull(),
    /** Observations in a row after it; 0 for a reset. */
    count: t.integer().notNull(),
    /** The fall from the strike that it saw, in basis points. */
    dropBps: t.bigint().notNull(),
    /** ACCRUING, RESET or TRIGGER_DROP. */
    reason: t.hex().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byPolicy: index().on(table.productId, table.policyId),
  }),
);

/** Triggered policies (`PolicyTriggered`), with the bond that paid them. */
export const policyTrigger = onchainTable(
  "policy_trigger",
  (t) => ({
    ...eventColumns(),
    productId: t.hex().notNull(),
    policyId: t.bigint().notNull(),
    buyer: t.hex().notNull(),
    /** From the event. */
    bondAmount: t.bigint().notNull(),
    reason: t.hex().notNull(),
    /** From `TriggerSubmitted` in the same transaction; its sender where there was none. */
    submitter: t.hex().notNull(),
    /** The epoch of the bond issued in the same transaction; null where there was none. */
    bondEpochId: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byPolicy: index().on(table.productId, table.policyId),
    byProduct: index().on(table.productId, table.blockNumber, table.logIndex),
    byBuyer: index().on(table.buyer, table.blockNumber, table.logIndex),
  }),
);

/** Policies that were marked expired on chain. */
export const policyClosing = onchainTable(
  "policy_closing",
  (t) => ({
    ...eventColumns(),
    productId: t.hex().notNull(),
    policyId: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byPolicy: index().on(table.productId, table.policyId),
  }),
);

// ---------------------------------------------------------------------------------------------------------- price feeds

/**
 * Every round of the feeds of the covered assets, from an hour before the first indexed block at least. A round counts once
 * its phase is not later than the feed's: a new aggregator may answer before the feed's proxy asks it.
 */
export const oracleRound = onchainTable(
  "oracle_round",
  (t) => ({
    ...eventColumns(),
    /** The asset's symbol as bytes32, as in `product`. */
    asset: t.hex().notNull(),
    /** The id by which the feed knows the round: `phase << 64 | the aggregator's round`. */
    roundId: t.bigint().notNull(),
    /** 0 for a feed without phases. */
    phase: t.integer().notNull(),
    /** USD with 8 decimals, as the feed gives it. */
    answer: t.bigint().notNull(),
    /** From the event. */
    updatedAt: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.asset, table.roundId] }),
    byTime: index().on(table.asset, table.updatedAt, table.answer),
    byBlock: index().on(table.blockNumber, table.logIndex),
  }),
);

/**
 * The phases from which each feed has answered, with the log that began them. A phase without an announcement is positioned
 * at the first log for which the index needed it.
 */
export const oraclePhase = onchainTable(
  "oracle_phase",
  (t) => ({
    ...eventColumns(),
    asset: t.hex().notNull(),
    phase: t.integer().notNull(),
    /** The aggregator's newest round before that log, which the feed answered from then on; null for none. */
    roundId: t.bigint(),
    answer: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.asset, table.phase] }),
    byBlock: index().on(table.blockNumber, table.logIndex),
  }),
);

/** The phase from which each feed answers, and its newest round; null while the phase's aggregator is unknown. */
export const oracleFeed = onchainTable("oracle_feed", (t) => ({
  asset: t.hex().primaryKey(),
  phase: t.integer().notNull(),
  roundId: t.bigint(),
  answer: t.bigint(),
  updatedAt: t.bigint(),
}));

/** Every status of the chain's sequencer that its uptime feed has reported (`AnswerUpdated`). */
export const sequencerEvent = onchainTable(
  "sequencer_event",
  (t) => ({
    ...eventColumns(),
    up: t.boolean().notNull(),
    /** Start of the status, Unix seconds. */
    startedAt: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }) }),
);

/** The status of the chain's sequencer. One row (`id` is `sequencer`); missing while unknown. */
export const sequencerState = onchainTable("sequencer_state", (t) => ({
  id: t.text({ enum: ["sequencer"] }).primaryKey(),
  up: t.boolean().notNull(),
  /** Start of the status, Unix seconds. */
  startedAt: t.bigint().notNull(),
}));

// --------------------------------------------------------------------------------------------------------------- bonds

/** Bonds issued by the vault for triggered policies (`BondIssued`). */
export const bondIssue = onchainTable(
  "bond_issue",
  (t) => ({
    ...eventColumns(),
    holder: t.hex().notNull(),
    epochId: t.bigint().notNull(),
    usdAmount: t.bigint().notNull(),
    /** The policy triggered in the same transaction; null where there was none. */
    productId: t.hex(),
    policyId: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byHolder: index().on(table.holder, table.blockNumber, table.logIndex),
  }),
);

/** Paid redemptions (`BondRedeemed`), at once or from the queue. */
export const bondRedemption = onchainTable(
  "bond_redemption",
  (t) => ({
    ...eventColumns(),
    holder: t.hex().notNull(),
    epochId: t.bigint().notNull(),
    usdAmount: t.bigint().notNull(),
    tokenAmount: t.bigint().notNull(),
    priceUsed: t.bigint().notNull(),
    /** Null when paid at once, and for a queue entry that the index does not know. */
    queueId: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byHolder: index().on(table.holder, table.blockNumber, table.logIndex),
    byTx: index().on(table.txHash),
  }),
);

/** The redemption queue (`BondQueued`), with the payment of each entry. */
export const redemptionQueue = onchainTable(
  "redemption_queue",
  (t) => ({
    /** The week in which it can be paid, × 10,000, and its place among that week's entries, from 0. */
    queueId: t.bigint().primaryKey(),
    holder: t.hex().notNull(),
    epochId: t.bigint().notNull(),
    usdAmount: t.bigint().notNull(),
    /** The week of the redemption throttle, floor(timestamp / 7 days), in which the entry can be paid, and never after it. */
    targetEpoch: t.bigint().notNull(),
    /** An unpaid entry stays `queued` after its week: reads show it as stranded then. */
    status: t.text({ enum: ["queued", "paid"] }).notNull(),
    tokenAmount: t.bigint(),
    priceUsed: t.bigint(),
    paidAt: t.bigint(),
    paidTxHash: t.hex(),
    ...eventColumns(),
  }),
  (table) => ({
    byHolder: index().on(table.holder, table.queueId),
    byStatus: index().on(table.status, table.queueId),
    byBlock: index().on(table.blockNumber, table.logIndex),
    byTx: index().on(table.txHash),
  }),
);

/** How many entries a week's queue has had. */
export const queueWeek = onchainTable("queue_week", (t) => ({
  week: t.bigint().primaryKey(),
  entries: t.integer().notNull(),
}));

/** The unpaid entries of a week with the same bonds, in order: a payment from the queue names no entry. */
export const openRedemption = onchainTable(
  "open_redemption",
  (t) => ({
    week: t.bigint().notNull(),
    holder: t.hex().notNull(),
    epochId: t.bigint().notNull(),
    usdAmount: t.bigint().notNull(),
    queueIds: t.bigint().array().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.week, table.holder, table.epochId, table.usdAmount] }),
  }),
);

/** ERC-1155 transfers of bonds, including mints and burns; one row for each item of a batch. */
export const bondTransfer = onchainTable(
  "bond_transfer",
  (t) => ({
    ...eventColumns(),
    item: t.integer().notNull(),
    operator: t.hex().notNull(),
    from: t.hex().notNull(),
    to: t.hex().notNull(),
    epochId: t.bigint().notNull(),
    amount: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex, table.item] }),
    byFrom: index().on(table.from, table.blockNumber, table.logIndex),
    byTo: index().on(table.to, table.blockNumber, table.logIndex),
  }),
);

/** Supply events of the claim bond: `BondsMinted`, `BondsBurned`, `BondsBurnedByHolder`, `EpochCreated`. */
export const bondSupplyEvent = onchainTable(
  "bond_supply_event",
  (t) => ({
    ...eventColumns(),
    kind: t.text({ enum: ["minted", "burned", "surrendered", "epoch_created"] }).notNull(),
    epochId: t.bigint().notNull(),
    /** Null for a new epoch. */
    holder: t.hex(),
    /** Whole dollars; for a new epoch its maturity date. */
    amount: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byKind: index().on(table.kind, table.epochId, table.blockNumber, table.logIndex),
  }),
);

// --------------------------------------------------------------------------------------------------------- marketplace

/** A listing, positioned at its `Listed` event. */
export const listing = onchainTable(
  "listing",
  (t) => ({
    listingId: t.bigint().primaryKey(),
    seller: t.hex().notNull(),
    epochId: t.bigint().notNull(),
    amount: t.bigint().notNull(),
    /** Total price in USDC. */
    price: t.bigint().notNull(),
    /** USDC per bond, rounded down. */
    unitPrice: t.bigint().notNull(),
    status: t.text({ enum: ["active", "sold", "cancelled"] }).notNull(),
    buyer: t.hex(),
    /** Time and transaction of the sale or cancellation; null while active. */
    closedAt: t.bigint(),
    closedTxHash: t.hex(),
    ...eventColumns(),
  }),
  (table) => ({
    byStatus: index().on(table.status, table.listingId),
    byPrice: index().on(table.status, table.price, table.listingId),
    byUnitPrice: index().on(table.status, table.unitPrice, table.listingId),
    byEpoch: index().on(table.status, table.epochId, table.unitPrice, table.listingId),
    bySeller: index().on(table.seller, table.status, table.price, table.listingId),
    byBlock: index().on(table.blockNumber, table.logIndex),
    byTx: index().on(table.txHash),
  }),
);

/** Sales (`Bought`). */
export const sale = onchainTable(
  "sale",
  (t) => ({
    ...eventColumns(),
    listingId: t.bigint().notNull(),
    buyer: t.hex().notNull(),
    seller: t.hex().notNull(),
    price: t.bigint().notNull(),
    sellerFee: t.bigint().notNull(),
    buyerFee: t.bigint().notNull(),
    /** From the listing; null when the index does not know it. */
    epochId: t.bigint(),
    amount: t.bigint(),
    unitPrice: t.bigint(),
    listedAt: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byBuyer: index().on(table.buyer, table.blockNumber, table.logIndex),
    bySeller: index().on(table.seller, table.blockNumber, table.logIndex),
    byTx: index().on(table.txHash),
  }),
);

/** Listings cancelled by the seller. */
export const listingCancellation = onchainTable(
  "listing_cancellation",
  (t) => ({
    ...eventColumns(),
    listingId: t.bigint().notNull(),
    seller: t.hex().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }) }),
);

/** What sales credit to a seller, and what sellers withdraw from the marketplace: USDC, 6 decimals. */
export const proceedsEvent = onchainTable(
  "proceeds_event",
  (t) => ({
    ...eventColumns(),
    kind: t.text({ enum: ["credited", "withdrawn"] }).notNull(),
    seller: t.hex().notNull(),
    amount: t.bigint().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    bySeller: index().on(table.seller, table.blockNumber, table.logIndex),
  }),
);

// --------------------------------------------------------------------------------------------------------------- burns

/** Burned tokens: transfers to the zero address. */
export const tokenBurn = onchainTable(
  "token_burn",
  (t) => ({
    ...eventColumns(),
    /** The former owner of the tokens: the burner, the vault or any holder. */
    burner: t.hex().notNull(),
    tokenAmount: t.bigint().notNull(),
    source: t.text({ enum: burnSources }).notNull(),
    /** From `BurnExecuted` in the same transaction; 0 for any other burn. */
    usdcSpent: t.bigint().notNull(),
    /** USD per token, 18 decimals; null without a `BurnExecuted`. */
    effectivePrice: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    bySource: index().on(table.source, table.blockNumber, table.logIndex),
    byBurner: index().on(table.burner, table.blockNumber, table.logIndex),
  }),
);

/** The burner's reports of its burns (`BurnExecuted`): the price history. */
export const burnExecution = onchainTable(
  "burn_execution",
  (t) => ({
    ...eventColumns(),
    usdcSpent: t.bigint().notNull(),
    tokenBurned: t.bigint().notNull(),
    /** USD per token, 18 decimals. */
    effectivePrice: t.bigint().notNull(),
    /** From the event. */
    executedAt: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }) }),
);

/** Premiums that the burner received from the router (`PremiumReceived`); the marketplace's fees are in its sales. */
export const burnerIncome = onchainTable(
  "burner_income",
  (t) => ({
    ...eventColumns(),
    /** Who paid it in: the router. */
    from: t.hex().notNull(),
    usdcAmount: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }) }),
);

// --------------------------------------------------------------------------------------- feed, sums, state, administration

/** Totals of the vault that no single event names, dollars with 18 decimals. One row (`id` is `vault`). */
export const vaultBalance = onchainTable("vault_balance", (t) => ({
  id: t.text({ enum: ["vault"] }).primaryKey(),
  /** Bonds in circulation. */
  committed: t.bigint().notNull(),
  /** Redemptions in the queue, stranded ones too. */
  queued: t.bigint().notNull(),
  /** Tokens that back the bonds, 18 decimals: all transfers to the vault minus all from it. */
  reserve: t.bigint().notNull(),
}));

/** Events about the vault's totals: reservations in USDC (6 decimals), obligations in whole dollars, burned tokens (18 decimals). */
export const vaultEvent = onchainTable(
  "vault_event",
  (t) => ({
    ...eventColumns(),
    kind: t
      .text({
        enum: ["reserved", "committed", "released", "obligations_decreased", "reserves_burned"],
      })
      .notNull(),
    amount: t.bigint().notNull(),
    /** The total or the balance after the event. */
    newTotal: t.bigint().notNull(),
    /** Null where the event has no caller. */
    caller: t.hex(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byKind: index().on(table.kind, table.blockNumber, table.logIndex),
  }),
);

/** Every pause and unpause. */
export const pauseEvent = onchainTable(
  "pause_event",
  (t) => ({
    ...eventColumns(),
    scope: t.text({ enum: pauseScopes }).notNull(),
    paused: t.boolean().notNull(),
    /** The account that toggled the global pause. */
    by: t.hex(),
    /** The token's price, 18 decimals, that started or ended the automatic pause. */
    price: t.bigint(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byScope: index().on(table.scope, table.blockNumber, table.logIndex),
  }),
);

/** Every change of the relayer allowlist. */
export const relayerEvent = onchainTable(
  "relayer_event",
  (t) => ({
    ...eventColumns(),
    relayer: t.hex().notNull(),
    authorized: t.boolean().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }) }),
);

/** Administrative events of the indexed contracts: ownership and setters. */
export const adminEvent = onchainTable(
  "admin_event",
  (t) => ({
    ...eventColumns(),
    /** The contract's key, as in the deployment file; `shield` and `shieldAdapter` where each product has one, `priceOracle` for the vault's. */
    contract: t.text().notNull(),
    address: t.hex().notNull(),
    event: t.text().notNull(),
    /** Arguments by name; integers as decimal strings, hex lowercase. */
    args: t.jsonb().$type<Record<string, unknown>>().notNull(),
  }),
  (table) => ({
    pk: primaryKey({ columns: [table.blockNumber, table.logIndex] }),
    byContract: index().on(table.contract, table.blockNumber, table.logIndex),
  }),
);

// ---------------------------------------------------------------------------------------------------------------- sums

/** One row per buyer. */
export const account = sumTable(
  "account",
  {
    address: hex().notNull(),
    policies: integer().notNull(),
    coverage: bigint().notNull(),
    premium: bigint().notNull(),
  },
  {
    key: ["address"],
    indexes: [["coverage", "address"]],
    sources: [
      {
        from: policies,
        key: { address: "buyer" },
        add: { policies: "1", coverage: "coverage", premium: "premium" },
      },
    ],
  },
);

/** Sums over all policies of a product, even of one that the index does not know. */
export const productStats = sumTable(
  "product_stats",
  {
    productId: hex().notNull(),
    policies: integer().notNull(),
    triggered: integer().notNull(),
    /** Policies with a known expiry that were not triggered: open or expired, as the time tells. */
    untouched: integer().notNull(),
    coverage: bigint().notNull(),
    premium: bigint().notNull(),
    /** What all policies together would be paid if each were triggered, 6 decimals. */
    payout: bigint().notNull(),
    /** Bonds issued for triggered policies, in whole dollars. */
    paid: bigint().notNull(),
  },
  {
    key: ["productId"],
    sources: [
      {
        from: policies,
        key: { productId: "product_id" },
        add: {
          ...{ policies: "1", coverage: "coverage", premium: "premium", payout: "payout" },
          untouched: "case when triggered_at is null and expires_at is not null then 1 end",
        },
      },
      {
        ...{ from: policyTrigger, key: { productId: "product_id" } },
        add: { triggered: "1", paid: "bond_amount" },
      },
    ],
  },
);

/** Purchases and triggers of a product in one UTC day, by block time. A day without any has no row. */
export const productDay = sumTable(
  "product_day",
  {
    /** Start of the day, Unix seconds. */
    dayStart: bigint().notNull(),
    productId: hex().notNull(),
    policies: integer().notNull(),
    coverage: bigint().notNull(),
    premium: bigint().notNull(),
    triggered: integer().notNull(),
    /** Bonds issued for triggered policies, in whole dollars. */
    paid: bigint().notNull(),
  },
  {
    key: ["dayStart", "productId"],
    sources: [
      {
        from: policies,
        key: { dayStart: "created_at - created_at % 86400", productId: "product_id" },
        add: { policies: "1", coverage: "coverage", premium: "premium" },
      },
      {
        from: policyTrigger,
        key: { dayStart: "block_timestamp - block_timestamp % 86400", productId: "product_id" },
        add: { triggered: "1", paid: "bond_amount" },
      },
    ],
  },
);

/** One row (`id` is `protocol`): sums over all indexed events. It is missing until the first event. */
export const protocolStats = sumTable(
  "protocol_stats",
  {
    id: text({ enum: ["protocol"] }).notNull(),
    policies: integer().notNull(),
    coverage: bigint().notNull(),
    premium: bigint().notNull(),
    triggered: integer().notNull(),
    /** Bonds minted and not burned, in whole dollars. */
    bondsOutstanding: bigint().notNull(),
    bondsIssued: bigint().notNull(),
    bondsRedeemed: bigint().notNull(),
    /** Bonds burned for redemptions in the queue. */
    bondsQueued: bigint().notNull(),
    listings: integer().notNull(),
    activeListings: integer().notNull(),
    sales: integer().notNull(),
    marketVolume: bigint().notNull(),
    marketFees: bigint().notNull(),
    tokenBurned: bigint().notNull(),
    burns: integer().notNull(),
    burnUsdcSpent: bigint().notNull(),
  },
  {
    key: ["id"],
    sources: [
      { from: policies, key: whole, add: { policies: "1", coverage: "coverage", premium: "premium" } },
      { from: policyTrigger, key: whole, add: { triggered: "1" } },
      { from: bondTransfer, where: `"from" = ${nobody}`, key: whole, add: { bondsOutstanding: "amount" } },
      { from: bondTransfer, where: `"to" = ${nobody}`, key: whole, add: { bondsOutstanding: "-amount" } },
      { from: bondIssue, key: whole, add: { bondsIssued: "usd_amount" } },
      { from: bondRedemption, key: whole, add: { bondsRedeemed: "usd_amount" } },
      { from: redemptionQueue, key: whole, add: { bondsQueued: queueAmounts.queued } },
      {
        from: listing,
        key: whole,
        add: { listings: "1", activeListings: "case status when 'active' then 1 end" },
      },
      {
        from: sale,
        key: whole,
        add: { sales: "1", marketVolume: "price", marketFees: "seller_fee + buyer_fee" },
      },
      { from: tokenBurn, key: whole, add: { burns: "1", tokenBurned: "token_amount" } },
      { from: burnExecution, key: whole, add: { burnUsdcSpent: "usdc_spent" } },
    ],
  },
);

/**
 * The number of untriggered policies whose cover ends in a minute. The open policies at a time are the sum of the later
 * minutes' rows, plus those of the same minute, which the index on `expiresAt` finds.
 */
export const policyClock = sumTable(
  "policy_clock",
  {
    /** Start of the minute, Unix seconds. */
    minute: bigint().notNull(),
    policies: integer().notNull(),
  },
  {
    key: ["minute"],
    sources: [
      {
        from: policy,
        where: "triggered_at is null and expires_at is not null",
        key: { minute: "expires_at - expires_at % 60" },
        add: { policies: "1" },
      },
    ],
  },
);

/** The bonds of an epoch, in whole dollars. */
export const bondEpochSums = sumTable(
  "bond_epoch_sums",
  {
    epochId: bigint().notNull(),
    supply: bigint().notNull(),
    issued: bigint().notNull(),
    redeemed: bigint().notNull(),
    queued: bigint().notNull(),
    surrendered: bigint().notNull(),
  },
  {
    key: ["epochId"],
    sources: [
      { from: bondTransfer, where: `"from" = ${nobody}`, key: ofEpoch, add: { supply: "amount" } },
      {
        from: bondTransfer,
        // Anyone can burn 0 bonds of an epoch that does not exist.
        where: `"to" = ${nobody} and amount > 0`,
        key: ofEpoch,
        add: { supply: "-amount" },
      },
      { from: bondIssue, key: ofEpoch, add: { issued: "usd_amount" } },
      { from: bondRedemption, key: ofEpoch, add: { redeemed: "usd_amount" } },
      { from: redemptionQueue, key: ofEpoch, add: queueAmounts },
      {
        from: bondSupplyEvent,
        where: "kind = 'surrendered' and amount > 0 or kind = 'epoch_created'",
        key: ofEpoch,
        add: { surrendered: "case kind when 'surrendered' then amount end" },
      },
    ],
  },
);

/** A bond's epoch: the month (YYYYMM) in which it matures. Bonds of one epoch are fungible. */
export const bondEpoch = onchainView("bond_epoch", {
  epochId: bigint().notNull(),
  /** Unix seconds; null until `EpochCreated`. */
  maturityDate: bigint(),
  /** Bonds minted and not burned. */
  supply: bigint().notNull(),
  /** All bonds issued for policies. */
  issued: bigint().notNull(),
  /** Bonds redeemed and paid. */
  redeemed: bigint().notNull(),
  /** Bonds burned for redemptions in the queue. */
  queued: bigint().notNull(),
  /** Bonds that holders surrendered. */
  surrendered: bigint().notNull(),
}).as(sql`
  select epoch_id,
    (select e.amount from ${bondSupplyEvent} e where e.kind = 'epoch_created' and e.epoch_id = s.epoch_id
      order by e.block_number desc, e.log_index desc limit 1) as maturity_date,
    supply, issued, redeemed, queued, surrendered
  from ${bondEpochSums} s`);

/** An address's bonds of one epoch. The marketplace has rows for the bonds in escrow. */
export const bondHolding = sumTable(
  "bond_holding",
  {
    owner: hex().notNull(),
    epochId: bigint().notNull(),
    /** The ERC-1155 balance, without bonds in escrow, queued, redeemed or surrendered. */
    balance: bigint().notNull(),
    /** Bonds in escrow for the owner's open listings. */
    escrowed: bigint().notNull(),
    issued: bigint().notNull(),
    redeemed: bigint().notNull(),
    queued: bigint().notNull(),
    surrendered: bigint().notNull(),
  },
  {
    key: ["owner", "epochId"],
    indexes: [["epochId", "balance"]],
    sources: [
      {
        ...{ from: bondTransfer, where: `"from" <> ${nobody}` },
        ...{ key: { owner: '"from"', epochId: "epoch_id" }, add: { balance: "-amount" } },
      },
      {
        ...{ from: bondTransfer, where: `"to" <> ${nobody}` },
        ...{ key: { owner: '"to"', epochId: "epoch_id" }, add: { balance: "amount" } },
      },
      {
        from: listing,
        key: { owner: "seller", epochId: "epoch_id" },
        add: { escrowed: "case status when 'active' then amount end" },
      },
      { from: bondIssue, key: ofHolder, add: { issued: "usd_amount" } },
      { from: bondRedemption, key: ofHolder, add: { redeemed: "usd_amount" } },
      { from: redemptionQueue, key: ofHolder, add: queueAmounts },
      {
        ...{ from: bondSupplyEvent, where: "kind = 'surrendered'" },
        ...{ key: ofHolder, add: { surrendered: "amount" } },
      },
    ],
  },
);

/** Burns of one UTC day, by block time. A day without burns has no row. */
export const burnDay = sumTable(
  "burn_day",
  {
    /** Start of the day, Unix seconds. */
    dayStart: bigint().notNull(),
    tokenBurned: bigint().notNull(),
    usdcSpent: bigint().notNull(),
    burns: integer().notNull(),
  },
  {
    key: ["dayStart"],
    sources: [
      { from: tokenBurn, key: { dayStart: dayOfBlock }, add: { tokenBurned: "token_amount", burns: "1" } },
      { from: burnExecution, key: { dayStart: dayOfBlock }, add: { usdcSpent: "usdc_spent" } },
    ],
  },
);

/** Burns by their source. */
export const burnSourceStats = sumTable(
  "burn_source_stats",
  {
    source: text({ enum: burnSources }).notNull(),
    tokenBurned: bigint().notNull(),
    usdcSpent: bigint().notNull(),
    burns: integer().notNull(),
  },
  {
    key: ["source"],
    sources: [
      { from: tokenBurn, key: { source: "source" }, add: { tokenBurned: "token_amount", burns: "1" } },
      { from: burnExecution, key: { source: "'twap_burner'" }, add: { usdcSpent: "usdc_spent" } },
    ],
  },
);

/**
 * An address's bonds of all epochs, in whole dollars, with those in escrow for its open listings. The marketplace has a row
 * for the bonds in escrow.
 */
export const bondHolder = sumTable(
  "bond_holder",
  { owner: hex().notNull(), bonds: bigint().notNull() },
  {
    key: ["owner"],
    indexes: [["bonds", "owner"]],
    sources: [
      { from: bondTransfer, where: `"to" <> ${nobody}`, key: { owner: '"to"' }, add: { bonds: "amount" } },
      {
        ...{ from: bondTransfer, where: `"from" <> ${nobody}` },
        ...{ key: { owner: '"from"' }, add: { bonds: "-amount" } },
      },
      { from: listing, where: "status = 'active'", key: { owner: "seller" }, add: { bonds: "amount" } },
    ],
  },
);

/** The same by epoch. */
export const epochHolder = sumTable(
  "epoch_holder",
  { epochId: bigint().notNull(), owner: hex().notNull(), bonds: bigint().notNull() },
  {
    key: ["epochId", "owner"],
    indexes: [["epochId", "bonds", "owner"]],
    sources: [
      {
        ...{ from: bondTransfer, where: `"to" <> ${nobody}` },
        ...{ key: { epochId: "epoch_id", owner: '"to"' }, add: { bonds: "amount" } },
      },
      {
        ...{ from: bondTransfer, where: `"from" <> ${nobody}` },
        ...{ key: { epochId: "epoch_id", owner: '"from"' }, add: { bonds: "-amount" } },
      },
      {
        ...{ from: listing, where: "status = 'active'" },
        ...{ key: { epochId: "epoch_id", owner: "seller" }, add: { bonds: "amount" } },
      },
    ],
  },
);

/** Redemptions of a week. */
export const vaultWeek = sumTable(
  "vault_week",
  {
    /** Unix seconds; weeks begin on Thursdays, as the epoch did. */
    weekStart: bigint().notNull(),
    /** Tokens, 18 decimals. */
    paid: bigint().notNull(),
    /** Whole dollars. */
    redeemed: bigint().notNull(),
  },
  {
    key: ["weekStart"],
    sources: [
      {
        ...{ from: bondRedemption, key: { weekStart: weekOfBlock } },
        add: { paid: "token_amount", redeemed: "usd_amount" },
      },
    ],
  },
);

/** Sales of one UTC day. A day without sales has no row. */
export const marketDay = sumTable(
  "market_day",
  {
    dayStart: bigint().notNull(),
    sales: integer().notNull(),
    /** Bonds sold, in whole dollars; without those of listings that the index does not know. */
    amount: bigint().notNull(),
    /** The prices of these bonds. */
    amountVolume: bigint().notNull(),
    /** The prices of all sales. */
    volume: bigint().notNull(),
    fees: bigint().notNull(),
  },
  {
    key: ["dayStart"],
    sources: [
      {
        ...{ from: sale, key: { dayStart: dayOfBlock } },
        add: {
          ...{ sales: "1", amount: "amount", volume: "price", fees: "seller_fee + buyer_fee" },
          amountVolume: "case when amount is not null then price end",
        },
      },
    ],
  },
);

/** Listings and sales of an epoch's bonds. Sales of listings that the index does not know are left out. */
export const marketEpoch = sumTable(
  "market_epoch",
  {
    epochId: bigint().notNull(),
    activeListings: integer().notNull(),
    /** Bonds in active listings, in whole dollars. */
    listed: bigint().notNull(),
    sales: integer().notNull(),
    amount: bigint().notNull(),
    volume: bigint().notNull(),
    fees: bigint().notNull(),
  },
  {
    key: ["epochId"],
    sources: [
      {
        ...{ from: listing, key: { epochId: "epoch_id" } },
        add: {
          activeListings: "case status when 'active' then 1 end",
          listed: "case status when 'active' then amount end",
        },
      },
      {
        ...{ from: sale, where: "epoch_id is not null", key: { epochId: "epoch_id" } },
        add: { sales: "1", amount: "amount", volume: "price", fees: "seller_fee + buyer_fee" },
      },
    ],
  },
);

/** What a seller may still withdraw is `credited` minus `withdrawn`: USDC, 6 decimals. */
export const sellerProceeds = sumTable(
  "seller_proceeds",
  { seller: hex().notNull(), credited: bigint().notNull(), withdrawn: bigint().notNull() },
  {
    key: ["seller"],
    sources: [
      {
        ...{ from: proceedsEvent, key: { seller: "seller" } },
        add: {
          credited: "case kind when 'credited' then amount end",
          withdrawn: "case kind when 'withdrawn' then amount end",
        },
      },
    ],
  },
);

/** Income, spending and burned tokens of burner and buyback engine in one UTC day. A day without any has no row. */
export const burnerDay = sumTable(
  "burner_day",
  {
    source: text({ enum: ["twap_burner", "buyback_engine"] }).notNull(),
    dayStart: bigint().notNull(),
    premium: bigint().notNull(),
    fee: bigint().notNull(),
    spent: bigint().notNull(),
    tokenBurned: bigint().notNull(),
    burns: integer().notNull(),
  },
  {
    key: ["source", "dayStart"],
    sources: [
      {
        ...{ from: burnerIncome, key: { source: "'twap_burner'", dayStart: dayOfBlock } },
        add: { premium: "usdc_amount" },
      },
      {
        ...{ from: sale, key: { source: "'twap_burner'", dayStart: dayOfBlock } },
        add: { fee: "seller_fee + buyer_fee" },
      },
      {
        ...{ from: burnExecution, key: { source: "'twap_burner'", dayStart: dayOfBlock } },
        add: { spent: "usdc_spent", tokenBurned: "token_burned", burns: "1" },
      },
      {
        ...{ from: tokenBurn, where: "source = 'buyback_engine'" },
        ...{
          key: { source: "source", dayStart: dayOfBlock },
          add: { tokenBurned: "token_amount", burns: "1" },
        },
      },
    ],
  },
);

/** The tables of the activity feed. `amount`, `ref` and `where` are SQL. */
export const activitySources = [
  ...policies.map((table) => ({
    ...{ table, type: "policy_purchased" as const, actor: table.buyer, amount: "coverage" },
    ref: "product_id || ':' || policy_id",
    // Without it there is only the manager's event.
    where: "paid_by is not null",
  })),
  {
    ...{ table: bondIssue, type: "bond_minted", actor: bondIssue.holder, amount: "usd_amount" },
    ...{ ref: "epoch_id::text", where: undefined },
  },
  {
    ...{ table: bondRedemption, type: "bond_redeemed", actor: bondRedemption.holder },
    ...{ amount: "usd_amount", ref: "epoch_id::text", where: undefined },
  },
  {
    ...{ table: sale, type: "marketplace_buy", actor: sale.buyer, amount: "price" },
    ...{ ref: "listing_id::text", where: undefined },
  },
  {
    ...{ table: tokenBurn, type: "token_burned", actor: tokenBurn.burner, amount: "token_amount" },
    ...{ ref: "source", where: undefined },
  },
] as const;

/** The activity feed: purchases, bonds, sales and burns. */
export const activity = onchainView("activity", {
  ...eventColumns(),
  type: text({ enum: activityTypes }).notNull(),
  /** The buyer of the policy or listing, the holder of the bond, or the former owner of the burned tokens. */
  actor: hex().notNull(),
  /** Coverage (USDC), bond dollars, sale price (USDC), or tokens burned. */
  amount: bigint().notNull(),
  /** `productId:policyId`, the bond's epoch, the listing's id, or the burn's source. */
  ref: text().notNull(),
}).as(
  sql.join(
    activitySources.map(
      ({ table, type, actor, amount, ref, where }) => sql`
  select block_number, log_index, block_hash, block_timestamp, tx_hash, ${sql.raw(`'${type}'`)}::text as type,
    ${sql.raw(actor.name)} as actor, ${sql.raw(amount)} as amount, ${sql.raw(ref)} as ref
  from ${table}${sql.raw(where ? ` where ${where}` : "")}`,
    ),
    sql` union all `,
  ),
);

// --------------------------------------------------------------------------------- states that the newest events determine

/** Current pauses: the router by its owner, the router by the token's price (`auto`), and everything (`global`). */
export const pauseState = onchainView("pause_state", {
  scope: text({ enum: pauseScopes }).notNull(),
  paused: boolean().notNull(),
  updatedAt: bigint().notNull(),
  updatedAtBlock: bigint().notNull(),
}).as(sql`
  select s.scope, e.paused, e.block_timestamp as updated_at, e.block_number as updated_at_block
  from (values ${sql.raw(pauseScopes.map((scope) => `('${scope}')`).join(", "))}) s (scope)
  cross join lateral (
    select * from ${pauseEvent} where scope = s.scope order by block_number desc, log_index desc limit 1) e`);

/** The router's relayer allowlist. */
export const relayer = onchainView("relayer", {
  address: hex().notNull(),
  authorized: boolean().notNull(),
  ...eventColumns(),
}).as(sql`
  select distinct on (relayer) relayer as address, authorized, block_number, log_index, block_hash, block_timestamp, tx_hash
  from ${relayerEvent} order by relayer, block_number desc, log_index desc`);

/** The vault's totals; null until an event has named one. One row (`id` is `vault`). */
export const vaultState = onchainView("vault_state", {
  id: text({ enum: ["vault"] }).notNull(),
  /** Payouts reserved for open policies, 6 decimals. */
  totalReserved: bigint(),
  /** See `vaultBalance`. */
  committed: bigint(),
  queued: bigint(),
  reserve: bigint(),
}).as(sql`
  select 'vault' as id, r.new_total as total_reserved, b.committed, b.queued, b.reserve
  from (select 1) one
  left join lateral (
    select n.new_total from (values ('reserved'), ('committed'), ('released')) k (kind)
    cross join lateral (
      select * from ${vaultEvent} e where e.kind = k.kind order by e.block_number desc, e.log_index desc limit 1) n
    order by n.block_number desc, n.log_index desc limit 1) r on true
  left join ${vaultBalance} b on true
  where r.new_total is not null or b.id is not null`);
