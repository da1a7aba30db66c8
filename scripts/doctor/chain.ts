/** Checks a chain's deployment file and its node. */
import { type Address, type Block, isAddressEqual, zeroAddress } from "viem";
import { createReadClient, isLocal, type ReadClient } from "../../lib/chain/client.ts";
import { compareContracts } from "../../lib/chain/compare-contracts.ts";
import { simulateCalls } from "../../lib/chain/simulate-calls.ts";
import { ConfigError } from "../../lib/config-error.ts";
import { type Deployment, requireDeployment, requireTestnetDeployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { examineProducts } from "./products.ts";

/** A chain as the environment names it. `mainChainId` is known for the testnet only. */
export type NamedChain = {
  readonly prefix: "" | "TESTNET_";
  readonly rpcUrl: string;
  readonly file: string;
  readonly mainChainId?: number | undefined;
};

/** A chain with the right id: what other checks need of it. */
export type ReachedChain = {
  readonly prefix: "" | "TESTNET_";
  readonly deployment: Deployment;
  readonly client: ReadClient;
  readonly head: Block;
  /** Whether anvil's keys and the default secrets are accepted. */
  readonly local: boolean;
};

/** Contracts of the protocol that were not there before its deployment, unlike its tokens and price feeds. */
const own = ["coverRouter", "policyManager", "bondVault", "claimBond", "marketplace"] as const;

type Report = ReturnType<typeof findingsOf>;
const reportOf = ({ prefix }: { prefix: string }): Report => findingsOf(prefix === "" ? "chain" : "testnet");

function readFile({ prefix, file, mainChainId }: NamedChain): Deployment {
  return prefix === "" || mainChainId === undefined
    ? requireDeployment(file)
    : requireTestnetDeployment(file, mainChainId);
}

/** The deployment file, or a fault for each of its bad values. */
export function examineDeployment(named: NamedChain): Deployment | Finding[] {
  try {
    return readFile(named);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = "correct the deployment file; docs/operating.md shows one";
    return error.faults.map((text) => reportOf(named).fault(text, remedy));
  }
}

const hasCode = async (client: ReadClient, address: Address, blockNumber?: bigint): Promise<boolean> =>
  ((await client.getCode({ address, ...(blockNumber === undefined ? {} : { blockNumber }) })) ?? "0x") !==
  "0x";

/** Contracts that the deployment file names, by their place in it. A chain may have no uptime feed. */
const namedContracts = ({ contracts, oracle }: Deployment): [name: string, address: Address][] => [
  ...Object.entries(contracts).flatMap(([key, address]): [string, Address][] =>
    key === "sequencerFeed" && address === zeroAddress ? [] : [[`contracts.${key}`, address]],
  ),
  ...(oracle === undefined
    ? []
    : [["oracle.verifyingContract", oracle.verifyingContract] satisfies [string, Address]]),
];

/** Checks that the contracts have code, and then that each view which the service uses answers as it should. */
async function examineContracts(chain: ReachedChain): Promise<Finding[]> {
  const { prefix, deployment, client } = chain;
  const { ok, fault } = reportOf(chain);
  const named = namedContracts(deployment);
  const present = await Promise.all(named.map(([, address]) => hasCode(client, address)));
  const missing = named.filter((_, index) => !present[index]);
  if (missing.length === 0)
    return [ok(`all ${named.length} contracts have code`), ...(await examineViews(chain))];
  return missing.map(([name, address]) =>
    fault(
      `${name} ${isAddressEqual(address, zeroAddress) ? "is the zero address" : `${address} has no code`}`,
      `correct its address in ${prefix}DEPLOYMENT_FILE`,
    ),
  );
}

/** The index begins at the start block: a contract that is older has events before it. */
async function examineStartBlock({ prefix, deployment, client, head }: ReachedChain): Promise<Finding[]> {
  const { warning, fault } = reportOf({ prefix });
  const { startBlock, contracts } = deployment;
  if (startBlock === 0) return [];
  if (head.number !== null && BigInt(startBlock) > head.number) {
    const text = `startBlock ${startBlock} is above the newest block ${head.number}`;
    return [fault(text, `set startBlock in ${prefix}DEPLOYMENT_FILE to the block of the first contract`)];
  }
  try {
    const before = BigInt(startBlock - 1);
    const older = await Promise.all(own.map((key) => hasCode(client, contracts[key], before)));
    return own
      .filter((_, index) => older[index])
      .map((key) =>
        fault(
          `contracts.${key} was there before startBlock ${startBlock}: the index would lack its first events`,
          `set startBlock in ${prefix}DEPLOYMENT_FILE to the block of its deployment`,
        ),
      );
  } catch (error) {
    return [
      warning(
        `the node does not know the state before block ${startBlock}: ${errorText(error)}`,
        `use an archive node as ${prefix}RPC_URL`,
      ),
    ];
  }
}

async function examineViews({ prefix, deployment, client, head }: ReachedChain): Promise<Finding[]> {
  const { ok, warning, fault } = reportOf({ prefix });
  if (head.number === null) return [];
  const compared = await compareContracts(client, deployment, head.number);
  const notes = compared.flatMap(({ contract, address, functionName, note }) =>
    note === undefined
      ? []
      : [
          warning(
            `${contract} ${address}: ${functionName} ${note}`,
            "the release allows it: compare it with what you deployed",
          ),
        ],
  );
  const different = compared.filter((one) => one.fault !== undefined);
  if (different.length === 0)
    return [
      ok(`all ${compared.length} views of the contracts answer as release ${deployment.release} does`),
      ...notes,
    ];
  const faults = different.map(({ contract, address, functionName, fault: what }) =>
    fault(
      `${contract} ${address}: ${functionName} ${what}`,
      `correct its address in ${prefix}DEPLOYMENT_FILE; if it was upgraded, the service needs a release that knows it`,
    ),
  );
  return [...faults, ...notes];
}

async function examineMethods({ prefix, client, head }: ReachedChain): Promise<Finding[]> {
  if (head.number === null) return [];
  const call = { from: zeroAddress, to: zeroAddress, data: "0x" } as const;
  try {
    await simulateCalls(client, [call], { number: head.number, timestamp: head.timestamp });
    return [];
  } catch (error) {
    return [
      reportOf({ prefix }).warning(
        `the node cannot answer eth_simulateV1, so each purchase is simulated alone: ${errorText(error)}`,
        "use a node that knows the method, such as geth, reth or anvil",
      ),
    ];
  }
}

/** Checks the node and the contracts. Without `chain`, nothing else can be checked on this chain. */
export async function examineChain(
  named: NamedChain,
  deployment: Deployment,
): Promise<{ findings: Finding[]; chain?: ReachedChain }> {
  const { prefix, rpcUrl } = named;
  const { ok, warning, fault } = reportOf(named);
  const client = createReadClient(deployment, rpcUrl, { retryCount: 0 });
  try {
    const actual = await client.getChainId();
    if (actual !== deployment.chainId) {
      const text = `${prefix}RPC_URL serves chain ${actual}, but ${prefix}DEPLOYMENT_FILE describes chain ${deployment.chainId}`;
      return { findings: [fault(text, "correct the one that is wrong")] };
    }
    const [head, local] = await Promise.all([client.getBlock(), isLocal(client, deployment)]);
    const chain = { prefix, deployment, client, head, local };
    const findings = await Promise.all([
      examineContracts(chain),
      examineStartBlock(chain),
      examineProducts(chain),
      examineMethods(chain),
    ]);
    const found = [ok(`the node serves chain ${actual}, block ${head.number}`), ...findings.flat()];
    if (deployment.local && !local) {
      found.push(
        warning(
          "the deployment file says local, but the node is not anvil: the rules for a real network hold",
          `remove "local" from ${prefix}DEPLOYMENT_FILE`,
        ),
      );
    }
    return { findings: found, chain };
  } catch (error) {
    const remedy = `start the node, or correct ${prefix}RPC_URL`;
    return { findings: [fault(`${prefix}RPC_URL does not answer: ${errorText(error)}`, remedy)] };
  }
}
