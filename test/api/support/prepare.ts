/** Prepares actions by the api, and does them with test wallets, as they stand. */
import type { Address, Hex, LocalAccount, TransactionReceipt } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { z } from "zod";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { mockUsdcAbi } from "../../../abis/MockUSDC.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import type { TestChain } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import * as act from "../../support/protocol-actions.ts";
import { issueKey, repeatWhile } from "./api.ts";

export const preparePaths = {
  redeem: "/api/v1/redeem/prepare",
  list: "/api/v1/marketplace/list/prepare",
  buy: "/api/v1/marketplace/buy/prepare",
  cancel: "/api/v1/marketplace/cancel/prepare",
  withdraw: "/api/v1/marketplace/withdraw/prepare",
  trigger: "/api/v1/triggers/prepare",
  purchase: "/api/v1/policies/prepare",
} as const;
export type Action = keyof typeof preparePaths;

const hex = z.custom<Hex>((text) => typeof text === "string" && text.startsWith("0x"));

const step = z.object({
  id: z.string(),
  kind: z.literal("transaction"),
  status: z.enum(["complete", "incomplete"]),
  optional: z.boolean(),
  description: z.string(),
  call: z.object({
    contract: z.string(),
    function: z.string(),
    args: z.array(z.union([z.string(), z.boolean()])),
  }),
  to: hex,
  data: hex,
  value: z.string(),
  gas: z.string().nullable(),
  report: z
    .object({ method: z.literal("POST"), path: z.string(), body: z.record(z.string(), z.string()) })
    .nullable(),
});

const prepared = z.object({
  action: z.string(),
  chainId: z.number(),
  from: hex,
  asOf: z.object({ blockNumber: z.string(), blockHash: hex, timestamp: z.string() }),
  validUntil: z.string(),
  summary: z.string(),
  issues: z.array(z.looseObject({ code: z.string(), blocking: z.boolean(), message: z.string() })),
  steps: z.array(step),
  sendCalls: z.object({
    version: z.literal("2.0.0"),
    chainId: hex,
    from: hex,
    atomicRequired: z.literal(false),
    calls: z.array(z.object({ to: hex, data: hex, value: hex })),
  }),
  simulation: z.object({
    status: z.enum(["ok", "reverts", "unknown"]),
    step: z.string().optional(),
    reason: z.string().optional(),
  }),
});
export type PreparedAnswer = z.output<typeof prepared>;

type PrepareSetup = { readonly request: CheckedRequest };

/** Prepares an action; repeats only a `chain_not_found`, as on a busy machine. @throws unless it is a 200 */
export async function prepareOnce(
  { request }: PrepareSetup,
  action: Action,
  body: Readonly<Record<string, string>>,
): Promise<PreparedAnswer> {
  const answer = await repeatWhile(["chain_not_found"], () => request(preparePaths[action], { body }));
  expect(answer.status, answer.text).toBe(200);
  return prepared.parse(answer.json);
}

/** The reason of a simulation for which the node took too long. */
const LATE_SIMULATION = /has not simulated the calls in time/;

type Simulated = { readonly simulation: { readonly reason?: string | undefined } };

/** Asks until the node has simulated the calls of the answer in time. */
export const simulatedInTime = <T extends Simulated>(ask: () => Promise<T>): Promise<T> =>
  waitFor({
    what: "a simulation in time",
    async probe() {
      const answer = await ask();
      return LATE_SIMULATION.test(answer.simulation.reason ?? "") ? undefined : answer;
    },
  });

/** Prepares an action, until the node has simulated it in time. */
export const prepare = (...call: Parameters<typeof prepareOnce>): Promise<PreparedAnswer> =>
  simulatedInTime(() => prepareOnce(...call));

/** The codes of an answer's issues. */
export const codesOf = ({ issues }: PreparedAnswer): string[] => issues.map(({ code }) => code);

/** Id and status of each step. */
export const statusesOf = ({ steps }: PreparedAnswer): string[] =>
  steps.map(({ id, status, optional }) => `${id} ${optional ? "optional" : status}`);

/** Sends the calls of an answer one after the other, as they stand, each with the gas limit of its step. @returns the receipt of the last one */
export async function sendAll(
  protocol: act.Protocol,
  account: LocalAccount,
  { sendCalls, steps }: PreparedAnswer,
): Promise<TransactionReceipt> {
  let receipt: TransactionReceipt | undefined;
  for (const { to, data, value } of sendCalls.calls) {
    const gas = steps.find((step) => step.data === data)?.gas;
    receipt = await act.send(protocol, account, to, data, BigInt(value), gas ? BigInt(gas) : undefined);
  }
  if (!receipt) throw new Error("there is nothing to send");
  return receipt;
}

/** Reports the action's own step with a key of its wallet, as the step says. */
export async function reportStep(
  { request }: PrepareSetup,
  { from, steps }: PreparedAnswer,
  txHash: Hex,
): Promise<HttpAnswer> {
  const { headers } = await issueKey(request, from);
  const report = steps.find((one) => one.report !== null)?.report;
  if (!report) throw new Error("no step has a report");
  return request(report.path, { headers, body: { ...report.body, txHash } });
}

/** A wallet that has ether and USDC (6 decimals), and has approved nothing. */
export async function newcomer(
  chain: TestChain,
  protocol: act.Protocol,
  amount: bigint,
): Promise<LocalAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain.client.setBalance({ address: account.address, value: 10n ** 18n });
  if (amount > 0n) await act.mintUsdc(protocol, chain.owner, account.address, amount);
  return account;
}

/** A wallet's USDC, 6 decimals. */
export const usdcOf = ({ client, deployment }: act.Protocol, wallet: Address): Promise<bigint> =>
  client.readContract({
    abi: mockUsdcAbi,
    address: deployment.contracts.usdc,
    functionName: "balanceOf",
    args: [wallet],
  });

/** A wallet's bonds of an epoch, whole dollars. */
export const bondsOf = (
  { client, deployment }: act.Protocol,
  wallet: Address,
  epochId: bigint,
): Promise<bigint> =>
  client.readContract({
    abi: claimBondAbi,
    address: deployment.contracts.claimBond,
    functionName: "balanceOf",
    args: [wallet, epochId],
  });
