/** One body of each event type, as a subscriber of the local chain's products would get it. */
import { type AnyEventType, type EventBody, type EventData, eventId } from "../../lib/webhooks/events.ts";

const CHAIN_ID = 8453;
const PRODUCT = "0xdc5bcc7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9";
const BUYER = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720";
const OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const BLOCK_HASH = "0x8a1e1f4b3f9c2d6e7b50a1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f506";
const TX_HASH = "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465";

const policy = {
  productId: PRODUCT,
  productName: "FLASHBTC24-001",
  policyId: "6",
  buyer: BUYER,
} as const;
const bond = { bondId: "202801", holder: BUYER, amount: "800" } as const;
const maturedBond = { ...bond, bondId: "202512" } as const;

const purchased: EventData["policy_purchased"] = {
  ...policy,
  holder: BUYER,
  paidBy: BUYER,
  shield: "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE",
  coverageAmount: "1000000000",
  payoutAmount: "800000000",
  premiumPaid: "52600000",
  priceSnapshot: "100000000000000000",
  purchasedAt: "1767225600",
  waitingEndsAt: null,
  expiresAt: "1767312000",
};

const challenge = { webhookId: 1, challenge: "5d4a7f0b9c2e4d1f8a6b3c5e7f901234" } as const;

const data: EventData = {
  policy_purchased: purchased,
  policy_due: {
    ...policy,
    coverageAmount: purchased.coverageAmount,
    payoutAmount: purchased.payoutAmount,
    triggerPrice: "56400000000000000000000",
    price: "56390000000000000000000",
    priceAt: "1767225590",
    expiresAt: "1767312000",
    dueAt: "1767225600",
  },
  policy_triggered: {
    ...policy,
    bondId: bond.bondId,
    bondAmount: bond.amount,
    reason: "0x534554544c45445f42595f4b4545504552000000000000000000000000000000",
    triggeredAt: "1767225600",
  },
  policy_expired: { ...policy, coverageAmount: "1000000000", expiresAt: "1767225599" },
  policy_cancelled: { ...policy, cancelledAt: "1767225600" },
  bond_minted: { ...bond, productId: PRODUCT, policyId: "6" },
  bond_queued: { ...maturedBond, queueId: "29230001", targetEpoch: "2923" },
  bond_redeemed: {
    ...maturedBond,
    tokenAmount: "8000000000000000000000",
    priceUsed: "100000000000000000",
    queueId: null,
  },
  listing_created: { listingId: "3", seller: BUYER, bondId: "202801", amount: "800", price: "600000000" },
  listing_purchased: {
    listingId: "3",
    seller: BUYER,
    buyer: OTHER,
    bondId: "202801",
    amount: "800",
    price: "600000000",
    sellerFee: "9000000",
    buyerFee: "9000000",
  },
  listing_cancelled: { listingId: "3", seller: BUYER, bondId: "202801", amount: "800", emergency: false },
  token_burned: {
    burner: OTHER,
    source: "twap_burner",
    tokenAmount: "526000000000000000000",
    usdcSpent: "52600000",
    effectivePrice: "100000000000000000",
  },
  event_reverted: {
    eventId: eventId(CHAIN_ID, `${BLOCK_HASH}:${TX_HASH}:7`, 1),
    eventType: "policy_purchased",
    canonicalBlockHash: "0x1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90a",
    data: purchased,
  },
  webhook_challenge: { ...challenge, message: "Answer with this challenge to verify the webhook." },
  webhook_test: { ...challenge, message: "This is a test." },
};

const made = (key: string) =>
  ({
    id: eventId(CHAIN_ID, key, 1),
    version: 1,
    createdAt: "2026-01-01T00:00:00.000Z",
    chainId: CHAIN_ID,
  }) as const;
const log = `${BLOCK_HASH}:${TX_HASH}:7`;
const block = { blockNumber: "318", blockHash: BLOCK_HASH } as const;
const test = {
  ...made("test:700bf5d5-c0cc-4436-94de-27031b1d28ee"),
  ...{ blockNumber: null, blockHash: null, txHash: null },
} as const;
const onChain = { ...made(log), ...block, txHash: TX_HASH } as const;

export const eventExamples: { readonly [Type in AnyEventType]: EventBody<Type> } = {
  policy_purchased: { ...onChain, type: "policy_purchased", data: data.policy_purchased },
  policy_due: {
    ...onChain,
    ...made(`${log}:due:${PRODUCT}:6`),
    type: "policy_due",
    data: data.policy_due,
  },
  policy_triggered: { ...onChain, type: "policy_triggered", data: data.policy_triggered },
  policy_expired: {
    ...made(`${BLOCK_HASH}:expired:${PRODUCT}:6`),
    ...block,
    txHash: null,
    type: "policy_expired",
    data: data.policy_expired,
  },
  policy_cancelled: { ...onChain, type: "policy_cancelled", data: data.policy_cancelled },
  bond_minted: { ...onChain, type: "bond_minted", data: data.bond_minted },
  bond_queued: { ...onChain, type: "bond_queued", data: data.bond_queued },
  bond_redeemed: { ...onChain, type: "bond_redeemed", data: data.bond_redeemed },
  listing_created: { ...onChain, type: "listing_created", data: data.listing_created },
  listing_purchased: { ...onChain, type: "listing_purchased", data: data.listing_purchased },
  listing_cancelled: { ...onChain, type: "listing_cancelled", data: data.listing_cancelled },
  token_burned: { ...onChain, type: "token_burned", data: data.token_burned },
  event_reverted: {
    ...onChain,
    ...made(`reverted:${onChain.id}`),
    type: "event_reverted",
    data: data.event_reverted,
  },
  webhook_challenge: { ...test, type: "webhook_challenge", data: data.webhook_challenge },
  webhook_test: { ...test, type: "webhook_test", data: data.webhook_test },
};
