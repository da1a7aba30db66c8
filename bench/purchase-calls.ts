/** RPC calls of api and writer per purchase, and purchases over a node that limits requests. */
import { freePort } from "../scripts/local/ports.ts";
import { inTurn, measureService, openAgentsOf, waitingFor } from "./measure-purchases.ts";
import { buyAtFullLoad } from "./purchase-load.ts";
import { countOnChain, type PurchasesStack } from "./purchases-stack.ts";
import type { Finding } from "./report.ts";
import { startRpcMeter } from "./rpc-meter.ts";

const METERED = 1000;
const LIMITED = { purchases: 100, perSecond: 10 };
/** RPC calls per purchase. */
const CALLS_LIMIT = 2.5;

/** Counts the RPC calls of api and writer. Measured separately, because counting slows the calls down. */
export async function measureCalls(stack: PurchasesStack): Promise<Finding[]> {
  const meter = await startRpcMeter(stack.chain.url, await freePort());
  const services = await stack.serve(meter.url);
  try {
    const agents = await openAgentsOf(stack, services);
    meter.reset();
    await measureService(stack, METERED, () => buyAtFullLoad(agents, "metered", inTurn(METERED)));
    const calls = [...meter.calls].sort(([, a], [, b]) => b - a);
    const sum = calls.reduce((total, [, count]) => total + count, 0);
    const { served } = meter.requests();
    const findings: Finding[] = [
      { what: "RPC calls per purchase under load", value: sum / METERED, unit: "", limit: CALLS_LIMIT },
      { what: "  in HTTP requests per purchase", value: served / METERED, unit: "" },
      ...calls.map(([method, count]) => ({ what: `  ${method}`, value: count / METERED, unit: "" })),
    ];

    meter.limit(LIMITED.perSecond);
    const { purchases } = LIMITED;
    const limited = await measureService(stack, purchases, () =>
      buyAtFullLoad(agents, "limited", waitingFor(purchases)),
    ).catch(() => undefined);
    const bought = limited?.answers.filter(({ status }) => status === 201).length ?? 0;
    await agents.close();
    return [
      ...findings,
      {
        what: `on the chain, with ${LIMITED.perSecond} RPC requests a second`,
        value: await countOnChain(stack, "limited"),
        unit: `of ${purchases}`,
      },
      { what: "  answered 201", value: bought, unit: `of ${purchases}` },
      { what: "  rate", value: limited?.perSecond ?? 0, unit: "/s" },
    ];
  } finally {
    await services.stop();
    await meter.stop();
  }
}
