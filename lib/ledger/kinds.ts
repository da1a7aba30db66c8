import type { ServiceTransactionPurpose } from "./service-transaction-figures.ts";

/** What a transaction is for: a purchase, its buyer's permit, or a call that the service makes for itself. */
export const intentKinds = ["purchase", "permit", "service_transaction"] as const;
export type IntentKind = (typeof intentKinds)[number];

/** What the keeper does: it triggers policies, closes expired ones, and pays the redemption queue. */
export const keeperPurposes = ["trigger", "expire", "queue"] as const;
export type KeeperPurpose = (typeof keeperPurposes)[number];

/** Why the service sends a transaction of its own, on any chain. */
export type CallPurpose = ServiceTransactionPurpose | `keeper_${KeeperPurpose}`;
