/** What a transaction is for: a purchase, or a call that the service makes for itself. */
export type IntentKind = "purchase" | "service_transaction";

/** The table of each kind, and the column of `service.transaction` that refers to it. */
export const intents = {
  purchase: { table: "service.purchase", column: "purchase_id" },
  service_transaction: { table: "service.service_transaction", column: "service_transaction_id" },
} as const satisfies Record<IntentKind, { table: string; column: string }>;
