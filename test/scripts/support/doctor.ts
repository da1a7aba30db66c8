/** A good environment for `npm run doctor`, on a real chain and a real Postgres, and what its findings are compared with. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, type Hex, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, inject } from "vitest";
import { z } from "zod";
import { examine } from "../../../scripts/doctor/examine.ts";
import { type Finding, isFault, type Subject } from "../../../scripts/doctor/finding.ts";
import { type ProcessName, processNames } from "../../../scripts/doctor/settings.ts";
import { freePort } from "../../../scripts/local/ports.ts";
import { openProtocol, setRelayer } from "../../../scripts/local/protocol/actions/index.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { startOwnPostgres } from "../../support/own-postgres.ts";

export type Variables = Readonly<Record<string, string>>;

/** Settings of a server to which money may be entrusted, with room for one of each process. */
export const SAFE = { fsync: true, full_page_writes: true, synchronous_commit: true, max_connections: 70 };
export const SECRETS_KEY = "f1e2d3c4b5a697887960514233241506f7e8d9cabbac9d8e7f60514233241501";

export type Examined = {
  readonly chain: TestChain;
  readonly databaseUrl: string;
  readonly folder: string;
  /** Describes the chain as a real network: the strict rules hold. */
  readonly deploymentFile: string;
  readonly relayer: Hex;
  readonly keeper: Hex;
  /** The variables of a good environment. */
  readonly good: Variables;
  /** A copy of the chain's deployment file, of a real network, with changes. @returns its path */
  readonly changedDeployment: (change: Record<string, unknown>) => string;
  /** The findings of the good environment with changes. */
  readonly examine: (changes?: Variables, processes?: readonly ProcessName[]) => Promise<Finding[]>;
};

export const addressOf = (key: Hex): Address => privateKeyToAddress(key);

export async function startGoodEnvironment(): Promise<Examined> {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  const { databaseUrl } = await startOwnPostgres("cover", SAFE);
  const folder = mkdtempSync(join(inject("runFolder"), "doctor-"));
  const deployment = z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(readFileSync(chain.deploymentFile, "utf8")));
  function changedDeployment(change: Record<string, unknown>): string {
    const file = join(mkdtempSync(join(folder, "deployment-")), "deployment.json");
    writeFileSync(file, JSON.stringify({ ...deployment, local: false, ...change }));
    return file;
  }
  const deploymentFile = changedDeployment({});
  const [keeper, relayer] = [generatePrivateKey(), generatePrivateKey()];
  for (const key of [relayer, keeper])
    await chain.client.setBalance({ address: addressOf(key), value: parseEther("100") });
  await setRelayer(openProtocol(chain.deployment, chain.url), chain.owner, addressOf(relayer), true);
  const good = {
    DATABASE_URL: databaseUrl,
    RPC_URL: chain.url,
    DEPLOYMENT_FILE: deploymentFile,
    RELAYER_PRIVATE_KEYS: relayer,
    KEEPER_PRIVATE_KEY: keeper,
    SECRETS_KEY,
    ADMIN_TOKEN: "0123456789abcdef0123456789abcdef0123456789abcdef",
    PUBLIC_URL: "https://cover.example",
  };
  return {
    ...{ chain, databaseUrl, folder, deploymentFile, relayer, keeper, good, changedDeployment },
    async examine(changes = {}, processes = processNames) {
      const look = () => examine({ env: { ...good, ...changes }, processes, folder, userId: 1000 });
      const findings = await look();
      // A busy machine may not connect within the doctor's three seconds.
      return findings.some(({ text }) => text.includes("CONNECT_TIMEOUT")) ? look() : findings;
    },
  };
}

/** The faults as "subject: text → remedy". */
export const faultsOf = (findings: readonly Finding[]): string[] =>
  findings
    .filter(isFault)
    .map((found) => `${found.subject}: ${found.text}${found.level === "ok" ? "" : ` → ${found.remedy}`}`);

export const warningsOf = (findings: readonly Finding[]): string[] =>
  findings.filter(({ level }) => level === "warning").map(({ subject, text }) => `${subject}: ${text}`);

/** Expects exactly one fault, with this text and remedy. */
export function expectFault(
  findings: readonly Finding[],
  subject: Subject,
  text: RegExp,
  remedy: RegExp,
): void {
  const faults = findings.filter(isFault);
  expect(faultsOf(findings)).toHaveLength(1);
  expect(faults[0]).toMatchObject({
    subject,
    text: expect.stringMatching(text),
    remedy: expect.stringMatching(remedy),
  });
}

/** A URL at which nothing listens. */
export const nowhere = async (protocol: string) => `${protocol}://127.0.0.1:${await freePort()}`;
