/**
 * The service on one machine with one and two apis and writers, with and without a standby of Postgres; then each process is killed
 * under load. What it proves from the chain: each idempotency key of the whole run bought one policy. What two processes give beyond
 * one shows only where there are cores for both: all share those of this machine, with the chain and the clients.
 */
import { cpus } from "node:os";
import { withBenchStack } from "./bench-stack.ts";
import { CONNECTIONS } from "./measure-purchases.ts";
import { preparePurchases, untilFinal } from "./purchases-stack.ts";
import { report } from "./report.ts";
import { measureFaults, PURCHASES_PER_SECOND, READS_PER_SECOND } from "./scale-faults.ts";
import { measureStandbyReads, ROUNDS as READ_ROUNDS } from "./scale-reads.ts";
import { judge, openSales } from "./scale-sales.ts";
import { prepareKeys, startIndexer, untilIndexed } from "./scale-services.ts";
import { createStandby, PRIMARY_SETTINGS } from "./scale-standby.ts";
import { measureScale, ROUNDS } from "./scale-throughput.ts";

const WALLETS = 2;

/** @throws when a key bought nothing, or more than one policy, or when an answered purchase was lost. */
export const benchScale = (): Promise<void> =>
  withBenchStack({ relayers: 2 * WALLETS, postgres: PRIMARY_SETTINGS }, async (bench) => {
    const began = performance.now();
    const cores = `${cpus().length} cores`;
    const stack = await preparePurchases(bench);
    const shop = { keys: await prepareKeys(stack), sales: openSales() };
    const { throughput, cpu } = await measureScale(stack, shop);
    report(`scale: purchases, ${ROUNDS} rounds, ${CONNECTIONS} connections, ${cores}`, throughput);
    report("scale: CPU per purchase until it is final", cpu);

    const standby = await createStandby(bench);
    const indexer = await startIndexer(bench);
    await untilIndexed(stack);
    report(
      `scale: reads that nobody asked before, on a busy chain, ${READ_ROUNDS} rounds, ${cores}`,
      await measureStandbyReads(stack, standby),
    );

    const { findings, promotion, missing, refusals } = await measureFaults(bench, stack, {
      ...{ shop, standby, indexer },
    });
    const rates = `${PURCHASES_PER_SECOND} purchases and ${READS_PER_SECOND} reads a second`;
    report(`scale: killed under load, two apis and writers, ${rates}`, findings);
    report("scale: the primary killed, with synchronous replication", promotion);

    const { keys, lost, twice, strange } = await judge(bench.protocol, shop.sales, () =>
      untilFinal({ ...stack, sql: standby.sql }),
    );
    report("scale: idempotency keys against the chain", [
      { what: "keys", value: keys, unit: "" },
      { what: "  refused", value: refusals.length, unit: "" },
      { what: "  lost: no policy", value: lost, unit: "" },
      { what: "  bought twice", value: twice, unit: "" },
      { what: "  policies without a key", value: strange, unit: "" },
      { what: "the whole run", value: (performance.now() - began) / 1000, unit: "s" },
    ]);
    const faults = { lost, twice, strange, missing, refusals: refusals.slice(0, 5) };
    if (lost + twice + strange + missing + refusals.length > 0)
      throw new Error(`the chain disagrees with the keys: ${JSON.stringify(faults)}`);
  });
