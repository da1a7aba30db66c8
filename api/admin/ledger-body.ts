import type { z } from "@hono/zod-openapi";
import { getAddress, isHex } from "viem";
import { decimalOrNull, isoTime } from "../http/field-types.ts";
import { cutPage } from "../http/paging.ts";
import type { LedgerFacts } from "./ledger-queries.ts";
import { flightCursorOf } from "./ledger-routes.ts";
import type { Ledger } from "./ledger-schemas.ts";

type LedgerBody = z.infer<typeof Ledger>;

const keeperBody = ({ tasks, absences }: NonNullable<LedgerFacts["keeper"]>): LedgerBody["keeper"] => ({
  failedTasks: tasks.map(({ productId, again, ...task }) => ({
    ...task,
    productId: isHex(productId) ? productId : null,
    nextTrySeconds: again,
  })),
  absences: absences.map(({ chainId, from, to }) => ({
    chainId,
    from: isoTime(BigInt(from)),
    to: to === null ? null : isoTime(BigInt(to)),
  })),
});

function flightsPage(flights: LedgerFacts["flights"], limit: number) {
  const { rows, next } = cutPage(flights, limit, flightCursorOf);
  return {
    count: rows.length,
    limit,
    nextCursor: next,
    inFlight: rows.map(({ chainId, kind, state, purpose, id, attempts, cancels, ...flight }) => ({
      ...{ chainId, kind, state, purpose, id, attempts, cancels },
      wallet: getAddress(flight.wallet),
      nonce: String(flight.nonce),
      ageSeconds: flight.age,
      maxFeePerGas: decimalOrNull(flight.maxFee),
      maxPriorityFeePerGas: decimalOrNull(flight.priorityFee),
      lastSentSeconds: flight.sentAgo,
    })),
  };
}

/** `flights` has one more than the page, unless the list ends there. */
export function ledgerBody(facts: LedgerFacts, limit: number): LedgerBody {
  const { wallets, flights, waitingTotal, waiting, failed, gaps, paused, gas, byWallet, byKey, keeper } =
    facts;
  return {
    wallets: wallets.map(({ wallet, nextNonce, oldest, unknown, ...load }) => ({
      ...load,
      wallet: getAddress(wallet),
      nextNonce: nextNonce === null ? null : String(nextNonce),
      oldestSeconds: oldest,
      unknownTransactions: unknown,
    })),
    ...flightsPage(flights, limit),
    waitingTotal,
    waiting: waiting.map(({ wallet, age, ...entry }) => ({
      ...entry,
      wallet: getAddress(wallet),
      ageSeconds: age,
    })),
    failed: failed.map(({ age, hash, ...failure }) => ({ ...failure, ageSeconds: age, txHash: hash })),
    nonceGaps: gaps.map(({ chainId, wallet, nonce }) => ({
      chainId,
      wallet: getAddress(wallet),
      nonce: String(nonce),
    })),
    pausedClients: paused.map(({ wallet, until }) => ({
      wallet: getAddress(wallet),
      until: until.toISOString(),
    })),
    gas: gas.map(({ chainId, of, spent, budget, budgetPerClient }) => ({
      ...{ chainId, of },
      spent: String(spent),
      budget: decimalOrNull(budget),
      budgetPerClient: decimalOrNull(budgetPerClient),
    })),
    spendingByWallet: byWallet.map(({ wallet, gas: cost, given, ...spending }) => ({
      ...spending,
      wallet: getAddress(wallet),
      gas: String(cost),
      sent: String(given),
    })),
    spendingByKey: byKey.map(({ wallet, gas: cost, premiums, ...spending }) => ({
      ...spending,
      wallet: getAddress(wallet),
      gas: String(cost),
      premiums: String(premiums),
    })),
    keeper: keeper && keeperBody(keeper),
  };
}
