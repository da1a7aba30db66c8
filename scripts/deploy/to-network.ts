/** Deploys the protocol to a test network, or goes on with a deployment that ended early. */
import { existsSync } from "node:fs";
import { createPublicClient, getContractAddress } from "viem";
import { createReadClient, isAnvil, type ReadClient } from "../../lib/chain/client.ts";
import { nodeTransport } from "../../lib/chain/node-transport.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";
import { deploymentOf } from "../local/protocol/deploy.ts";
import { type Plan, planDeployment } from "../local/protocol/deployment-plan.ts";
import type { PlannedTransaction } from "../local/protocol/planned-transactions.ts";
import { retirementCall } from "../local/protocol/retirement.ts";
import { allTerms } from "../local/protocol/terms.ts";
import type { DeploySettings } from "./arguments.ts";
import { externalFaults, testNetwork, walletFaults } from "./preconditions.ts";
import { minedNonce, sendFrom } from "./send.ts";
import { finish, readUnfinished, recordUnfinished, type Unfinished, unfinishedFileOf } from "./unfinished.ts";
import { verifyDeployment } from "./verify.ts";

/** A public node on a bad day: slow, and silent now and then. */
const PATIENT = { timeout: 20_000, retryCount: 4 } as const;

export type Deployed = {
  readonly deployment: Deployment;
  /** Contracts and values that were read back. */
  readonly checked: number;
  /** What this run cost the deployer, in wei, with the L1 fee of a rollup. */
  readonly cost: bigint;
};

async function chainIdAt(rpcUrl: string): Promise<number> {
  const client = createPublicClient({ transport: nodeTransport(rpcUrl, { timeout: 10_000, retryCount: 1 }) });
  try {
    return await client.getChainId();
  } catch (error) {
    throw new Error(`--rpc: the node does not answer: ${errorText(error)}`);
  }
}

/** Refuses to go on with other settings, because they would give other transactions. */
function requireSame(begun: Unfinished, now: Unfinished, out: string): void {
  const { firstNonce: _nonce, startBlock: _block, ...settings } = now;
  const different = Object.entries(settings).flatMap(([name, value]) => {
    const before = Object.entries(begun).find(([key]) => key === name)?.[1];
    return JSON.stringify(before) === JSON.stringify(value) ? [] : [name];
  });
  if (different.length === 0) return;
  const file = unfinishedFileOf(out);
  throw new Error(
    `${file} is a deployment with other settings (${different.join(", ")}): repeat its command, or delete the file to deploy anew`,
  );
}

/** A plan, and how many of its transactions are mined. */
type Begun = {
  readonly begun: Unfinished;
  readonly plan: Plan;
  readonly transactions: readonly PlannedTransaction[];
  readonly done: number;
};

/** The plan that follows from a record. */
function planOf({ deployer, firstNonce, relayers, oracle, external }: Unfinished) {
  const plan = planDeployment(deployer, firstNonce, { relayers, oracle, products: allTerms, external });
  return { plan, transactions: [...plan.transactions, retirementCall(plan.contracts)] };
}

/** Every contract whose creation counts as mined must be there: otherwise the wallet has used the nonces elsewhere. */
async function requireCreated(client: ReadClient, { begun, transactions, done }: Begun, out: string) {
  const anew = `delete ${unfinishedFileOf(out)} to deploy anew`;
  if (done < 0 || done > transactions.length)
    throw new Error(`${begun.deployer} has sent other transactions since this deployment began: ${anew}`);
  for (const [index, { what, to }] of transactions.slice(0, done).entries()) {
    if (to !== null) continue;
    const nonce = begun.firstNonce + index;
    const address = getContractAddress({ from: begun.deployer, nonce: BigInt(nonce) });
    const code = await client.getCode({ address });
    if (code === undefined || code === "0x")
      throw new Error(`${what}: nonce ${nonce} is used, but ${address} has no code: ${anew}`);
  }
}

/** Goes on with the deployment beside `out`, or records a new one. */
async function begin(client: ReadClient, chainId: number, settings: DeploySettings): Promise<Begun> {
  const { out, deployer, relayers, oracle, external } = settings;
  const known = readUnfinished(out);
  const [nonce, head] = await Promise.all([minedNonce(client, deployer), client.getBlockNumber()]);
  const now: Unfinished = {
    chainId,
    deployer: deployer.address,
    relayers: [...relayers],
    ...(oracle === undefined ? {} : { oracle }),
    external,
    firstNonce: nonce,
    startBlock: Number(head),
  };
  if (known !== undefined) requireSame(known, now, out);
  const begun = known ?? now;
  const started = { begun, ...planOf(begun), done: nonce - begun.firstNonce };
  await requireCreated(client, started, out);
  const faults = [
    ...(await externalFaults(client, external)),
    ...(await walletFaults(client, deployer, started.transactions.slice(started.done))),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  if (known === undefined) recordUnfinished(out, now);
  return started;
}

/**
 * Deploys, reads everything back, and writes the deployment file. `say` gets a line for each mined transaction.
 * @throws with all faults of arguments, network and wallet before the first transaction; later with the transaction that failed,
 *   or what was read back and is not as planned. The same call goes on after the last mined transaction
 */
export async function deployToNetwork(
  settings: DeploySettings,
  say: (line: string) => void,
): Promise<Deployed> {
  const { rpcUrl, out, deployer: account, relayers, oracle } = settings;
  if (existsSync(out)) throw new Error(`--out ${out} exists: a deployment file is never overwritten`);
  const chainId = await chainIdAt(rpcUrl);
  const { name, explorerUrl } = testNetwork(chainId);
  const client = createReadClient({ chainId, name }, rpcUrl, PATIENT);
  const { begun, plan, transactions, done } = await begin(client, chainId, settings);
  say(`${name}, chain ${chainId}: ${transactions.length} transactions of ${account.address}`);
  if (done > 0) say(`${done} of them are mined already`);

  const { address } = account;
  const before = await client.getBalance({ address });
  let blockNumber = await client.getBlockNumber();
  const { firstNonce } = begun;
  await sendFrom(
    {
      client,
      chainId,
      account,
      onMined: (index, receipt) => {
        blockNumber = receipt.blockNumber;
        say(`${index + 1}/${transactions.length} ${transactions[index]?.what}: ${receipt.transactionHash}`);
      },
    },
    transactions,
    { firstNonce, from: done },
  );
  const after = await client.getBalance({ address, blockNumber });
  const { checked, faults } = await verifyDeployment({
    client,
    plan,
    owner: address,
    relayers,
    oracle,
    blockNumber,
  });
  if (faults.length > 0) {
    const advice = `The deployment is not usable: delete ${unfinishedFileOf(out)} to deploy anew.`;
    throw new Error(`${faults.join("\n")}\n${advice}`);
  }
  const local = await isAnvil(client).catch(() => false);
  const { startBlock } = begun;
  const deployment = deploymentOf(plan, { chainId, name, local, explorerUrl, startBlock });
  finish(out, deployment);
  return { deployment, checked, cost: before - after };
}
