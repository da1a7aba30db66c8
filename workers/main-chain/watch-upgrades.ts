/** An upgraded contract may answer otherwise: after each upgrade, and at the start, the contracts are compared with their interface again. */
import type { Logger } from "pino";
import type { Sql } from "postgres";
import type { ReadClient } from "../../lib/chain/client.ts";
import { compareContracts } from "../../lib/chain/compare-contracts.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { noneWithoutIndex } from "../../lib/indexed/errors.ts";
import { startLoop } from "../common/loop.ts";
import type { ContractMeter } from "../metrics/contract-metrics.ts";

/** How often the index is asked for upgrades, in ms. */
const LOOK_MS = 10_000;

type Upgrade = { readonly contract: string; readonly address: string; readonly txHash: string };

type WatchOptions = {
  readonly sql: Sql;
  readonly viewsSchema: string;
  readonly client: ReadClient;
  readonly deployment: Deployment;
  readonly meter: ContractMeter;
  readonly log: Logger;
};

/** The newest upgrade that the index has; undefined without one, and while there is no index. */
async function newestUpgrade({ sql, viewsSchema }: WatchOptions): Promise<Upgrade | undefined> {
  // Not by drizzle: it would change how the relayer's sessions read times.
  const rows = await sql<Upgrade[]>`
    select contract, address, tx_hash as "txHash" from ${sql(viewsSchema)}.admin_event where event = 'Upgraded'
    order by block_number desc, log_index desc limit 1`.catch(noneWithoutIndex);
  return rows?.[0];
}

/** Compares the contracts, and tells the operator what was compared and what does not fit. Rejects when the node does not answer. */
async function compare(
  { client, deployment, meter, log }: WatchOptions,
  upgrade: Upgrade | undefined,
): Promise<void> {
  const block = await client.getBlockNumber();
  const compared = await compareContracts(client, deployment, block);
  const different = compared.filter(({ fault }) => fault !== undefined);
  meter.compared(different.length);
  const facts = {
    ...(upgrade ? { upgraded: upgrade } : {}),
    block: String(block),
    compared: compared.map(({ contract, functionName }) => `${contract}.${functionName}`),
    different: different.map(
      ({ contract, functionName, address, fault }) => `${contract} ${address} ${functionName} ${fault}`,
    ),
  };
  if (different.length > 0) log.error(facts, "contracts answer otherwise than the service expects");
  else if (upgrade)
    log.warn(facts, "a contract was upgraded: all views and constants were compared again, and fit");
}

/** Starts to watch. */
export function watchUpgrades(options: WatchOptions) {
  const { meter, log } = options;
  /** The upgrade after which the contracts were compared last, by transaction and contract; undefined before the first comparison. */
  let comparedAfter: string | undefined;
  return startLoop({
    name: "comparing upgraded contracts",
    log,
    pauseMs: () => LOOK_MS,
    async round() {
      const upgrade = await newestUpgrade(options);
      const name = upgrade ? `${upgrade.txHash} ${upgrade.address}` : "none";
      if (name === comparedAfter) return;
      const isNew = comparedAfter !== undefined && upgrade !== undefined;
      if (isNew) meter.upgraded();
      await compare(options, isNew ? upgrade : undefined);
      comparedAfter = name;
    },
  });
}
