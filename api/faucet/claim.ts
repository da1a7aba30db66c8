/** Claims a grant of the faucet: from a checked request to its outcome. */
import { type Address, isAddressEqual } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Connection } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { roleWallet } from "../../lib/ledger/relayers.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { unlessAborted } from "../../lib/timeout.ts";
import type { SettledFunds } from "../buying/settled-funds.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import { type Admission, claimFaucet, type FaucetFunds } from "./admission.ts";
import type { ClaimWaiter } from "./claim-waiter.ts";
import { type Claim, noteClaimReported, stopAwaiting } from "./claims.ts";
import { createFaucetFunds, type HeldEther } from "./funds.ts";
import { faucetTerms } from "./terms.ts";

/** `Retry-After` of a pending claim, in seconds: one or two blocks. */
const PENDING_RETRY_SECONDS = 5;

export type Testnet = {
  readonly deployment: Deployment;
  readonly client: ReadClient;
};

export type FaucetCall = {
  wallet: Address;
  /** The client's address, or the /64 of an IPv6 address. */
  client: string;
  /** Aborted when the caller disconnects: then it does not receive the outcome. */
  gone: AbortSignal;
  /** The trace that the request belongs to. */
  traceparent?: string | undefined;
};

type Admitted = Extract<Admission, { claimId: string }>;
type PaidClaim = Extract<Claim, { state: "paid" }>;

/**
 * Claims, or joins the wallet's earlier claim whose outcome no caller has received, and waits until it is paid. An
 * admitted claim is carried out even when the caller disconnects. @throws ApiError with the documented code unless paid
 */
export type ClaimGrant = (call: FaucetCall) => Promise<{ claim: PaidClaim; token: Address }>;

export const noFaucet = "There is no faucet: no writer has had a wallet for it within the last hour.";
export const stoppedFaucet = "The operator has stopped the faucet.";
export const faucetDown = "No writer sends from the faucet's wallet now; try again later.";

const faucetBehind = "The writer has not settled the newest blocks of the testnet yet; try again later.";

const { cooldownHours, dailyCap } = faucetTerms;

/** The error for a claim that was not admitted. */
function refusal(admission: Exclude<Admission, Admitted>): ApiError {
  switch (admission.outcome) {
    case "stopped":
      return new ApiError("faucet_disabled", stoppedFaucet);
    case "wallet_limited":
      return new ApiError(
        "wallet_rate_limited",
        `This wallet has claimed within ${cooldownHours} hours: try again at ${admission.until.toISOString()}.`,
        { retryAfter: admission.secondsLeft, nextEligibleAt: admission.until },
      );
    case "client_limited":
      return new ApiError(
        "ip_rate_limited",
        `Your address has claimed within ${cooldownHours} hours: try again at ${admission.until.toISOString()}.`,
        { retryAfter: admission.secondsLeft, nextEligibleAt: admission.until },
      );
    case "day_full":
      return new ApiError(
        "daily_cap_reached",
        `All ${dailyCap} grants of this UTC day are given: the next day begins at ${admission.until.toISOString()}.`,
        { retryAfter: admission.secondsLeft, nextEligibleAt: admission.until },
      );
    case "client_paused":
      return new ApiError(
        "ip_rate_limited",
        `Five claims of your address could not be paid because the transfers would revert: try again at ${admission.until.toISOString()}.`,
        { retryAfter: admission.secondsLeft, nextEligibleAt: admission.until },
      );
    case "out_of_eth":
      return new ApiError("out_of_eth", "The faucet has too little ether left for a grant; try again later.");
    case "funds_unknown":
      throw new Error("the database asked for funds that it had received");
  }
}

const pending = () =>
  new ApiError(
    "claim_pending",
    "The claim is not settled yet: repeat it to get its outcome. Nothing is paid twice.",
    { retryAfter: PENDING_RETRY_SECONDS },
  );

export type ClaimGrantParts = {
  readonly connection: Connection;
  readonly testnet: Testnet;
  readonly claims: ClaimWaiter;
  /** Wakes the writer for a claim, and tells it the trace that the claim belongs to. */
  readonly wake: (claimId: string, traceparent?: string) => Promise<void>;
  /** How long a call waits for its transfers, in ms. */
  readonly waitMs: number;
  /** Aborted when the process stops: then calls are answered early. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
};

type Context = ClaimGrantParts & { readonly funds: SettledFunds<HeldEther> };

/** Logs a harmless failure: the writer's sweep or a repeated call repairs it. */
const logFailure = ({ log }: Context, message: string, work: Promise<unknown>): Promise<unknown> =>
  work.catch((error) => log.warn({ err: errorText(error) }, message));

/** A grant to one of the protocol's contracts would be lost. */
function refuseContracts({ testnet }: Context, wallet: Address): void {
  const found = Object.entries(testnet.deployment.contracts).find(([, address]) =>
    isAddressEqual(address, wallet),
  );
  if (found) {
    throw new ApiError("invalid_request", `The body is not valid. wallet: is the protocol's ${found[0]}`);
  }
}

/** Records the claim, with the faucet's funds where the database needs them. @throws ApiError when it is refused */
async function admit(context: Context, { wallet, client }: FaucetCall): Promise<Admitted> {
  const { connection, testnet, waitMs, funds } = context;
  const { chainId, contracts } = testnet.deployment;
  const faucet = await fromDatabase(() => roleWallet(connection.sql, chainId, "faucet"));
  if (!faucet) throw new ApiError("faucet_disabled", noFaucet);
  const { address, alive, fault } = faucet;
  const problem = alive ? fault : faucetDown;
  const request = { chainId, faucet: address, token: contracts.usdc, wallet, client, waitMs };
  const attempt = (known: FaucetFunds | undefined) =>
    fromDatabase(() => claimFaucet(connection.sql, { ...request, funds: known }));
  let admission = await attempt(problem === null ? funds.known(address) : undefined);
  if (admission.outcome === "funds_unknown") {
    if (problem !== null) throw new ApiError("relayer_unavailable", problem);
    admission = await attempt(await funds.recent(address));
  }
  // A lack of ether is certain only at the newest block: the faucet may just have been refilled.
  if (admission.outcome === "out_of_eth") {
    const { funds: newest, settled } = await funds.newest(address);
    admission = await attempt(newest);
    if (!settled && admission.outcome === "out_of_eth")
      throw new ApiError("relayer_unavailable", faucetBehind);
  }
  if ("claimId" in admission) return admission;
  throw refusal(admission);
}

/** The claim once settled; undefined when the wait ends, the process stops or the caller disconnects before. */
async function waitUntilSettled(
  { claims, waitMs, stopping, log }: Context,
  id: string,
  gone: AbortSignal,
): Promise<Exclude<Claim, { state: "open" }> | undefined> {
  const waited = claims.wait(id, waitMs).catch((error) => {
    log.warn({ err: errorText(error), claimId: id }, "could not read the claim");
    return undefined;
  });
  const claim = await unlessAborted(AbortSignal.any([stopping, gone]), waited);
  return claim?.state === "open" ? undefined : claim;
}

async function claimGrant(context: Context, call: FaucetCall): ReturnType<ClaimGrant> {
  const { connection, testnet, wake, log } = context;
  const { traceparent } = call;
  refuseContracts(context, call.wallet);
  const admitted = await admit(context, call);
  const id = admitted.claimId;
  if (traceparent !== undefined) log.info({ claimId: id, traceparent }, "waking the writer for a claim");
  // Without the wake-up the writer finds the claim a second later.
  void logFailure(context, "could not wake the writer", wake(id, traceparent));
  const claim = await waitUntilSettled(context, id, call.gone);
  if (!claim || call.gone.aborted) {
    const stopped = fromDatabase(() => stopAwaiting(connection.sql, admitted));
    await logFailure(context, "could not let others join the claim yet", stopped);
    throw pending();
  }
  // Noted before the response: after it, the same call is a new claim, and refused.
  const noted = fromDatabase(() => noteClaimReported(connection.sql, id));
  await logFailure(context, "could not note that the outcome was reported", noted);
  if (claim.state === "paid") return { claim, token: testnet.deployment.contracts.usdc };
  throw new ApiError(claim.code, claim.message);
}

/** Claims on the testnet. */
export function createClaimGrant(parts: ClaimGrantParts): ClaimGrant {
  const context = { ...parts, funds: createFaucetFunds(parts.connection, parts.testnet) };
  return (call) => claimGrant(context, call);
}

/** For a service without a testnet: every claim is `faucet_disabled`. */
export const disabledClaimGrant: ClaimGrant = async () => {
  throw new ApiError("faucet_disabled", noFaucet);
};
