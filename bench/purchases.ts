/**
 * Purchases end to end, compared with the chain's own throughput: as many signed `purchasePolicyFor` transactions sent to
 * it directly, in turn and in the same run. With a block a second, a hundred callers that wait for their blocks buy at most
 * a hundred policies a second; with `Prefer: respond-async` no caller waits. No indexer runs.
 */
import { cpus } from "node:os";
import { withBenchStack } from "./bench-stack.ts";
import { CONNECTIONS, openAgentsOf } from "./measure-purchases.ts";
import { measurePermits } from "./permit-purchases.ts";
import { measureCalls } from "./purchase-calls.ts";
import { measureSizes } from "./purchase-sizes.ts";
import { measureThroughput, ROUNDS } from "./purchase-throughput.ts";
import { preparePurchases } from "./purchases-stack.ts";
import { report } from "./report.ts";

const WALLETS = 2;

export const benchPurchases = (): Promise<void> =>
  withBenchStack({ relayers: 2 * WALLETS }, async (bench) => {
    const stack = await preparePurchases(bench);
    const services = await stack.serve(stack.chain.url);
    const agents = await openAgentsOf(stack, services);
    const { throughput, cpu, waits } = await measureThroughput(stack, services, agents);
    const sizes = await measureSizes(stack, agents);
    await agents.close();
    await services.stop();
    const about = `${ROUNDS} rounds, ${CONNECTIONS} connections, ${WALLETS} relayer wallets, ${cpus().length} cores`;
    report(`purchases: ${about}`, throughput);
    report("purchases: CPU", cpu);
    report("purchases: waits in Postgres", waits);
    report("purchases: gas and disk", sizes);
    report("purchases: RPC calls", await measureCalls(stack));
    report("purchases: with permits", await measurePermits(stack));
  });
