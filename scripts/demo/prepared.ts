/** Prepared actions: the api names the transactions that a wallet has to sign itself, and takes the report of the last one. */
import type { Hex } from "viem";
import { z } from "zod";
import type { Wallet } from "../dev/running-stack.ts";
import type { Api } from "./api-client.ts";
import { mined } from "./chain.ts";
import type { Auth } from "./keys.ts";

const hex = z.templateLiteral(["0x", z.string()]);
const integer = z.string().regex(/^\d+$/).transform(BigInt);
const prepared = z.object({
  summary: z.string(),
  issues: z.array(z.looseObject({ code: z.string(), blocking: z.boolean(), message: z.string() })),
  steps: z.array(
    z.object({
      status: z.enum(["complete", "incomplete"]),
      optional: z.boolean(),
      description: z.string(),
      to: hex,
      data: hex,
      value: integer,
      report: z.object({ path: z.string(), body: z.record(z.string(), z.string()) }).nullable(),
    }),
  ),
});
export type Prepared = z.output<typeof prepared>;
type Report = NonNullable<Prepared["steps"][number]["report"]>;

/** Asks what the wallet has to sign. */
export const prepare = (
  { call }: Api,
  wallet: Wallet,
  path: string,
  body: Readonly<Record<string, string>>,
): Promise<Prepared> =>
  call(path, prepared, { method: "POST", body: { from: wallet.account.address, ...body } });

/** The wallet's missing USDC (6 decimals), where that is an issue; 0 where it is not. */
export function missingUsdc({ issues }: Prepared): bigint {
  const shape = z.object({ code: z.literal("balance"), actual: integer, needed: integer });
  const found = issues.map((issue) => shape.safeParse(issue).data).find((issue) => issue !== undefined);
  return found ? found.needed - found.actual : 0n;
}

/** A sent action: the hash of its last transaction, and where that can be reported. */
export type Sent = { readonly txHash: Hex; readonly report: Report | null };

/** Sends the open steps, one after the other. @throws when something stands in the way, or a step reverts */
export async function sendSteps(wallet: Wallet, { summary, issues, steps }: Prepared): Promise<Sent> {
  const blocking = issues.find((issue) => issue.blocking);
  if (blocking) throw new Error(`${summary}: ${blocking.message}`);
  let sent: Sent | undefined;
  for (const { status, optional, description, to, data, value, report } of steps) {
    if (status === "complete" || optional) continue;
    const txHash = await wallet.sendTransaction({ chain: null, to, data, value });
    await mined(wallet, description, txHash);
    sent = { txHash, report };
  }
  if (!sent) throw new Error(`${summary}: there was nothing to send`);
  return sent;
}

/** Reports a sent action. @returns the api's answer, as `shape` describes it */
export function reportSent<T>(
  { call }: Api,
  auth: Auth,
  { txHash, report }: Sent,
  shape: z.ZodType<T>,
): Promise<T> {
  if (report === null) throw new Error(`${txHash} is not to be reported`);
  return call(report.path, shape, { method: "POST", headers: auth, body: { ...report.body, txHash } });
}
