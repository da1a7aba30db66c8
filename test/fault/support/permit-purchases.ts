/** Purchases with permits in place of approvals, and what they left on the chain. */
import { randomUUID } from "node:crypto";
import { isHex, type LocalAccount, parseTransaction } from "viem";
import { expect } from "vitest";
import { mockUsdcAbi } from "../../../abis/MockUSDC.ts";
import type { Permit } from "../../../lib/chain/permit.ts";
import { lower } from "../../../lib/lower.ts";
import type { TestChain } from "../../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest, usdc } from "../../support/ledger.ts";
import { allowanceOf, type PermitTerms, signPermit } from "../../support/permit.ts";
import { expectOneNonceEach } from "./assertions.ts";
import type { WriterSetup } from "./writer-setup.ts";

type Setup = Pick<WriterSetup, "chain" | "ledger">;
/** The ids of a purchase and of its permit. */
export type PermitPurchase = { id: string; permitId: string; buyer: LocalAccount; permit: Permit };

/** What the permits of these tests allow, which is more than the premium. */
export const VALUE = usdc(1);

/** A new buyer without an approval, and its signed permit. */
export async function newPermit({ chain }: Setup, terms: Partial<PermitTerms> = {}) {
  const buyer = await newBuyer(chain, { approve: false });
  return { buyer, permit: await signPermit(chain, buyer, { value: VALUE, ...terms }) };
}

/** Buys 100 USDC of the first product with a permit. */
export async function buyWith(
  { ledger }: Setup,
  { buyer, permit }: Pick<PermitPurchase, "buyer" | "permit">,
): Promise<PermitPurchase> {
  const id = await ledger.buy(purchaseRequest(buyer.address), randomUUID(), undefined, permit);
  const [row] = await ledger.connection.sql<{ id: string }[]>`
    select id from service.permit where purchase_id = ${id}`;
  if (!row) throw new Error("the permit was not stored");
  return { id, permitId: row.id, buyer, permit };
}

/** How often the token has taken a permit of this account. */
export const permitsTaken = (
  { client, deployment }: TestChain,
  { address }: Pick<LocalAccount, "address">,
): Promise<bigint> =>
  client.readContract({
    address: deployment.contracts.usdc,
    abi: mockUsdcAbi,
    functionName: "nonces",
    args: [address],
  });

/** The transactions of a purchase and its permit with their outcomes, in the order of their nonces. */
export async function sentFor({ ledger }: Pick<Setup, "ledger">, { id, permitId }: PermitPurchase) {
  const rows = await ledger.connection.sql<{ kind: string; outcome: string | null }[]>`
    select kind, outcome from service.transaction where intent in (${id}, ${permitId}) order by nonce`;
  return rows.map(({ kind, outcome }) => `${kind} ${outcome}`);
}

/** The chain has one policy of the buyer and has taken its permit once; the ledger has one transaction for each. */
export async function expectOnePolicy(
  setup: Setup,
  bought: PermitPurchase,
  sent: readonly string[] = ["permit done", "purchase done"],
): Promise<void> {
  const { chain, ledger } = setup;
  const purchase = await ledger.settled(bought.id);
  const policies = await policiesOnChain(chain, bought.buyer.address);
  expect(policies).toHaveLength(1);
  expect(purchase).toMatchObject({ receipt: { txHash: policies[0]?.transactionHash } });
  expect(await permitsTaken(chain, bought.buyer)).toBe(1n);
  await expect.poll(() => sentFor(setup, bought)).toEqual(sent);
  await expectOneNonceEach(ledger.connection, [bought.id], policies);
  const premium = policies[0]?.args.premium ?? 0n;
  expect(await allowanceOf(chain, bought.buyer.address)).toBe(bought.permit.value - premium);
}

/** What a signed transaction of a relayer does, from its bytes. */
export function kindOf({ deployment }: TestChain, bytes: unknown): "permit" | "purchase" | "other" {
  if (!isHex(bytes)) return "other";
  const to = parseTransaction(bytes).to ?? "0x";
  const { usdc: token, coverRouter } = deployment.contracts;
  if (lower(to) === lower(token)) return "permit";
  return lower(to) === lower(coverRouter) ? "purchase" : "other";
}
