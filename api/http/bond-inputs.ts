/** The fields by which requests name bonds and prices. */
import { uint256Input } from "./field-types.ts";

export const BOND_EPOCH = "The bond's epoch: the month of its maturity, YYYYMM.";

/** A bond by one of its two names. */
export const bondInputs = {
  epochId: uint256Input
    .optional()
    .openapi({ description: `${BOND_EPOCH} Or \`bondId\`.`, example: "202812" }),
  bondId: uint256Input.optional().openapi({ description: "The same as `epochId`.", example: "202812" }),
};
export const bondAmountInput = uint256Input.openapi({ description: "Bonds, whole dollars.", example: "800" });
export const usdcInput = (description: string) =>
  uint256Input.openapi({ description: `${description} USDC, 6 decimals.`, example: "900000000" });

const isObject = ({ value }: { value: unknown }) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type BondNames = { readonly epochId?: bigint | undefined; readonly bondId?: bigint | undefined };

/** Requires a bond by one of its two names. It is reported together with the faults of other fields. */
export const namesBond = [
  ({ epochId, bondId }: BondNames) => epochId !== undefined || bondId !== undefined,
  { path: ["epochId"], message: "epochId or bondId is required", when: isObject },
] satisfies [unknown, unknown];
/** Requires that both names, if given, are of one bond. */
export const namesOneBond = [
  ({ epochId, bondId }: BondNames) => epochId === undefined || bondId === undefined || epochId === bondId,
  { path: ["bondId"], message: "must be the same as epochId" },
] satisfies [unknown, unknown];
/** The rule of `namesBond` in the OpenAPI document. */
export const eitherBondName = [{ required: ["epochId"] }, { required: ["bondId"] }];

/** The bond of a request that names it in one of two ways; the schema requires one. */
export const bondOf = ({ epochId, bondId }: BondNames): bigint => epochId ?? bondId ?? 0n;
