/** What a transaction may be for: a purchase, or an errand of the service itself. Each has a table of its own. */
export type IntentKind = "purchase" | "errand";

/** The table, and the column of a transaction that names its row. */
export const intents = {
  purchase: { table: "service.purchase", column: "purchase_id" },
  errand: { table: "service.errand", column: "errand_id" },
} as const satisfies Record<IntentKind, { table: string; column: string }>;
