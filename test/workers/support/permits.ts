/** Purchases with permits in the ledger's database. */
import type { Address, Hex } from "viem";
import { type Permit, permitCalldata } from "../../../lib/chain/permit.ts";
import { assignNonces, type Call, type WantedCall } from "../../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates, type Spending } from "../../../workers/ledger/gas-spending.ts";
import type { Lease } from "../../../workers/ledger/leases.ts";
import { settle } from "../../../workers/ledger/outcomes.ts";
import { storeForms } from "../../../workers/ledger/transactions.ts";
import { readWaiting, SIGN_WITHIN_SECONDS } from "../../../workers/ledger/waiting.ts";
import { type Choice, choosePurchases } from "../../../workers/relayer/choose-purchases.ts";
import { accepted, call, chainId, connection, form, router, signer, wallet, word } from "./ledger-fixture.ts";

export const PREMIUM = 292_000n;
export const usdc: Address = "0x00000000000000000000000000000000000000ee";
export const permit: Permit = { value: PREMIUM, deadline: 2n ** 32n, signature: word(3) };
/** The fixture signs each call at 30 wei per gas. */
export const COST = call.gasLimit * 30n;
/** The permit's call: that of {@link permit}, for the fixture's buyer. */
export const permitCallOf = (one = permit): Call => ({
  ...call,
  to: usdc,
  data: permitCalldata({ owner: wallet, spender: router }, one),
});

/** Accepts a purchase of the fixture's buyer with {@link permit}. @returns the ids of both. */
export async function acceptedWithPermit(more: Parameters<typeof accepted>[0] = {}) {
  const purchase = await accepted({ permit, quotedPremium: PREMIUM, ...more });
  const [row] = await connection.sql<{ id: string }[]>`
    select id from service.permit where purchase_id = ${purchase}`;
  if (!row) throw new Error("the permit was not stored");
  return { purchase, permit: row.id };
}
export type WithPermit = Awaited<ReturnType<typeof acceptedWithPermit>>;

/** What a signing round wants for a purchase. */
export type Wanted = "permit" | "purchase" | "both";
export type Choose = (candidates: readonly Candidate[], spending: Spending) => Choice;

const callsOf = (ids: WithPermit, wanted: Wanted): WantedCall[] => [
  ...(wanted === "purchase"
    ? []
    : [
        {
          kind: "permit" as const,
          id: ids.permit,
          purchaseId: ids.purchase,
          call: permitCallOf(),
          cost: COST,
        },
      ]),
  ...(wanted === "permit" ? [] : [{ kind: "purchase" as const, id: ids.purchase, call, cost: COST }]),
];

/** A signing round of one purchase up to its nonces. `choose` decides what is sent; the writer's own rules when left out. */
export async function assignWith(
  lease: Lease,
  ids: WithPermit,
  wanted: Wanted,
  choose?: (calls: WantedCall[]) => Choose,
) {
  const calls = callsOf(ids, wanted);
  const budgets = { gasBudget: 10n ** 30n, gasBudgetPerWallet: 10n ** 30n };
  const groups = new Map([[ids.purchase, { id: ids.purchase, calls }]]);
  return assignNonces(connection.sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, [ids.purchase], SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose:
      choose?.(calls) ??
      ((candidates, spending) =>
        choosePurchases(candidates, groups, spending, { ...budgets, balance: 10n ** 30n })),
  });
}

/** The same, with the signed bytes stored. @returns the calls with their nonces and hashes. */
export async function signWith(lease: Lease, ids: WithPermit, wanted: Wanted) {
  const { assigned } = await assignWith(lease, ids, wanted);
  const signed = await Promise.all(
    assigned.map(async (one) => ({ ...one, signed: await signer(one.nonce, one.call) })),
  );
  const forms = signed.map((one) => form(one.transactionId, one.signed));
  await storeForms(connection.sql, lease, forms);
  return signed.map(({ signed: { hash }, ...one }) => ({ ...one, hash }));
}

/** Mines a permit in the block at this height. */
export const minePermit = (hash: Hex | undefined, height: number) =>
  settle(connection.sql, [
    {
      kind: "done",
      hash: hash ?? "0x",
      blockNumber: BigInt(height),
      blockHash: word(height),
      gasCost: 100n,
    },
  ]);

/** What a writer reads of a purchase's permit; undefined when the purchase does not wait to be signed. */
export const waitingPermit = async ({ purchase }: WithPermit) =>
  (await readWaiting(connection.sql, chainId, [purchase])).get(purchase)?.permit?.state;

/** The transactions in the order of their nonces. */
export const transactions = () =>
  connection.sql<
    { kind: string; intent: string | null; nonce: string; state: string }[]
  >`select kind, intent, nonce, state from service.transaction order by wallet, nonce`;
