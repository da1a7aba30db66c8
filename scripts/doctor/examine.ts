/** Examines the environment of the processes that are to start in it. */
import type { Environment } from "../../lib/config.ts";
import { examineChain, examineDeployment, type NamedChain, type ReachedChain } from "./chain.ts";
import { examineChainClock } from "./clock.ts";
import { examineDatabase, type NamedDatabase } from "./database.ts";
import { examineFiles } from "./files.ts";
import { type Finding, findingsOf, subjects } from "./finding.ts";
import { examineRedis } from "./redis.ts";
import { examineNodeUrl, examineSecrets } from "./secrets.ts";
import { type ProcessName, present, processNames, readSettings, type Settings } from "./settings.ts";
import { examineSigner } from "./signer.ts";
import { examineStandby } from "./standby.ts";
import { examineWallets } from "./wallets.ts";

export type Examination = {
  readonly env: Environment;
  readonly processes: readonly ProcessName[];
  /** The project's folder, with `.env` and `dist/`. */
  readonly folder: string;
  readonly userId: number | undefined;
};

/** The main chain as the first valid configuration names it. */
function mainChainOf(settings: Settings): NamedChain | undefined {
  const [config] = present(settings);
  return config && { prefix: "", rpcUrl: config.RPC_URL, file: config.DEPLOYMENT_FILE };
}

function testnetOf({ api, writer }: Settings, mainChainId: number | undefined): NamedChain | undefined {
  const { TESTNET_RPC_URL: rpcUrl, TESTNET_DEPLOYMENT_FILE: file } = writer ?? api ?? {};
  if (rpcUrl === undefined || file === undefined) return undefined;
  return { prefix: "TESTNET_", rpcUrl, file, mainChainId };
}

async function examineNamedChain(
  named: NamedChain,
  { writer }: Settings,
): Promise<{ findings: Finding[]; chain?: ReachedChain | undefined; local?: boolean; chainId?: number }> {
  const deployment = examineDeployment(named);
  if (Array.isArray(deployment)) return { findings: deployment };
  const { findings, chain } = await examineChain(named, deployment);
  const { local, chainId } = deployment;
  const url = local ? [] : examineNodeUrl(`${named.prefix}RPC_URL`, named.rpcUrl);
  if (!chain) return { findings: [...findings, ...url], local, chainId };
  const clock = examineChainClock(chain, Date.now() / 1000);
  const wallets = writer ? await examineWallets(writer, chain) : [];
  return { findings: [...findings, ...url, ...clock, ...wallets], chain, local: chain.local, chainId };
}

/** The databases of the processes: usually one, and one more where the api has a login of its own. */
function databasesOf(settings: Settings, local: boolean): NamedDatabase[] {
  const byUrl = new Map<string, ProcessName[]>();
  for (const name of processNames) {
    const url = settings[name]?.DATABASE_URL;
    if (url !== undefined) byUrl.set(url, [...(byUrl.get(url) ?? []), name]);
  }
  return [...byUrl].map(([url, processes]) => ({ url, processes, settings, local }));
}

/** All findings, in the order of the report. Never rejects for a fault of the environment. */
export async function examine({ env, processes, folder, userId }: Examination): Promise<Finding[]> {
  const { settings, findings } = readSettings(env, processes);
  const named = mainChainOf(settings);
  const main = named && (await examineNamedChain(named, settings));
  const testnetName = testnetOf(settings, main?.chainId);
  const testnet = testnetName && (await examineNamedChain(testnetName, settings));
  const local = main?.local !== false;
  const urls = new Set(
    [settings.api?.REDIS_URL, settings.writer?.REDIS_URL].filter((url) => url !== undefined),
  );
  const others = await Promise.all([
    ...databasesOf(settings, local).map(examineDatabase),
    ...(settings.api ? [examineStandby(settings.api)] : []),
    ...[...urls].map(examineRedis),
    ...(settings.writer ? [examineSigner(settings.writer)] : []),
  ]);
  const deploymentFiles = [named?.file, testnetName?.file].filter((file) => file !== undefined);
  const all = [
    ...findings,
    ...(local ? [] : examineSecrets(settings)),
    ...examineFiles(folder, deploymentFiles, userId),
    ...(main?.findings ?? []),
    ...(testnet?.findings ?? []),
    ...others.flat(),
  ];
  if (settings.api && settings.writer && settings.api.REDIS_URL !== settings.writer.REDIS_URL) {
    const text = "api and writer have different values of REDIS_URL: no wake-up would arrive";
    all.push(findingsOf("Redis").fault(text, "give both the same, or none"));
  }
  return subjects.flatMap((subject) => all.filter((finding) => finding.subject === subject));
}
