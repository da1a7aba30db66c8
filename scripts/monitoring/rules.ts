/** The alert rules. `page` wakes somebody: money or users are affected now. `ticket` waits for the morning. */
import { apiMetrics } from "../../lib/metrics/api-metrics.ts";
import { contractMetrics } from "../../lib/metrics/contract-metrics.ts";
import { keeperMetrics } from "../../lib/metrics/keeper-metrics.ts";
import { processMetrics } from "../../lib/metrics/process-metrics.ts";
import { relayMetrics } from "../../lib/metrics/relay-metrics.ts";
import { webhookMetrics } from "../../lib/metrics/webhook-metrics.ts";
import { increase, max, quantile, rate, samples, shareAbove, sum } from "./expressions.ts";
import { objectives } from "./objectives.ts";

export type Rule = {
  readonly alert: string;
  readonly expression: string;
  /** How long the expression must hold, such as `5m`; at once when left out. */
  readonly holds?: string;
  readonly severity: "page" | "ticket";
  /** What is wrong, in a sentence. It may name labels as `{{ $labels.wallet }}`. */
  readonly summary: string;
  /** The first thing to do. */
  readonly action: string;
};

const relay = relayMetrics("relay");
const { dueToMined, acceptedToBroadcast, indexLag, unknownFateGrace } = objectives;

/** Promises to users that are broken. */
const broken: readonly Rule[] = [
  {
    alert: "TriggerMissed",
    expression: `${increase(keeperMetrics.missed, "15m")} > 0 or ${increase(keeperMetrics.missedWhileDown, "15m")} > 0`,
    severity: "page",
    summary: "A policy could have been paid and was not.",
    action: "npm run keeper -- audit names it",
  },
  {
    alert: "TriggerSlow",
    expression: `${quantile(dueToMined.quantile, keeperMetrics.dueToMinedSeconds, "15m")} > ${dueToMined.seconds}`,
    severity: "page",
    summary: "Observations take longer than a minute from possible to mined.",
    action: "see the keeper's wallet, and fees against MAX_FEE_GWEI",
  },
  {
    alert: "BroadcastSlow",
    expression: `${shareAbove(relay.broadcastSeconds, acceptedToBroadcast.seconds, "10m")} > ${round(1 - acceptedToBroadcast.quantile)}`,
    holds: "10m",
    severity: "ticket",
    summary: "More than 5 % of purchases wait longer than 100 ms for their broadcast.",
    action: "see which stage takes the time, on the board",
  },
  {
    alert: "IndexBehind",
    expression: `${max(samples(apiMetrics.indexLag))} > ${indexLag.blocks}`,
    holds: "2m",
    severity: "page",
    summary: "Reads describe a block that is more than two behind the chain.",
    action: "see the indexer's log, and /api/v1/indexer/health",
  },
  {
    alert: "IndexOftenBehind",
    expression: `avg_over_time((${max(samples(apiMetrics.indexLag))} <= bool ${indexLag.blocks})[1d:1m]) < ${indexLag.share}`,
    holds: "10m",
    severity: "ticket",
    summary: "The index was more than two blocks behind for over 0.1 % of a day.",
    action: "see the indexer's log for the times",
  },
  {
    alert: "TransactionOfUnknownFate",
    expression: `${max(samples(relay.oldestInFlight), "wallet")} > scalar(${max(samples(relay.timeToLive))}) + ${unknownFateGrace}`,
    holds: "1m",
    severity: "page",
    summary: "A transaction of {{ $labels.wallet }} is past its time to live and neither mined nor replaced.",
    action: "npm run ledger names it; see the node and MAX_FEE_GWEI",
  },
];

/** What breaks a promise soon, or loses money. */
const threatened: readonly Rule[] = [
  {
    alert: "TransactionsUnknown",
    expression: `${max(samples(relay.unknown), "wallet")} > 0`,
    holds: "1m",
    severity: "page",
    summary: "The chain has transactions of {{ $labels.wallet }} that the ledger lacks: nothing is signed.",
    action: "docs/operating.md, A database that lost commits",
  },
  {
    alert: "WalletLow",
    expression: `${samples(relay.transactionsLeft)} < 100`,
    holds: "5m",
    severity: "page",
    summary: "{{ $labels.wallet }} can pay for fewer than a hundred purchases.",
    action: "send ether to it",
  },
  {
    alert: "PurchasesWaiting",
    expression: `${max(samples(relay.oldestWaiting))} > 30`,
    holds: "1m",
    severity: "page",
    summary: "An accepted purchase has waited for its signature for half a minute.",
    action: "npm run ledger says why: stops, budgets, wallets",
  },
  {
    alert: "WriterBlind",
    expression: `${samples(relay.sourceUp)} == 0`,
    holds: "2m",
    severity: "page",
    summary: "The writer cannot reach its {{ $labels.source }}.",
    action: "see Postgres and the node",
  },
  {
    alert: "KeeperCannotSend",
    expression: `${samples(keeperMetrics.canSend)} == 0`,
    holds: "2m",
    severity: "page",
    summary: "The keeper cannot send or observe.",
    action: "npm run ledger says why: a stop, its budget, its balance, the keeper contract",
  },
  {
    alert: "KeeperAway",
    expression: `${max(samples(keeperMetrics.lastLook))} > 60`,
    holds: "1m",
    severity: "page",
    summary: "No keeper has looked for due policies for a minute.",
    action: "start a writer with KEEPER_PRIVATE_KEY",
  },
  {
    alert: "KeeperSetAside",
    expression: `${max(samples(keeperMetrics.setAside))} > 0 or ${increase(keeperMetrics.auditRefused, "15m")} > 0`,
    holds: "5m",
    severity: "page",
    summary: "Work of the keeper fails again and again, or contracts refuse a payout for an unknown reason.",
    action: "see the writer's log at level error",
  },
  {
    alert: "ContractUpgraded",
    expression: `${increase(contractMetrics.upgrades, "15m")} > 0`,
    severity: "page",
    summary: "A contract of the protocol was upgraded.",
    action: "the writer's log says which views and constants were compared again",
  },
  {
    alert: "ContractsDiffer",
    expression: `${max(samples(contractMetrics.different))} > 0`,
    severity: "page",
    summary: "Contracts answer otherwise than the service expects.",
    action: "npm run doctor names contract, function and address",
  },
  {
    alert: "ApiFails",
    expression: `${sum(rate(apiMetrics.requests, "5m", { status: "~5.." }))} / ${sum(rate(apiMetrics.requests, "5m"))} > 0.01`,
    holds: "5m",
    severity: "page",
    summary: "More than 1 % of the API's answers are failures.",
    action: "see GET /health, and the API's log at level error",
  },
  {
    alert: "PoolWait",
    expression: `${max(samples(apiMetrics.poolWait), "pool")} > 0.5`,
    holds: "5m",
    severity: "ticket",
    summary: "Statements of the pool {{ $labels.pool }} wait for half a second.",
    action: "see Postgres, or start another API",
  },
  {
    alert: "StandbyUnused",
    // An average, because a standby that is used now and then would begin the wait anew each time.
    expression: `avg_over_time(${samples(apiMetrics.standbyUsed)}[10m]) < 0.5`,
    holds: "5m",
    severity: "ticket",
    summary: "Reads of the index go to the primary, because the standby is away or behind.",
    action: "see the API's log for the reason, and the standby",
  },
  {
    alert: "WebhooksLate",
    expression: `${max(samples(webhookMetrics.oldestDue))} > 300 or ${max(samples(webhookMetrics.outboxLag))} > 50`,
    holds: "5m",
    severity: "ticket",
    summary: "Events reach webhooks late.",
    action: "see GET /api/v1/admin/webhooks, and WEBHOOK_CONCURRENCY",
  },
  {
    alert: "EventLoopBlocked",
    expression: `${samples(processMetrics.eventLoopLag)} > 0.5`,
    holds: "5m",
    severity: "ticket",
    summary: "{{ $labels.job }} is busy for half a second at a time.",
    action: "start another process, or see what it is busy with",
  },
  {
    alert: "FilesNearlyUsedUp",
    expression: `${samples(processMetrics.openFiles)} / ${samples(processMetrics.mostFiles)} > 0.8`,
    holds: "5m",
    severity: "ticket",
    summary: "{{ $labels.job }} has nearly as many open files and connections as the system allows.",
    action: "raise ulimit -n, and see whose connections they are",
  },
  {
    alert: "ProcessDown",
    expression: "up == 0",
    holds: "1m",
    severity: "page",
    summary: "{{ $labels.job }} does not answer Prometheus.",
    action: "see its supervisor and its log",
  },
];

/** A share without the rounding of binary fractions. */
function round(share: number): number {
  return Number(share.toFixed(6));
}

export const rules: readonly Rule[] = [...broken, ...threatened];

/** The rules as Prometheus reads them. JSON is YAML. */
export const ruleDocument = () => ({
  groups: [
    { name: "promises", rules: broken.map(documentOf) },
    { name: "threats", rules: threatened.map(documentOf) },
  ],
});

const documentOf = ({ alert, expression, holds, severity, summary, action }: Rule) => ({
  alert,
  expr: expression,
  ...(holds === undefined ? {} : { for: holds }),
  labels: { severity },
  annotations: { summary, action },
});
