/** What a wallet can do here, each as the API prepares it. */
import { type Prepared, type Schema, untilAnswered } from "../../../../client/index.ts";
import { amountWithUnit, type Unit } from "../../../format/amount.ts";
import { productLabel } from "../../../format/names.ts";
import { keyless } from "./key.ts";

/** What the owner has to say first. */
export type Field = {
  readonly name: string;
  readonly label: string;
  /** What is in the field at first. */
  readonly initial: string;
  readonly hint: string;
} & (
  | { readonly kind: "amount"; readonly unit: Unit }
  | {
      readonly kind: "choice";
      readonly options: readonly { readonly value: string; readonly label: string }[];
    }
);

/** The fields' values by their names; amounts as integers in decimal digits. */
export type Values = Readonly<Record<string, string>>;

export type Action = {
  readonly title: string;
  readonly fields: readonly Field[];
  /** Asks the API what the wallet `from` has to sign. It changes nothing. @throws ApiError, ConnectionError */
  readonly prepare: (from: string, values: Values) => Promise<Prepared>;
};

/** A field of an action that has it, because the form was filled in. */
function inputOf(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new Error(`the form has no ${name}`);
  return value;
}

type Product = Pick<Schema<"Product">, "productId" | "name" | "active">;

/** Buys cover with a permit: the service sends the purchase and pays the gas. Tokens without permits take two transactions. */
export const buyCover = (products: readonly Product[]): Action => {
  const options = products
    .filter(({ active }) => active)
    .map(({ productId, name }) => ({ value: productId, label: productLabel(name) }));
  return {
    title: "Buy cover",
    fields: [
      {
        ...{ kind: "choice", name: "productId", label: "Product", options },
        ...{ initial: options[0]?.value ?? "", hint: "The asset whose fall is covered, and for how long." },
      },
      {
        ...{ kind: "amount", name: "coverageAmount", label: "Coverage", unit: "usdc", initial: "1000" },
        hint: "The premium and the payout follow from it; you see both before you sign.",
      },
    ],
    async prepare(from, values) {
      const body = {
        from,
        productId: inputOf(values, "productId"),
        coverageAmount: inputOf(values, "coverageAmount"),
      };
      const post = (relayed: boolean) =>
        untilAnswered(() => keyless.post("/api/v1/policies/prepare", { body: { ...body, relayed } }));
      const prepared = await post(true);
      return prepared.issues.some(({ code }) => code === "permit_unsupported") ? post(false) : prepared;
    },
  };
};

type PolicyName = Pick<Schema<"Policy">, "productId" | "policyId" | "productName">;

/** Triggers a policy, which pays its buyer in bonds. */
export const claimPolicy = ({ productId, policyId, productName }: PolicyName): Action => ({
  title: `Claim ${productLabel(productName)}, ${policyId}`,
  fields: [],
  prepare: (from) =>
    untilAnswered(() => keyless.post("/api/v1/triggers/prepare", { body: { from, productId, policyId } })),
});

type Bond = { readonly epochId: string; readonly amount: string };

const bondField = (name: string, label: string, { amount }: Bond): Field => ({
  ...{ kind: "amount", name, label, unit: "dollars", initial: amount },
  hint: `Whole dollars of face value; the wallet holds ${amountWithUnit(amount, "dollars")}.`,
});

/** Offers bonds for sale, as a whole. */
export const sellBonds = (bond: Bond): Action => ({
  title: `Sell bonds of ${bond.epochId}`,
  fields: [
    bondField("amount", "Bonds", bond),
    {
      ...{ kind: "amount", name: "totalPriceUsdc", label: "Price", unit: "usdc", initial: "" },
      hint: "For all of them together. The marketplace keeps a fee of it at the sale, and you withdraw the rest.",
    },
  ],
  prepare(from, values) {
    const [amount, totalPriceUsdc] = [inputOf(values, "amount"), inputOf(values, "totalPriceUsdc")];
    const body = { from, epochId: bond.epochId, amount, totalPriceUsdc };
    return untilAnswered(() => keyless.post("/api/v1/marketplace/list/prepare", { body }));
  },
});

/** Redeems matured bonds for the protocol token. */
export const redeemBonds = (bond: Bond): Action => ({
  title: `Redeem bonds of ${bond.epochId}`,
  fields: [bondField("usdAmount", "Bonds", bond)],
  prepare(from, values) {
    const body = { from, epochId: bond.epochId, usdAmount: inputOf(values, "usdAmount") };
    return untilAnswered(() => keyless.post("/api/v1/redeem/prepare", { body }));
  },
});

export const buyListing = (listingId: string): Action => ({
  title: `Buy listing ${listingId}`,
  fields: [],
  prepare: (from) =>
    untilAnswered(() => keyless.post("/api/v1/marketplace/buy/prepare", { body: { from, listingId } })),
});

/** Takes what sales have credited to the wallet on the marketplace. */
export const withdrawProceeds: Action = {
  title: "Withdraw proceeds",
  fields: [],
  prepare: (from) =>
    untilAnswered(() => keyless.post("/api/v1/marketplace/withdraw/prepare", { body: { from } })),
};

export const cancelListing = (listingId: string): Action => ({
  title: `Cancel listing ${listingId}`,
  fields: [],
  prepare: (from) =>
    untilAnswered(() => keyless.post("/api/v1/marketplace/cancel/prepare", { body: { from, listingId } })),
});
