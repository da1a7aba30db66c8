/** The calls of a purchase, of its permit, and of the service itself. */
export const intentKinds = ["purchase", "permit", "service_transaction"] as const;
export type IntentKind = (typeof intentKinds)[number];

/** A filler is an empty transfer that closes a nonce gap: it carries out nothing. */
export const transactionKinds = [...intentKinds, "filler"] as const;
export type TransactionKind = (typeof transactionKinds)[number];
