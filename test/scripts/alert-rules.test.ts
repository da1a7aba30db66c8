/**
 * The alert rules, evaluated by Prometheus' own `promtool` on made-up samples. What this proves: each rule fires for what it is meant
 * for, stays silent just below its limit, and says what to do.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { projectRoot } from "../../lib/project-root.ts";
import { objectives } from "../../scripts/monitoring/objectives.ts";
import { rules } from "../../scripts/monitoring/rules.ts";
import { tableRows } from "../e2e/support/doc-blocks.ts";

/** Samples of a series, one a minute, in promtool's notation: `5+0x30` is 5, and again thirty times. */
type Series = Readonly<Record<string, string>>;
type Case = {
  /** Samples with which the alert fires at minute 30. */
  readonly fires: Series;
  /** Samples just below its limit. */
  readonly silent: Series;
  /** The alert's labels beside its severity. */
  readonly labels?: Readonly<Record<string, string>>;
};

const steady = (value: number | string) => `${value}+0x60`;
const mined = (within: string) => `keeper_due_to_mined_seconds_bucket{le="${within}"}`;
const lag = 'api_index_lag_blocks{instance="a"}';
const broadcast = {
  within: 'relay_accepted_to_broadcast_seconds_bucket{le="0.1"}',
  all: "relay_accepted_to_broadcast_seconds_count",
};
const request = (status: number) => `api_requests_total{method="GET",route="/health",status="${status}"}`;
const oldest = 'relay_wallet_oldest_in_flight_seconds{wallet="0xa"}';
const wallet = { wallet: "0xa" };

const cases: Readonly<Record<string, Case>> = {
  TriggerMissed: {
    fires: { keeper_missed_total: "0+0x25 1+0x30" },
    silent: { keeper_missed_total: steady(5), keeper_missed_while_down_total: steady(2) },
  },
  TriggerSlow: {
    fires: { [mined("60")]: "0+98x60", [mined("120")]: "0+100x60", [mined("+Inf")]: "0+100x60" },
    silent: { [mined("30")]: "0+99x60", [mined("60")]: "0+100x60", [mined("+Inf")]: "0+100x60" },
  },
  BroadcastSlow: {
    fires: { [broadcast.within]: "0+94x60", [broadcast.all]: "0+100x60" },
    silent: { [broadcast.within]: "0+96x60", [broadcast.all]: "0+100x60" },
  },
  IndexBehind: { fires: { [lag]: steady(3) }, silent: { [lag]: steady(2) } },
  IndexOftenBehind: { fires: { [lag]: "3+0x2 0+0x60" }, silent: { [lag]: steady(2) } },
  TransactionOfUnknownFate: {
    fires: { [oldest]: steady(661), relay_purchase_ttl_seconds: steady(600) },
    silent: { [oldest]: steady(660), relay_purchase_ttl_seconds: steady(600) },
    labels: wallet,
  },
  TransactionsUnknown: {
    fires: { 'relay_wallet_unknown_transactions{wallet="0xa"}': steady(1) },
    silent: { 'relay_wallet_unknown_transactions{wallet="0xa"}': steady(0) },
    labels: wallet,
  },
  WalletLow: {
    fires: { 'relay_wallet_transactions_left{wallet="0xa"}': steady(99) },
    silent: { 'relay_wallet_transactions_left{wallet="0xa"}': steady(100) },
    labels: wallet,
  },
  PurchasesWaiting: {
    fires: { relay_oldest_accepted_seconds: steady(31) },
    silent: { relay_oldest_accepted_seconds: steady(30) },
  },
  WriterBlind: {
    fires: { 'relay_source_up{source="chain"}': steady(0) },
    silent: { 'relay_source_up{source="chain"}': steady(1) },
    labels: { source: "chain" },
  },
  KeeperCannotSend: { fires: { keeper_can_send: steady(0) }, silent: { keeper_can_send: steady(1) } },
  KeeperAway: {
    fires: { keeper_last_look_seconds: steady(61) },
    silent: { keeper_last_look_seconds: steady(60) },
  },
  KeeperSetAside: {
    fires: { keeper_set_aside: steady(1) },
    silent: { keeper_set_aside: steady(0), keeper_audit_refused_total: steady(3) },
  },
  ContractUpgraded: {
    fires: { contract_upgrades_total: "0+0x25 1+0x30" },
    silent: { contract_upgrades_total: steady(2) },
  },
  ContractsDiffer: {
    fires: { contract_views_different: steady(1) },
    silent: { contract_views_different: steady(0) },
  },
  ApiFails: {
    fires: { [request(500)]: "0+2x60", [request(200)]: "0+98x60" },
    silent: { [request(503)]: "0+1x60", [request(200)]: "0+99x60" },
  },
  PoolWait: {
    fires: { 'api_pool_wait_seconds{pool="api"}': steady(0.6) },
    silent: { 'api_pool_wait_seconds{pool="api"}': steady(0.5) },
    labels: { pool: "api" },
  },
  StandbyUnused: {
    fires: { api_standby_used: "0 0 1 ".repeat(20).trim() },
    silent: { api_standby_used: "1 1 0 ".repeat(20).trim() },
  },
  WebhooksLate: {
    fires: { webhook_oldest_due_seconds: steady(301) },
    silent: { webhook_oldest_due_seconds: steady(300), webhook_outbox_lag_blocks: steady(50) },
  },
  EventLoopBlocked: {
    fires: { 'nodejs_eventloop_lag_p99_seconds{job="api"}': steady(0.6) },
    silent: { 'nodejs_eventloop_lag_p99_seconds{job="api"}': steady(0.5) },
    labels: { job: "api" },
  },
  FilesNearlyUsedUp: {
    fires: { 'process_open_fds{job="api"}': steady(81), 'process_max_fds{job="api"}': steady(100) },
    silent: { 'process_open_fds{job="api"}': steady(80), 'process_max_fds{job="api"}': steady(100) },
    labels: { job: "api" },
  },
  ProcessDown: {
    fires: { 'up{job="api"}': steady(0) },
    silent: { 'up{job="api"}': steady(1) },
    labels: { job: "api" },
  },
};

const seriesOf = (samples: Series) => Object.entries(samples).map(([series, values]) => ({ series, values }));

/** A text of the rule with the alert's labels in it. */
const withLabels = (text: string, labels: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? "");

function testsOf(alertname: string) {
  const [rule, found] = [rules.find(({ alert }) => alert === alertname), cases[alertname]];
  if (!rule || !found) throw new Error(`${alertname} has no rule or no case`);
  const { labels = {} } = found;
  const expected = {
    exp_labels: { severity: rule.severity, ...labels },
    exp_annotations: { summary: withLabels(rule.summary, labels), action: rule.action },
  };
  const at = (samples: Series, alerts: readonly unknown[]) => ({
    name: alertname,
    interval: "1m",
    input_series: seriesOf(samples),
    alert_rule_test: [{ eval_time: "30m", alertname, exp_alerts: alerts }],
  });
  return [at(found.fires, [expected]), at(found.silent, [])];
}

/** Runs promtool. @throws when it is not installed */
function promtool(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr, error } = spawnSync("promtool", args, { encoding: "utf8" });
  if (error)
    throw new Error("promtool is missing; .ci/run takes it from Debian's package prometheus", {
      cause: error,
    });
  return { status, said: `${stdout}${stderr}` };
}

const rulesFile = join(projectRoot, "ops", "prometheus-rules.yml");

test("Prometheus accepts the rules", () => {
  expect(promtool("check", "rules", rulesFile)).toMatchObject({ status: 0 });
});

test("Prometheus accepts the configuration of compose.yaml, with the rules beside it", () => {
  const folder = mkdtempSync(join(inject("runFolder"), "prometheus-"));
  const file = join(folder, "prometheus.yml");
  copyFileSync(join(projectRoot, "ops", "compose", "prometheus.yml"), file);
  copyFileSync(rulesFile, join(folder, "prometheus-rules.yml"));
  const { status, said } = promtool("check", "config", file);
  expect(status, said).toBe(0);
});

test("each rule has a case, fires for it, and is silent just below its limit", () => {
  expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert));
  const file = join(mkdtempSync(join(inject("runFolder"), "rules-")), "tests.yml");
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [rulesFile],
      evaluation_interval: "1m",
      tests: Object.keys(cases).flatMap(testsOf),
    }),
  );
  const { status, said } = promtool("test", "rules", file);
  expect(status, said).toBe(0);
});

test("docs/operating.md states the same promises", () => {
  const promised = tableRows("docs/operating.md", "promise").map(([, number]) => number);
  const { missedTriggers, dueToMined, acceptedToBroadcast, indexLag, unknownFateGrace } = objectives;
  expect(promised).toEqual([
    `${missedTriggers}`,
    `${dueToMined.seconds} s, 99 %`,
    `${acceptedToBroadcast.seconds * 1000} ms, 95 %`,
    `${indexLag.blocks} blocks, ${indexLag.share * 100} %`,
    `${unknownFateGrace} s`,
  ]);
});
