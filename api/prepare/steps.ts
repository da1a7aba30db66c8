/** Makes the steps of an action, and the calls that a wallet takes. */
import {
  type Abi,
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  maxUint256,
  numberToHex,
} from "viem";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import type { ContractKey, Contracts, OptionalContractKey } from "../../lib/deployments.ts";
import { usdcText } from "./amount-text.ts";
import type {
  PreparedBody,
  ReportBody,
  SignatureStepBody,
  StepBody,
  TransactionStepBody,
} from "./schemas.ts";

/** A transaction that the wallet signs; `call` in the answer is decoded from `data`, so both always agree. */
export type TransactionStep = Pick<
  TransactionStepBody,
  "id" | "kind" | "status" | "optional" | "description"
> & {
  readonly contract: ContractKey | OptionalContractKey;
  readonly abi: Abi;
  readonly data: Hex;
  /** The gas limit to sign with, where an estimate is too low. */
  readonly gas?: bigint;
  readonly report: ReportBody | null;
};

/** What the wallet signs: a transaction, or typed data (EIP-712) that it sends to nobody but this service. */
export type Step = TransactionStep | SignatureStepBody;

/** The step of the action itself: it is never complete. */
export const actionStep = (
  step: Pick<TransactionStep, "id" | "description" | "contract" | "abi" | "data" | "gas"> & {
    readonly report?: ReportBody;
  },
): TransactionStep => ({ report: null, ...step, kind: "transaction", status: "incomplete", optional: false });

/** Allows `spender` to take exactly `amount` USDC (6 decimals); complete when it may take as much already. */
export const usdcApproval = (
  spenderName: string,
  spender: Address,
  amount: bigint,
  allowance: bigint,
): TransactionStep => ({
  id: "approve",
  kind: "transaction",
  status: allowance >= amount ? "complete" : "incomplete",
  optional: false,
  description: `Lets the ${spenderName} take ${usdcText(amount)} of the wallet, and no more.`,
  contract: "usdc",
  abi: mockUsdcAbi,
  data: encodeFunctionData({
    abi: mockUsdcAbi,
    functionName: "approve",
    // No wallet can pay more: the balance is an issue then.
    args: [spender, amount > maxUint256 ? maxUint256 : amount],
  }),
  report: null,
});

const setApproval = (operator: Address, approved: boolean): Hex =>
  encodeFunctionData({ abi: claimBondAbi, functionName: "setApprovalForAll", args: [operator, approved] });

/** Lets the marketplace take bonds; complete when it may already. Bonds know no approval of an amount. */
export const bondApproval = (operator: Address, approved: boolean): TransactionStep => ({
  id: "approve",
  kind: "transaction",
  status: approved ? "complete" : "incomplete",
  optional: false,
  description:
    "Lets the marketplace take bonds of the wallet: all of them, of every epoch, until it is revoked. Bonds know no approval of an amount.",
  contract: "claimBond",
  abi: claimBondAbi,
  data: setApproval(operator, true),
  report: null,
});

/** Takes the approval of {@link bondApproval} back. What is listed stays listed. */
export const bondRevocation = (operator: Address): TransactionStep => ({
  id: "revoke",
  kind: "transaction",
  status: "incomplete",
  optional: true,
  description:
    "Takes the marketplace's approval for the wallet's bonds back, after the listing. What is listed stays listed.",
  contract: "claimBond",
  abi: claimBondAbi,
  data: setApproval(operator, false),
  report: null,
});

/** An argument of a call as JSON. @throws for a type that no prepared call has */
function argument(value: unknown): string | boolean {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "string" || typeof value === "boolean") return value;
  throw new Error(`no prepared call has an argument of type ${typeof value}`);
}

/** The address of a step's contract. @throws for one that the deployment lacks: no step is planned for it */
export function addressOf(contracts: Contracts, key: TransactionStep["contract"]): Address {
  const address = contracts[key];
  if (address === undefined) throw new Error(`the deployment has no ${key}`);
  return address;
}

/** A step as the answer shows it. */
export function stepBody(contracts: Contracts, step: Step): StepBody {
  if (step.kind === "signature") return step;
  const { id, kind, status, optional, description, contract, abi, data, gas, report } = step;
  const { functionName, args = [] } = decodeFunctionData({ abi, data });
  return {
    ...{ id, kind, status, optional, description },
    call: { contract, function: functionName, args: args.map(argument) },
    ...{
      to: addressOf(contracts, contract),
      data,
      value: "0",
      gas: gas === undefined ? null : String(gas),
      report,
    },
  };
}

/** The steps that are to be sent for the action. */
export const openSteps = (steps: readonly Step[]): TransactionStep[] =>
  steps
    .filter((step) => step.kind === "transaction")
    .filter(({ status, optional }) => status === "incomplete" && !optional);

/** The open steps in the form of EIP-5792. */
export const sendCallsBody = (
  contracts: Contracts,
  chainId: number,
  from: Address,
  steps: readonly Step[],
): PreparedBody["sendCalls"] => ({
  version: "2.0.0",
  chainId: numberToHex(chainId),
  from,
  atomicRequired: false,
  calls: openSteps(steps).map(({ contract, data }) => ({
    to: addressOf(contracts, contract),
    data,
    value: "0x0",
  })),
});
