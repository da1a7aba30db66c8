/** One claim to the faucet's grant, from a checked request to its outcome. */
import { type Address, isAddressEqual } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { roleWallet } from "../../lib/ledger/relayers.ts";
import { errorText } from "../../lib/log.ts";
import { unlessAborted } from "../../lib/within.ts";
import type { Dependencies, Testnet } from "../dependencies.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import { claimFaucet, type FaucetFunds, type Gate } from "./admission.ts";
import { type Claim, noteClaimTold, stopAwaiting } from "./claims.ts";
import { createFaucetFunds } from "./funds.ts";
import { faucetTerms } from "./terms.ts";

/** Seconds after which a claim that is still on its way may be repeated: a block or two later. */
const PENDING_RETRY_SECONDS = 5;

export type FaucetCall = {
  wallet: Address;
  /** The client's address, or the /64 of an IPv6 one. */
  client: string;
  /** Aborted when the caller goes away: then nobody is told the outcome. */
  gone: AbortSignal;
};

type Passed = Extract<Gate, { claimId: string }>;
type Paid = Extract<Claim, { state: "paid" }>;

export type Faucet = {
  /**
   * Claims, or joins the wallet's claim of which nobody was told the outcome, and waits until it is paid. The caller may
   * go away: what passed the gate is carried out. @throws ApiError with the documented code when it is not paid
   */
  claim(call: FaucetCall): Promise<{ claim: Paid; token: Address }>;
};

export const noFaucet = "There is no faucet: no writer has, or has had for an hour, a wallet for it.";
export const stoppedFaucet = "The operator has stopped the faucet.";
export const faucetAway = "No writer sends from the faucet's wallet at present; try again later.";

const faucetBehind = "The writer has not yet settled the newest blocks of the testnet; try again later.";

const { cooldownHours, dailyCap } = faucetTerms;

/** What keeps a claim from passing the gate. */
function refusal(gate: Exclude<Gate, Passed>): ApiError {
  switch (gate.outcome) {
    case "stopped":
      return new ApiError("faucet_disabled", stoppedFaucet);
    case "wallet_limited":
      return new ApiError(
        "wallet_rate_limited",
        `This wallet has claimed within ${cooldownHours} hours: try again at ${gate.until.toISOString()}.`,
        { retryAfter: gate.secondsLeft },
      );
    case "client_limited":
      return new ApiError(
        "ip_rate_limited",
        `Your address has claimed within ${cooldownHours} hours: it may claim again at ${gate.until.toISOString()}.`,
        { retryAfter: gate.secondsLeft },
      );
    case "day_full":
      return new ApiError(
        "daily_cap_reached",
        `The ${dailyCap} grants of this UTC day are given: the next day begins at ${gate.until.toISOString()}.`,
        { retryAfter: gate.secondsLeft },
      );
    case "client_rests":
      return new ApiError(
        "ip_rate_limited",
        `Five claims of your address could not be paid, as their transfers would revert: it may claim again at ${gate.until.toISOString()}.`,
        { retryAfter: gate.secondsLeft },
      );
    case "out_of_eth":
      return new ApiError("out_of_eth", "The faucet has too little ether left for a grant; try again later.");
    case "funds_unknown":
      throw new Error("funds were given and are unknown");
  }
}

const pending = () =>
  new ApiError(
    "claim_pending",
    "The claim is not settled yet: send it again to learn its outcome. Nothing is paid twice.",
    { retryAfter: PENDING_RETRY_SECONDS },
  );

/** @throws ApiError `faucet_disabled` for every claim where there is no testnet */
export function createFaucet(deps: Dependencies): Faucet {
  const { testnet } = deps;
  if (testnet) return createTestnetFaucet(deps, testnet);
  return {
    async claim() {
      throw new ApiError("faucet_disabled", noFaucet);
    },
  };
}

function createTestnetFaucet(deps: Dependencies, testnet: Testnet): Faucet {
  const { connection, log, purchaseWaitMs, stopping } = deps;
  const { deployment, queue, claims } = testnet;
  const { chainId, contracts } = deployment;
  const { db } = connection;
  const funds = createFaucetFunds(deps, testnet);

  /** A database that is away in this moment is made up for later: none of it pays anything twice. */
  const quietly = (what: string, work: Promise<unknown>): Promise<unknown> =>
    work.catch((error) => log.warn({ err: errorText(error) }, what));

  /** Ether and tokens that a contract of the protocol got would be lost. */
  function refuseContracts(wallet: Address): void {
    const found = Object.entries(contracts).find(([, address]) => isAddressEqual(address, wallet));
    if (found) {
      throw new ApiError("invalid_request", `The body is not valid. wallet: is the protocol's ${found[0]}`);
    }
  }

  /** Passes the gate. */
  async function pass({ wallet, client }: FaucetCall): Promise<Passed> {
    const faucet = await fromDatabase(() => roleWallet(db, chainId, "faucet"));
    if (!faucet) throw new ApiError("faucet_disabled", noFaucet);
    const { address, alive, fault } = faucet;
    const hindrance = alive ? fault : faucetAway;
    const wish = { chainId, faucet: address, token: contracts.usdc, wallet, client, waitMs: purchaseWaitMs };
    const attempt = (known: FaucetFunds | undefined) =>
      fromDatabase(() => claimFaucet(connection.sql, { ...wish, funds: known }));
    let gate = await attempt(hindrance === null ? funds.known(address) : undefined);
    if (gate.outcome === "funds_unknown") {
      if (hindrance !== null) throw new ApiError("relayer_unavailable", hindrance);
      gate = await attempt(await funds.recent(address));
    }
    // What is refused for want of ether is refused by the newest block alone: it may just have been filled up.
    if (gate.outcome === "out_of_eth") {
      const { funds: newest, settled } = await funds.newest(address);
      gate = await attempt(newest);
      if (!settled && gate.outcome === "out_of_eth") throw new ApiError("relayer_unavailable", faucetBehind);
    }
    if ("claimId" in gate) return gate;
    throw refusal(gate);
  }

  /** The claim once it is settled; undefined when the wait, the process or the caller's patience is over before. */
  async function settled(
    id: string,
    gone: AbortSignal,
  ): Promise<Exclude<Claim, { state: "open" }> | undefined> {
    const waited = claims.wait(id, purchaseWaitMs).catch((error) => {
      log.warn({ err: errorText(error), claimId: id }, "the claim cannot be read");
      return undefined;
    });
    const claim = await unlessAborted(AbortSignal.any([stopping, gone]), waited);
    return claim?.state === "open" ? undefined : claim;
  }

  return {
    async claim(call) {
      refuseContracts(call.wallet);
      const passed = await pass(call);
      const id = passed.claimId;
      // A hint: the writer finds the rows without it too, half a second later.
      void quietly("the writer was not woken", queue.wakeClaim(id));
      const claim = await settled(id, call.gone);
      if (!claim || call.gone.aborted) {
        await quietly(
          "the claim is not free to be joined yet",
          fromDatabase(() => stopAwaiting(db, passed)),
        );
        throw pending();
      }
      // Told first: a repetition of what was answered is a new claim, and refused.
      await quietly(
        "the outcome was not noted as told",
        fromDatabase(() => noteClaimTold(db, id)),
      );
      if (claim.state === "paid") return { claim, token: contracts.usdc };
      throw new ApiError(claim.code, claim.message);
    },
  };
}
