/** `npm run deploy`, as an operator runs it, against nodes with the chain ids of public networks. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEther, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, expect, inject, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import { requireDeployment } from "../../lib/deployments.ts";
import { expectedGas } from "../../scripts/deploy/preconditions.ts";
import { type AnvilOptions, privateKeyOf, startAnvil } from "../../scripts/local/anvil.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { exitMessage, startProcess } from "../../scripts/local/processes.ts";
import {
  approveUsdc,
  latestRound,
  mintUsdc,
  openProtocol,
  priceOracleOf,
  purchase,
} from "../../scripts/local/protocol/actions/index.ts";
import { planDeployment } from "../../scripts/local/protocol/deployment-plan.ts";
import { allTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type TestClient, testClient } from "../support/chain.ts";
import { atEnd, showOnFailure } from "../support/cleanup.ts";
import { runCommand } from "../support/command.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { recordPid } from "../support/run-folder.ts";

const BASE_SEPOLIA = 84532;
const [deployer, relayer, buyer] = [anvilAccount(0), anvilAccount(1), anvilAccount(3)];
const oracle = anvilAccount(13).address;
const program = ["scripts/deploy.ts"];
const key = { DEPLOYER_PRIVATE_KEY: privateKeyOf(deployer) };

type Node = { readonly url: string; readonly client: TestClient };

async function startNode(chainId: number, options: Partial<AnvilOptions> = {}): Promise<Node> {
  const port = await freePort();
  const logFile = join(inject("runFolder"), `deploy-node-${port}.log`);
  const anvil = await startAnvil({ port, chainId, logFile, ...options });
  recordPid(inject("runFolder"), anvil.pid);
  showOnFailure(`node ${chainId}`, logFile);
  atEnd(anvil.stop);
  return { url: anvil.url, client: testClient(chainOf({ chainId, name: "test" }, anvil.url), anvil.url) };
}

let files = 0;
const newFile = () => join(inject("runFolder"), `deployed-${process.pid}-${++files}.json`);
const argumentsFor = (url: string, out: string, ...more: string[]) => [
  ...["--rpc", url, "--out", out, "--relayer", relayer.address, "--oracle", oracle],
  ...more,
];
const deploy = (url: string, out: string, ...more: string[]) =>
  runCommand([...program, ...argumentsFor(url, out, ...more)], key);

let sepolia: Node;
/** Of the first test's deployment, for the others. */
let deployedFile: string;
beforeAll(async () => {
  sepolia = await startNode(BASE_SEPOLIA);
});

test("deploys to a test network: the file is complete, and a policy can be bought", async () => {
  const out = newFile();
  const { code, said } = await deploy(sepolia.url, out);
  expect(code, said).toBe(0);
  deployedFile = out;
  const deployment = requireDeployment(out);
  expect(deployment).toMatchObject({
    chainId: BASE_SEPOLIA,
    name: "Base Sepolia",
    local: true,
    startBlock: 0,
  });
  expect(deployment.explorerUrl).toMatch(/^https:/);
  for (const address of Object.values(deployment.contracts)) expect(said).toContain(address);
  expect(said).toMatch(/This run cost 0\.\d+ ETH/);
  expect(said).toContain("all as planned");
  expect(existsSync(`${out}.unfinished`)).toBe(false);

  // The balance that it asks for covers what it spends.
  const head = await sepolia.client.getBlockNumber();
  let gas = 0n;
  for (let blockNumber = 1n; blockNumber <= head; blockNumber++)
    gas += (await sepolia.client.getBlock({ blockNumber })).gasUsed;
  const options = { relayers: [relayer.address], oracle, products: allTerms };
  const expected = expectedGas(planDeployment(deployer.address, 0, options).transactions);
  expect(Number(expected) / Number(gas)).toBeGreaterThan(1);
  expect(Number(expected) / Number(gas)).toBeLessThan(1.3);

  const protocol = openProtocol(deployment, sepolia.url);
  await mintUsdc(protocol, buyer, buyer.address, 1_000_000_000n);
  await approveUsdc(protocol, buyer, deployment.contracts.coverRouter);
  const terms = termsOf("FLASHBTC24-001");
  expect(await purchase(protocol, buyer, terms, 1_000_000_000n)).toMatchObject({
    policyId: 1n,
    premium: 52_600_000n,
    payout: 800_000_000n,
  });
  expect(
    await sepolia.client.readContract({
      address: deployment.contracts.coverRouter,
      abi: coverRouterAbi,
      functionName: "authorizedRelayers",
      args: [relayer.address],
    }),
  ).toBe(true);

  const again = await deploy(sepolia.url, out);
  expect(again).toEqual({ code: 1, said: expect.stringContaining("is never overwritten") });
  expect(requireDeployment(out)).toEqual(deployment);
});

test("existing USDC, feeds and price oracle are used in place of mocks", async () => {
  const earlier = requireDeployment(deployedFile).contracts;
  const { usdc, btcUsdFeed, ethUsdFeed, sequencerFeed } = earlier;
  const priceOracle = await priceOracleOf(openProtocol(requireDeployment(deployedFile), sepolia.url));
  const out = newFile();
  const given = ["--usdc", usdc, "--btc-feed", btcUsdFeed, "--eth-feed", ethUsdFeed];
  const more = ["--price-oracle", priceOracle, "--sequencer-feed", sequencerFeed];
  const { code, said } = await deploy(sepolia.url, out, ...given, ...more);
  expect(code, said).toBe(0);
  const deployment = requireDeployment(out);
  const { contracts } = deployment;
  expect(contracts).toMatchObject({ usdc, btcUsdFeed, ethUsdFeed, sequencerFeed });
  expect(await priceOracleOf(openProtocol(deployment, sepolia.url))).toBe(priceOracle);

  const wrong = ["--usdc", btcUsdFeed, "--btc-feed", usdc, "--eth-feed", relayer.address];
  const refused = await deploy(sepolia.url, newFile(), ...wrong, "--price-oracle", contracts.coverRouter);
  expect(refused.code).toBe(1);
  expect(refused.said).toContain(`usdc ${btcUsdFeed} has 8 decimals, and must have 6`);
  expect(refused.said).toContain(`btcUsdFeed ${usdc} has 6 decimals, and must have 8`);
  expect(refused.said).toContain(`ethUsdFeed ${relayer.address} has no code`);
  expect(refused.said).toContain(`priceOracle ${contracts.coverRouter} does not answer as such a contract`);
});

test("npm run prices repeats the mock feeds' prices until it is stopped", async () => {
  const protocol = openProtocol(requireDeployment(deployedFile), sepolia.url);
  const before = await latestRound(protocol, "ETH");
  const logFile = `${deployedFile}.prices.log`;
  const child = await startProcess({
    name: "prices",
    command: process.execPath,
    args: ["scripts/start.mjs", "prices"],
    env: {
      ...process.env,
      RPC_URL: sepolia.url,
      DEPLOYMENT_FILE: deployedFile,
      PRICES_PRIVATE_KEY: privateKeyOf(buyer),
    },
    logFile,
  });
  atEnd(async () => {
    await child.stop();
  });
  await waitFor({
    what: "the feeds to be refreshed",
    probe: () => readFileSync(logFile, "utf8").includes(`${buyer.address} refreshes`) || undefined,
    giveUpReason: () => exitMessage(child),
  });
  const { roundId, price } = await latestRound(protocol, "ETH");
  expect({ roundId, price }).toEqual({ roundId: before.roundId + 1n, price: before.price });
  expect(await child.stop()).toEqual({ code: 0, signal: null });

  const unset = { RPC_URL: "", DEPLOYMENT_FILE: "", PRICES_PRIVATE_KEY: "0x1" };
  const { code, said } = await runCommand(["scripts/start.mjs", "prices"], unset);
  expect(code).toBe(1);
  for (const name of Object.keys(unset)) expect(said).toContain(`${name} `);
});

test("killed while it deploys, it goes on after the last mined transaction", async () => {
  const node = await startNode(84532, { blockTime: 1 });
  const out = newFile();
  const logFile = `${out}.log`;
  const child = await startProcess({
    name: "deploy",
    command: process.execPath,
    args: [...program, ...argumentsFor(node.url, out)],
    env: { ...process.env, ...key },
    logFile,
  });
  atEnd(async () => {
    await child.kill9();
  });
  const { address } = deployer;
  await waitFor({
    what: "three transactions to be mined",
    probe: async () => (await node.client.getTransactionCount({ address })) >= 3 || undefined,
    giveUpReason: () => (child.exit() ? readFileSync(logFile, "utf8") : undefined),
  });
  await child.kill9();
  expect(existsSync(out)).toBe(false);
  await node.client.setIntervalMining({ interval: 0 });
  await node.client.setAutomine(true);

  const other = await deploy(node.url, out, "--relayer", buyer.address);
  expect(other).toEqual({ code: 1, said: expect.stringContaining("other settings (relayers)") });

  const snapshot = await node.client.snapshot();
  const hash = await node.client.sendTransaction({ account: deployer, to: zeroAddress, value: 1n });
  await node.client.waitForTransactionReceipt({ hash });
  const shifted = await deploy(node.url, out);
  expect(shifted).toEqual({
    code: 1,
    said: expect.stringMatching(/nonce \d+ is used, but 0x\w+ has no code/),
  });
  await node.client.revert({ id: snapshot });

  const { code, said } = await deploy(node.url, out);
  expect(code, said).toBe(0);
  expect(said).toMatch(/^\d+ of them are mined already$/m);
  const { contracts, startBlock } = requireDeployment(out);
  const options = { relayers: [relayer.address], oracle, products: allTerms };
  expect(contracts).toEqual(planDeployment(address, 0, options).contracts);
  // The index begins before the first contract, although another run has deployed it.
  const { protocolToken } = contracts;
  const atStart = { address: protocolToken, blockNumber: BigInt(startBlock) };
  expect(await node.client.getCode(atStart)).toBeUndefined();
});

test("answers to broadcasts are lost: every transaction is sent once", async () => {
  const node = await startNode(BASE_SEPOLIA);
  const proxy = await startRpcProxy(node.url);
  let broadcasts = 0;
  proxy.intercept(async (call, forward) => {
    const answer = await forward();
    if (call.method !== "eth_sendRawTransaction") return answer;
    broadcasts += 1;
    return broadcasts % 5 === 1 ? "lost" : answer;
  });
  const out = newFile();
  const { code, said } = await deploy(proxy.url, out);
  expect(code, said).toBe(0);
  const sent = await node.client.getTransactionCount({ address: deployer.address });
  expect(said).toContain(`84532: ${sent} transactions of`);
  expect(broadcasts).toBe(sent);
});

test("other networks, silent nodes and poor wallets are refused before anything is sent", async () => {
  const out = newFile();
  const main = await startNode(8453);
  const poor = generatePrivateKey();
  await sepolia.client.setBalance({ address: privateKeyToAddress(poor), value: parseEther("0.000001") });
  const [onMain, silent, unpaid] = await Promise.all([
    deploy(main.url, out),
    deploy("http://127.0.0.1:9", out),
    runCommand([...program, ...argumentsFor(sepolia.url, out)], { DEPLOYER_PRIVATE_KEY: poor }),
  ]);
  expect(onMain).toEqual({
    code: 1,
    said: expect.stringContaining("chain 8453: this command deploys to Base Sepolia (84532) only"),
  });
  expect(silent).toEqual({
    code: 1,
    said: expect.stringContaining("--rpc: the node does not answer"),
  });
  expect(unpaid).toEqual({
    code: 1,
    said: expect.stringMatching(
      new RegExp(`^${privateKeyToAddress(poor)} has 0.000001 ETH, and the deployment may cost up to \\d`),
    ),
  });
  expect(await main.client.getTransactionCount({ address: deployer.address })).toBe(0);
  expect(existsSync(out) || existsSync(`${out}.unfinished`)).toBe(false);
});
