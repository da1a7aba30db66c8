/** The Grafana board: what an operator looks at first is at the top. */
import { apiMetrics } from "../../lib/metrics/api-metrics.ts";
import { keeperMetrics } from "../../lib/metrics/keeper-metrics.ts";
import { processMetrics } from "../../lib/metrics/process-metrics.ts";
import { relayMetrics } from "../../lib/metrics/relay-metrics.ts";
import { webhookMetrics } from "../../lib/metrics/webhook-metrics.ts";
import { increase, max, quantile, rate, samples, sum } from "./expressions.ts";
import { objectives } from "./objectives.ts";

/** Units as Grafana names them. */
type Unit = "short" | "s" | "reqps" | "percentunit" | "bytes" | "none";

export type Panel = {
  readonly title: string;
  /** What the panel shows, in a sentence. */
  readonly description: string;
  readonly unit: Unit;
  /** Lines by their legend, which may name labels as `{{wallet}}`. */
  readonly lines: Readonly<Record<string, string>>;
  /** Drawn as a red line: a promise. */
  readonly limit?: number;
};
export type Row = { readonly title: string; readonly panels: readonly Panel[] };

const relay = relayMetrics("relay");
const { dueToMined, acceptedToBroadcast, indexLag } = objectives;
/** Grafana's own window: four scrapes at least. */
const WINDOW = "$__rate_interval";

export const rows: readonly Row[] = [
  {
    title: "Promises",
    panels: [
      {
        title: "Missed triggers, last day",
        description: "Policies that could have been triggered and were not.",
        unit: "none",
        lines: {
          missed: sum(increase(keeperMetrics.missed, "1d")),
          "missed while down": sum(increase(keeperMetrics.missedWhileDown, "1d")),
          "of contracts": sum(increase(keeperMetrics.missedContracts, "1d")),
        },
        limit: 1,
      },
      {
        title: "Due to mined, 99 of 100",
        description: "Time from the block that made a policy due to the block of its trigger.",
        unit: "s",
        lines: {
          trigger: quantile(dueToMined.quantile, keeperMetrics.dueToMinedSeconds, "1h"),
        },
        limit: dueToMined.seconds,
      },
      {
        title: "Accepted to broadcast, 95 of 100",
        description: "Time from an accepted purchase until a node has its transaction.",
        unit: "s",
        lines: { purchase: quantile(acceptedToBroadcast.quantile, relay.broadcastSeconds, WINDOW) },
        limit: acceptedToBroadcast.seconds,
      },
      {
        title: "Index behind the chain",
        description: "Blocks between the chain's head and what reads see.",
        unit: "none",
        lines: { "{{instance}}": samples(apiMetrics.indexLag) },
        limit: indexLag.blocks + 1,
      },
      {
        title: "Oldest transaction in flight",
        description: "Past its time to live, a purchase is replaced by an empty transfer.",
        unit: "s",
        lines: {
          "{{wallet}}": max(samples(relay.oldestInFlight), "wallet"),
          "time to live": max(samples(relay.timeToLive)),
        },
      },
    ],
  },
  {
    title: "Purchases",
    panels: [
      {
        title: "Settled purchases",
        description: "Purchases that ended, by outcome.",
        unit: "reqps",
        lines: { "{{outcome}}": sum(rate(relay.settled, WINDOW), "outcome") },
      },
      {
        title: "Stages, 95 of 100",
        description: "Where the time of a purchase goes.",
        unit: "s",
        lines: { "{{stage}}": quantile(0.95, relay.stageSeconds, WINDOW, { by: ["stage"] }) },
      },
      {
        title: "Waiting for a signature",
        description: "Accepted purchases without a signed transaction, and the age of the oldest.",
        unit: "short",
        lines: {
          purchases: max(samples(relay.waiting)),
          "oldest, in seconds": max(samples(relay.oldestWaiting)),
        },
      },
      {
        title: "In flight",
        description: "Signed transactions that are in no block yet, by wallet.",
        unit: "short",
        lines: { "{{wallet}}": max(samples(relay.inFlight), "wallet") },
      },
      {
        title: "Broadcasts and raised fees",
        description: "Broadcasts by the node's answer, and transactions signed again at a higher fee.",
        unit: "reqps",
        lines: {
          "{{answer}}": sum(rate(relay.broadcasts, WINDOW), "answer"),
          raised: sum(rate(relay.feeBumps, WINDOW)),
        },
      },
      {
        title: "Purchases that each wallet can pay for",
        description: "Its balance at the newest gas cost.",
        unit: "short",
        lines: { "{{wallet}}": samples(relay.transactionsLeft) },
        limit: 100,
      },
    ],
  },
  {
    title: "Keeper",
    panels: [
      {
        title: "Due",
        description: "Work that was due when the keeper last looked.",
        unit: "short",
        lines: { "{{purpose}}": max(samples(keeperMetrics.due), "purpose") },
      },
      {
        title: "Work",
        description: "What became of it.",
        unit: "reqps",
        lines: { "{{purpose}}, {{outcome}}": sum(rate(keeperMetrics.work, WINDOW), "purpose", "outcome") },
      },
      {
        title: "Last look, and work set aside",
        description: "Seconds since a keeper that could send last looked; work that fails again and again.",
        unit: "short",
        lines: {
          "last look, in seconds": max(samples(keeperMetrics.lastLook)),
          "set aside": max(samples(keeperMetrics.setAside)),
        },
      },
    ],
  },
  {
    title: "API",
    panels: [
      {
        title: "Requests by status",
        description: "Answered requests.",
        unit: "reqps",
        lines: { "{{status}}": sum(rate(apiMetrics.requests, WINDOW), "status") },
      },
      {
        title: "Slowest routes, 95 of 100",
        description: "Time until the answer is made. A purchase waits for its block.",
        unit: "s",
        lines: {
          "{{method}} {{route}}": `topk(8, ${quantile(0.95, apiMetrics.seconds, WINDOW, { by: ["method", "route"] })})`,
        },
      },
      {
        title: "Refused by a limit",
        description: "Requests above a rate limit, by limit.",
        unit: "reqps",
        lines: { "{{limit}}": sum(rate(apiMetrics.limitHits, WINDOW), "limit") },
      },
      {
        title: "Answers of the index, by source",
        description: "Out of memory, with another request's read, or from Postgres.",
        unit: "reqps",
        lines: { "{{source}}": sum(rate(apiMetrics.indexAnswers, WINDOW), "source") },
      },
      {
        title: "Wait for Postgres",
        description: "Time of an empty statement through each pool.",
        unit: "s",
        lines: { "{{pool}}": max(samples(apiMetrics.poolWait), "pool") },
      },
    ],
  },
  {
    title: "Webhooks",
    panels: [
      {
        title: "Attempts",
        description: "Delivery attempts, by outcome.",
        unit: "reqps",
        lines: { "{{outcome}}": sum(rate(webhookMetrics.attempts, WINDOW), "outcome") },
      },
      {
        title: "Backlog",
        description: "Deliveries that are not delivered yet, and for how long the oldest has been due.",
        unit: "short",
        lines: {
          pending: max(samples(webhookMetrics.pending)),
          "oldest due, in seconds": max(samples(webhookMetrics.oldestDue)),
          "outbox behind, in blocks": max(samples(webhookMetrics.outboxLag)),
        },
      },
    ],
  },
  {
    title: "Processes",
    panels: [
      {
        title: "CPU",
        description: "Cores in use.",
        unit: "short",
        lines: { "{{job}} {{instance}}": rate(processMetrics.cpuSeconds, WINDOW) },
      },
      {
        title: "Memory",
        description: "Resident memory.",
        unit: "bytes",
        lines: { "{{job}} {{instance}}": samples(processMetrics.memory) },
      },
      {
        title: "Event loop, 99 of 100",
        description: "Time for which nothing else could run.",
        unit: "s",
        lines: { "{{job}} {{instance}}": samples(processMetrics.eventLoopLag) },
      },
    ],
  },
];
