import { findRevert } from "../../lib/chain/reverts.ts";
import { MAX_ERRAND_GAS, withMargin } from "../../lib/ledger/gas.ts";
import { errorText } from "../../lib/log.ts";
import {
  acceptedErrands,
  type ErrandGroup,
  giveUp,
  type OverdueGroup,
  overdueErrands,
  signErrands,
  tryErrandsAgainIn,
  type WantedGroup,
} from "../ledger/errands.ts";
import { LeaseLost } from "../ledger/leases.ts";
import { needsMoreGas } from "../relayer/answers.ts";
import type { Engine } from "../relayer/engine.ts";
import type { Failure } from "../relayer/failures.ts";
import { initialFees } from "../relayer/fees.ts";
import { signCall } from "../relayer/sign.ts";
import type { Wallet } from "../relayer/wallets.ts";
import { chooseErrands } from "./choose.ts";
import {
  chainSilent,
  gasSpent,
  gasTooDear,
  neverSigned,
  outOfEther,
  tooMuchGas,
  unpaidGas,
  wouldRevert,
} from "./failures.ts";

/** Claims, and errands of the upkeep, that are signed together. */
const ROUND = 50;
/** One that cannot be signed now is tried again so many seconds later. */
const RETRY_SECONDS = 1;
/** Waiting groups of which is remembered what was said: their number must have a bound. */
const MAX_TOLD = 1000;

/** What a simulation says against an errand for good; undefined when it was the node that failed. */
function failureOf(purpose: string, error: unknown): Failure | undefined {
  const revert = findRevert(error);
  if (revert) return wouldRevert(purpose, revert);
  return needsMoreGas(error) ? tooMuchGas(MAX_ERRAND_GAS) : undefined;
}

/** Why nothing of a group was signed in time, as far as its wallet's balance tells; undefined when the node does not tell it. */
function lateness({ value }: OverdueGroup, balance: bigint | undefined): Failure {
  if (balance === undefined) return chainSilent;
  return balance <= value ? outOfEther : neverSigned;
}

/**
 * Takes errands from `accepted` to `broadcast`: simulates them, gives them nonces, stores their signed bytes, sends them.
 * What is not signed in time is given up, by whichever writer sees it. Rejects when the database is away; the next round
 * finds the rows.
 *
 * @param gasBudget what gas may cost on the chain in a UTC day, in wei.
 */
export function createErrandRelay(engine: Engine, gasBudget: bigint) {
  const { sql, chain, chainId, wallets, market, send, maxFee, onSent, log } = engine;

  async function fail(group: Pick<ErrandGroup, "id" | "claimId">, failure: Failure): Promise<void> {
    if (await giveUp(sql, group, failure)) log.warn({ errand: group.id, ...failure }, "an errand failed");
  }

  /** The last reason by group: one line for each, not one a second. */
  const told = new Map<string, string>();

  async function later(group: ErrandGroup, reason: string): Promise<void> {
    if (told.get(group.id) !== reason) log.warn({ errand: group.id, reason }, "an errand has to wait");
    if (told.size >= MAX_TOLD) told.clear();
    told.set(group.id, reason);
    await tryErrandsAgainIn(sql, group, RETRY_SECONDS);
  }

  /** The group with its gas; undefined when it failed or is to be tried again. */
  async function simulate(wallet: Wallet, group: ErrandGroup): Promise<WantedGroup | undefined> {
    const calls: WantedGroup["calls"][number][] = [];
    for (const { id, purpose, call } of group.errands) {
      try {
        // Once one of a claim's transfers was signed the other is owed, whatever a simulation says.
        const most = group.touched ? undefined : MAX_ERRAND_GAS;
        const gas = await chain.estimateGas({ from: wallet.address, ...call }, most);
        calls.push({ id, call: { ...call, gasLimit: withMargin(gas) } });
      } catch (error) {
        const failure = failureOf(purpose, error);
        if (failure && !group.touched) await fail(group, failure);
        else await later(group, failure?.message ?? errorText(error));
        return undefined;
      }
    }
    return { id: group.id, calls };
  }

  /** A claim is given up for want of gas at once: whoever made it may come back when there is some. */
  async function postpone(group: ErrandGroup, fault: string | undefined): Promise<void> {
    if (fault !== undefined && group.claimId !== null && !group.touched) await fail(group, unpaidGas(fault));
    else await later(group, fault ?? "the balance or the operator's stop does not let it");
  }

  async function relay(wallet: Wallet): Promise<void> {
    const groups = await acceptedErrands(sql, chainId, wallet.address, ROUND);
    if (groups.length === 0) return;
    const wanted = (await Promise.all(groups.map((group) => simulate(wallet, group)))).flatMap(
      (g) => g ?? [],
    );
    if (wanted.length === 0) return;
    const [now, balance] = await Promise.all([market.now(), chain.balance(wallet.address)]);
    const fees = initialFees(now, maxFee);
    const limits = { balance, maxFee: fees?.maxFee ?? maxFee, gasBudget };
    let overBudget: readonly WantedGroup[] = [];
    const signed = fees
      ? await signErrands(sql, {
          lease: wallet.lease,
          groups: wanted,
          choose(candidates, spending) {
            const choice = chooseErrands(candidates, spending, limits);
            overBudget = choice.overBudget;
            return choice.sign;
          },
          sign: (nonce, call) => signCall(wallet, nonce, call, fees),
        })
      : [];
    if (signed.length > 0) onSent();
    const done = new Set(signed.map(({ id }) => id));
    const left = groups.filter(
      ({ id, errands }) =>
        wanted.some((one) => one.id === id) && errands.some((errand) => !done.has(errand.id)),
    );
    const faultOf = ({ id }: ErrandGroup) => {
      if (!fees) return gasTooDear;
      return overBudget.some((one) => one.id === id) ? gasSpent : undefined;
    };
    // In the order of the nonces; bytes that a node did not take are sent again by the recovery.
    const sent = signed.map((one) => send(one.signed));
    await Promise.all(left.map((group) => postpone(group, faultOf(group))));
    await Promise.allSettled(sent);
  }

  /** Gives up what was not signed in time; the wallets are asked for beside each other, as the node may be one that hangs. */
  async function giveUpOverdue(): Promise<void> {
    const overdue = await overdueErrands(sql, chainId);
    const senders = [...new Set(overdue.map(({ sender }) => sender))];
    await Promise.all(
      senders.map(async (sender) => {
        const balance = await chain.balance(sender).catch(() => undefined);
        const groups = overdue.filter((group) => group.sender === sender);
        await Promise.all(groups.map((group) => fail(group, lateness(group, balance))));
      }),
    );
  }

  return async function round(): Promise<void> {
    await giveUpOverdue();
    for (const wallet of wallets.all()) {
      try {
        await relay(wallet);
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
        wallets.lost(error.lease);
      }
    }
  };
}
