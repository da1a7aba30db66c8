/** What purchases are measured on: api and writer as real processes, Postgres, and a chain with a block a second. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { encodeFunctionData, type LocalAccount, maxUint256 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import type { Deployment } from "../lib/deployments.ts";
import { type ServiceName, type StackSettings, serviceReady, startService } from "../scripts/dev/services.ts";
import { privateKeyOf, startAnvil } from "../scripts/local/anvil.ts";
import { freePorts } from "../scripts/local/ports.ts";
import { startPostgres } from "../scripts/local/postgres.ts";
import { deployProtocol } from "../scripts/local/protocol/deploy.ts";
import { fire, minedOf, type Node, openNode, signCalls } from "./raw-transactions.ts";

const CHAIN_ID = 8453;
/** Wallets that pay, each with a key of its own: agents of different owners. */
const BUYERS = 20;
const DOLLARS = 1_000_000n * 1_000_000n;
const CALL_GAS = 100_000n;
/** Out of sight, and yet the code that counts runs. */
const FAR = "1000000000";
const RICH = "1000000";

export type PurchasesStack = {
  readonly deployment: Deployment;
  readonly node: Node;
  readonly rpcUrl: string;
  readonly apiUrl: string;
  readonly metricsUrl: string;
  readonly sql: Sql;
  readonly buyers: readonly LocalAccount[];
  /** The service's wallets, and as many that the raw transactions come from. */
  readonly relayers: readonly LocalAccount[];
  readonly rivals: readonly LocalAccount[];
  readonly adminToken: string;
  /** Starts api and writer on the node at this URL; a run before is stopped. */
  readonly serve: (rpcUrl: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Gives new accounts USDC, which the router may take, and ether for their approval. */
async function fundBuyers(
  node: Node,
  { contracts }: Deployment,
  owner: LocalAccount,
): Promise<LocalAccount[]> {
  const buyers = Array.from({ length: BUYERS }, () => privateKeyToAccount(generatePrivateKey()));
  const usdc = { to: contracts.usdc, gas: CALL_GAS };
  const mints = buyers.map(({ address }) => ({
    ...usdc,
    data: encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [address, DOLLARS] }),
  }));
  const first = await minedOf(node, owner.address);
  await fire(node, [owner.address], await signCalls(owner, CHAIN_ID, first, mints));
  const data = encodeFunctionData({
    abi: mockUsdcAbi,
    functionName: "approve",
    args: [contracts.coverRouter, maxUint256],
  });
  for (const { address } of buyers) await node.ask("anvil_setBalance", [address, "0xde0b6b3a7640000"]);
  const approvals = await Promise.all(
    buyers.map((buyer) => signCalls(buyer, CHAIN_ID, 0, [{ ...usdc, data }])),
  );
  const wallets = buyers.map(({ address }) => address);
  await fire(node, wallets, approvals.flat());
  return buyers;
}

/** `wallets` relayer wallets serve the service, and as many the raw transactions. */
export async function startPurchasesStack({ wallets }: { wallets: number }): Promise<PurchasesStack> {
  const folder = mkdtempSync(join(tmpdir(), "bench-purchases-"));
  const [postgresPort = 0, anvilPort = 0, apiPort = 0, ponderPort = 0, metricsPort = 0] = await freePorts(5);
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).toReversed()) await end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const server = await startPostgres({
      dataDir: join(folder, "postgres"),
      port: postgresPort,
      logFile: join(folder, "postgres.log"),
    });
    stops.push(() => server.remove());
    const chain = { chainId: CHAIN_ID, port: anvilPort, logFile: join(folder, "anvil.log") };
    const anvil = await startAnvil(chain);
    stops.push(() => anvil.stop());
    const owner = anvilAccount(0);
    const relayers = Array.from({ length: wallets }, (_, n) => anvilAccount(1 + n));
    const rivals = Array.from({ length: wallets }, (_, n) => anvilAccount(1 + wallets + n));
    const deployment = await deployProtocol({
      rpcUrl: anvil.url,
      chainId: CHAIN_ID,
      name: "Bench",
      owner,
      relayers: [...relayers, ...rivals].map(({ address }) => address),
      local: true,
      retired: false,
    });
    const deploymentFile = join(folder, "deployment.json");
    writeFileSync(deploymentFile, JSON.stringify(deployment));
    const node = openNode(anvil.url, 100);
    stops.push(() => node.close());
    // Not from the start: putting the protocol there takes a block for each of its many transactions.
    await node.ask("evm_setIntervalMining", [1]);
    const buyers = await fundBuyers(node, deployment, owner);

    const settings: StackSettings = {
      databaseUrl: server.url,
      rpcUrl: anvil.url,
      rpcWsUrl: "",
      deploymentFile,
      redisUrl: undefined,
      host: "127.0.0.1",
      apiPort,
      ponderPort,
      metricsPort,
      adminToken: "bench-admin-token",
      relayerKeys: relayers.map(privateKeyOf),
      logLevel: "info",
      more: {
        api: { PUBLIC_RATE_LIMIT: FAR, FREE_KEY_RATE_LIMIT: FAR, PAID_KEY_RATE_LIMIT: FAR },
        writer: { GAS_BUDGET_ETH: RICH, GAS_BUDGET_PER_WALLET_ETH: RICH },
      },
    };
    let running: (() => Promise<unknown>)[] = [];
    const halt = async () => {
      await Promise.all(running.map((end) => end()));
      running = [];
    };
    stops.push(halt);
    const sql = postgres(server.url, { max: 2, onnotice: () => {} });
    stops.push(() => sql.end());

    return {
      deployment,
      node,
      rpcUrl: anvil.url,
      apiUrl: `http://127.0.0.1:${apiPort}`,
      metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
      sql,
      buyers,
      relayers,
      rivals,
      adminToken: settings.adminToken,
      async serve(rpcUrl) {
        await halt();
        const services: readonly ServiceName[] = ["api", "writer"];
        await Promise.all(
          services.map(async (name) => {
            const child = await startService(name, { ...settings, rpcUrl }, folder);
            running.push(() => child.stop());
            await serviceReady(child, name, settings);
          }),
        );
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
