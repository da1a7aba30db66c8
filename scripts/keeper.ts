/**
 * `npm run keeper -- audit` lists the policies that could have been paid and were not. It reads the chain alone: no database,
 * no index. The chain is that of `RPC_URL` and `DEPLOYMENT_FILE`, or else that of `npm run dev`.
 */
import { keeperConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { requireDeployment } from "../lib/deployments.ts";
import { errorText } from "../lib/log.ts";
import { audit } from "../workers/keeper/audit/audit.ts";
import { type CoverChain, openCoverChain } from "../workers/keeper/from-chain/cover-chain.ts";
import { mainChainOf } from "./dev/deployments.ts";
import { type KeeperCommand, parseKeeperArguments, usage } from "./keeper/arguments.ts";
import { auditDocument } from "./keeper/document.ts";
import { rangeOf } from "./keeper/range.ts";
import { printAudit } from "./keeper/report.ts";
import { UsageError } from "./usage-error.ts";

/** Opens the chain of the environment. @throws {ConfigError} when it is not the one of the deployment file */
async function openChain(): Promise<CoverChain> {
  const config = keeperConfig(process.env);
  const { rpcUrl, deploymentFile } =
    config.RPC_URL !== undefined && config.DEPLOYMENT_FILE !== undefined
      ? { rpcUrl: config.RPC_URL, deploymentFile: config.DEPLOYMENT_FILE }
      : mainChainOf(config);
  const deployment = requireDeployment(deploymentFile);
  const chain = openCoverChain(deployment, rpcUrl, { warn: (text) => console.error(`Warning: ${text}`) });
  const actual = await chain.clients.reads.getChainId();
  if (actual !== deployment.chainId) {
    throw new ConfigError([
      `RPC_URL serves chain ${actual}, but DEPLOYMENT_FILE describes ${deployment.chainId}`,
    ]);
  }
  return chain;
}

async function runAudit({
  json,
  downtime,
  wallets,
  ...positions
}: KeeperCommand & { do: "audit" }): Promise<number> {
  const chain = await openChain();
  const range = await rangeOf(chain, positions);
  const found = await audit(chain, { fromBlock: range.from, toBlock: range.to, downtime, wallets });
  if (json) {
    const { chainId } = chain.deployment;
    console.log(JSON.stringify(auditDocument(found, { chainId, downtime }), undefined, 2));
  } else printAudit(found, downtime);
  return found.missed.length > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  const command = parseKeeperArguments(process.argv.slice(2));
  if (command.do === "audit") return runAudit(command);
  console.log(usage);
  return 0;
}

/** The command could not audit. Code 1 says that something was missed. */
const FAILED = 2;

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(
      error instanceof ConfigError || error instanceof UsageError ? error.message : errorText(error),
    );
    process.exitCode = FAILED;
  },
);
