/** The writer as a process: which configurations it refuses, and which servers it waits for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, expect, inject, test } from "vitest";
import { liveRelayers } from "../../lib/ledger/relayers.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { oracleSigner } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { newBuyer, openLedger, policiesOnChain, purchaseRequest } from "../support/ledger.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

let chain: TestChain;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
});

/** Starts a writer that is expected to exit; returns its exit code and its output. */
async function refusal(options: Partial<Parameters<typeof startStack>[0]>) {
  const stack = await startStack({ chain, services: [], ...options });
  const writer = await stack.start("writer", { wait: false });
  return { exit: await writer.exited, output: stack.output("writer") };
}

test("keys that are not anvil's are refused on a local chain, and not printed", async () => {
  const [key, oracleKey] = [generatePrivateKey(), generatePrivateKey()];
  const { exit, output } = await refusal({
    relayerKeys: [chain.relayerKey, key],
    env: { writer: { ORACLE_PRIVATE_KEY: oracleKey } },
  });
  expect(exit.code).toBe(1);
  for (const variable of ["RELAYER_PRIVATE_KEYS", "ORACLE_PRIVATE_KEY"]) {
    expect(output).toMatch(new RegExp(`${variable}: 0x\\w{40} is not one of anvil's accounts`));
  }
  for (const secret of [key, oracleKey, chain.relayerKey]) expect(output).not.toContain(secret);
});

test("anvil's keys are refused on a chain that is not local", async () => {
  const deploymentFile = join(inject("runFolder"), "not-local.json");
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, local: false }));
  const env = { writer: { ORACLE_PRIVATE_KEY: privateKeyOf(oracleSigner) } };
  const { exit, output } = await refusal({ chain: { ...chain, deploymentFile }, env });
  expect(exit.code).toBe(1);
  for (const variable of ["RELAYER_PRIVATE_KEYS", "ORACLE_PRIVATE_KEY"]) {
    expect(output).toMatch(
      new RegExp(`${variable}: 0x\\w{40} is one of anvil's accounts, and their keys are public`),
    );
  }
});

test("the default key for secrets is refused on a chain that is not local", async () => {
  const deploymentFile = join(inject("runFolder"), "not-local-either.json");
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, local: false }));
  const key = generatePrivateKey();
  const { exit, output } = await refusal({ chain: { ...chain, deploymentFile }, relayerKeys: [key] });
  expect(exit.code).toBe(1);
  expect(output).toContain("SECRETS_KEY must be set: its default is for local chains only");
});

test("a node of a chain other than the deployment file's is refused", async () => {
  const deploymentFile = join(inject("runFolder"), "other-chain.json");
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, chainId: 84532 }));
  const { exit, output } = await refusal({ chain: { ...chain, deploymentFile } });
  expect(exit.code).toBe(1);
  expect(output).toContain("RPC_URL serves chain 8453, but DEPLOYMENT_FILE describes chain 84532");
});

test("all invalid variables are named at once", async () => {
  const env = { writer: { RELAYER_PRIVATE_KEYS: "0x1", CONFIRMATIONS: "many", MAX_FEE_GWEI: "" } };
  const { exit, output } = await refusal({ env });
  expect(exit.code).toBe(1);
  expect(output).toContain("RELAYER_PRIVATE_KEYS");
  expect(output).toContain("CONFIRMATIONS");
  expect(output).not.toContain("MAX_FEE_GWEI");
});

test("it waits for Postgres and the chain, survives the loss of both, and then relays purchases again", async () => {
  const databaseUrl = await freshDatabase();
  const [rpc, database] = [await startRpcProxy(chain.url), await startTcpProxy(databaseUrl)];
  rpc.intercept(async () => "lost");
  await database.cut();
  const stack = await startStack({ chain, services: [], rpcUrl: rpc.url, databaseUrl: database.url });
  const writer = await stack.start("writer", { wait: false });
  const untilOutput = (text: string) =>
    waitFor({
      what: `the writer to log: ${text}`,
      probe: () => (stack.output("writer").includes(text) ? true : undefined),
    });
  await untilOutput("waiting for the chain");
  rpc.intercept();
  await untilOutput("waiting for Postgres");
  await database.mend();
  await untilOutput("the writer is ready");

  const ledger = await openLedger(chain, { databaseUrl });
  const buyer = await newBuyer(chain);
  await ledger.settled(await ledger.buy(purchaseRequest(buyer.address)));

  const failures = () => stack.output("writer").split("failed, retrying").length - 1;
  const failed = failures();
  await database.cut();
  rpc.intercept(async () => "lost");
  const missed = await ledger.buy(purchaseRequest(buyer.address), "missed");
  const asked = rpc.requests();
  await waitFor({
    what: "the writer to retry several times",
    probe: () => (failures() > failed && rpc.requests() >= asked + 10) || undefined,
  });
  await database.mend();
  rpc.intercept();
  await ledger.settled(missed);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(2);
  expect(writer.exit()).toBeUndefined();

  // Its addresses are published while it lives, and gone once it has left.
  expect(await liveRelayers(ledger.connection.sql, 8453)).toHaveLength(1);
  await stack.stopService("writer");
  expect(await liveRelayers(ledger.connection.sql, 8453)).toEqual([]);
});
