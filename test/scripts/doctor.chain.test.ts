/**
 * `npm run doctor` against a real chain and Postgres. What this proves: a good environment has no fault, each fault of configuration,
 * chain and wallets that is made is named with its remedy, and the command ends with code 1 then.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { numberToHex, parseEther, toFunctionSelector, zeroAddress } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { runCommand } from "../support/command.ts";
import * as act from "../support/protocol-actions.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";
import {
  addressOf,
  type Examined,
  expectFault,
  faultsOf,
  nowhere,
  SECRETS_KEY,
  startGoodEnvironment,
  type Variables,
  warningsOf,
} from "./support/doctor.ts";

let doctor: Examined;
beforeAll(async () => {
  doctor = await startGoodEnvironment();
});

test("a good environment has no fault, and each check says what it found", async () => {
  const findings = await doctor.examine();
  expect(faultsOf(findings)).toEqual([]);
  const found = findings.map(({ subject }) => subject);
  for (const subject of ["configuration", "secrets", "files", "chain", "wallets", "Postgres", "clock"])
    expect(found).toContain(subject);
});

test("the command prints faults with remedies and ends with code 1, and with 0 without a fault", async () => {
  const run = (changes: Variables, args: readonly string[] = []) =>
    runCommand(["scripts/start.mjs", "doctor", ...args], { ...doctor.good, ...changes });
  const healthy = await run({});
  expect(healthy.said).toContain("0 faults");
  expect(healthy.code).toBe(0);
  const address = addressOf(doctor.relayer);
  await doctor.chain.client.setBalance({ address, value: 0n });
  const sick = await run({ ADMIN_TOKEN: "too short" });
  await doctor.chain.client.setBalance({ address, value: parseEther("100") });
  expect(sick.code).toBe(1);
  expect(sick.said).toMatch(
    /FAULT {4}configuration {2}ADMIN_TOKEN must be random .*\n +→ correct the variable/,
  );
  expect(sick.said).toMatch(/FAULT {4}wallets .*too little for one transaction\n +→ send ether to 0x/);
  expect(sick.said).toContain("2 faults");
  expect(sick.said).not.toContain(doctor.relayer);
  const other = await run({ ADMIN_TOKEN: "too short" }, ["writer", "indexer"]);
  expect(other.code).toBe(0);
  expect(await run({}, ["wrter"])).toMatchObject({
    code: 1,
    said: expect.stringContaining("wrter: must be"),
  });
});

test("a variable that several processes need is one fault, and no secret is printed", async () => {
  const findings = await doctor.examine({
    RPC_URL: "ftp://node",
    RELAYER_PRIVATE_KEYS: doctor.relayer.slice(0, -1),
  });
  expect(faultsOf(findings)).toHaveLength(2);
  expect(faultsOf(findings).join()).toContain("(indexer, api, writer)");
  expect(JSON.stringify(findings)).not.toContain(doctor.relayer.slice(2, -1));
});

describe("secrets and files", () => {
  test("a default or shared secret is a fault on a real network", async () => {
    expectFault(
      await doctor.examine({ SECRETS_KEY: DEV_SECRETS_KEY }, ["writer"]),
      "secrets",
      /must be set/,
      /openssl/,
    );
    expectFault(await doctor.examine({ ADMIN_TOKEN: SECRETS_KEY }), "secrets", /are the same/, /openssl/);
  });

  test("files that others may change or read are faults", async () => {
    chmodSync(doctor.deploymentFile, 0o666);
    expectFault(await doctor.examine(), "files", /may be changed by everybody .*666/, /chmod o-w/);
    chmodSync(doctor.deploymentFile, 0o644);
    const [secret, dist] = [join(doctor.folder, ".env"), join(doctor.folder, "dist")];
    writeFileSync(secret, "ADMIN_TOKEN=x\n");
    chmodSync(secret, 0o640);
    expectFault(await doctor.examine(), "files", /\.env holds keys/, /chmod 600/);
    chmodSync(secret, 0o600);
    mkdirSync(dist);
    writeFileSync(join(dist, "api.mjs"), "");
    chmodSync(join(dist, "api.mjs"), 0o777);
    expectFault(await doctor.examine(), "files", /api\.mjs may be changed/, /chmod o-w/);
    rmSync(dist, { recursive: true });
    rmSync(secret);
    expect(faultsOf(await doctor.examine())).toEqual([]);
  });
});

describe("the chain", () => {
  test("a node that is away, or serves another chain", async () => {
    expectFault(
      await doctor.examine({ RPC_URL: await nowhere("http") }),
      "chain",
      /does not answer/,
      /start the node/,
    );
    const file = doctor.changedDeployment({ chainId: 10 });
    expectFault(
      await doctor.examine({ DEPLOYMENT_FILE: file }),
      "chain",
      /serves chain 8453.* chain 10/,
      /correct/,
    );
  });

  test("a deployment file that is missing, incomplete, or leads to no contract", async () => {
    const missing = await doctor.examine({ DEPLOYMENT_FILE: join(doctor.folder, "none.json") });
    expectFault(missing, "chain", /none\.json/, /correct the deployment file/);
    const contracts = (change: Record<string, unknown>) =>
      doctor.changedDeployment({
        contracts: { ...doctor.chain.deployment.contracts, ...change },
      });
    const incomplete = await doctor.examine({ DEPLOYMENT_FILE: contracts({ bondVault: undefined }) });
    expectFault(incomplete, "chain", /contracts\.bondVault is missing/, /deployment file/);
    const empty = await doctor.examine({
      DEPLOYMENT_FILE: contracts({ usdc: addressOf(generatePrivateKey()) }),
    });
    expectFault(empty, "chain", /contracts\.usdc .* has no code/, /correct its address/);
    const swapped = contracts({ coverRouter: doctor.chain.deployment.contracts.usdc });
    const faults = faultsOf(await doctor.examine({ DEPLOYMENT_FILE: swapped }));
    expect(faults).toContainEqual(expect.stringMatching(/^wallets: .*cannot be read.*coverRouter/s));
    expect(faults).toContainEqual(
      expect.stringMatching(/^chain: FLASHBTC1H-001 cannot be read .*coverRouter/s),
    );
  });

  test("a start block that is too late for the index, or in the future", async () => {
    const from = (startBlock: number) => doctor.changedDeployment({ startBlock });
    const head = Number(await doctor.chain.client.getBlockNumber());
    const late = faultsOf(await doctor.examine({ DEPLOYMENT_FILE: from(head) }));
    expect(late).toContainEqual(expect.stringMatching(/contracts\.coverRouter was there before startBlock/));
    const future = await doctor.examine({ DEPLOYMENT_FILE: from(head + 1_000_000) });
    expectFault(future, "chain", /is above the newest block/, /set startBlock/);
  });

  test("a node without old states or eth_simulateV1 is a warning", async () => {
    const proxy = await startRpcProxy(doctor.chain.url);
    proxy.intercept((call, forward) => {
      const old = call.method === "eth_getCode" && /^0x/.test(String(call.params[1]));
      if (!old && call.method !== "eth_simulateV1") return forward();
      return Promise.resolve({ error: { code: -32000, message: "missing trie node" } });
    });
    const file = doctor.changedDeployment({ startBlock: 1 });
    const findings = await doctor.examine({ RPC_URL: proxy.url, DEPLOYMENT_FILE: file });
    expect(faultsOf(findings)).toEqual([]);
    expect(warningsOf(findings).join("\n")).toMatch(
      /does not know the state before block 1[\s\S]*eth_simulateV1/,
    );
  });

  test("a view that answers otherwise, and a constant that is another, are faults with contract, function and address", async () => {
    const proxy = await startRpcProxy(doctor.chain.url);
    const selector = toFunctionSelector("MAX_PROCESS_PER_CALL()");
    proxy.intercept((call, forward) =>
      call.method === "eth_call" && JSON.stringify(call.params[0]).includes(`"${selector}"`)
        ? Promise.resolve({ result: numberToHex(25n, { size: 32 }) })
        : forward(),
    );
    const { contracts } = doctor.chain.deployment;
    expect(faultsOf(await doctor.examine({ RPC_URL: proxy.url }))).toEqual([
      expect.stringContaining(`chain: bondVault ${contracts.bondVault}: MAX_PROCESS_PER_CALL is 25, not 20`),
    ]);
    expect(faultsOf(await examineWith("MAX_QUEUE_PER_EPOCH()", 20_000n))).toEqual([
      expect.stringContaining(`bondVault ${contracts.bondVault}: MAX_QUEUE_PER_EPOCH is 20000, not 10000`),
    ]);
    expect(faultsOf(await doctor.examine())).toEqual([]);
    const file = doctor.changedDeployment({ contracts: { ...contracts, bondVault: contracts.usdc } });
    expect(faultsOf(await doctor.examine({ DEPLOYMENT_FILE: file }))).toContainEqual(
      expect.stringContaining(`bondVault ${contracts.usdc}: SAFETY_FACTOR_BPS reverts`),
    );
  });

  /** Every call of this view answers this word. */
  async function examineWith(signature: string, word: bigint, changes: Variables = {}) {
    const proxy = await startRpcProxy(doctor.chain.url);
    const selector = toFunctionSelector(signature);
    proxy.intercept((call, forward) =>
      call.method === "eth_call" && JSON.stringify(call.params[0]).includes(`"${selector}`)
        ? Promise.resolve({ result: numberToHex(word, { size: 32 }) })
        : forward(),
    );
    return doctor.examine({ RPC_URL: proxy.url, ...changes });
  }

  test("views that revert are faults, but for the entry of an empty queue and a price oracle without a price", async () => {
    const { client, deployment } = doctor.chain;
    const protocol = act.openProtocol(deployment, doctor.chain.url);
    for (const [name, view] of [
      ["claimBond", "authorizedOperators(address)"],
      ["coverRouter", "productList(uint256)"],
      ["priceOracle", "getLuminaPrice()"],
    ] as const) {
      const proxy = await startRpcProxy(doctor.chain.url);
      const selector = toFunctionSelector(view);
      proxy.intercept((call, forward) =>
        call.method === "eth_call" && JSON.stringify(call.params[0]).includes(`"${selector}`)
          ? Promise.resolve({ error: { code: 3, message: "execution reverted", data: "0x" } })
          : forward(),
      );
      expect(faultsOf(await doctor.examine({ RPC_URL: proxy.url }))).toContainEqual(
        expect.stringMatching(new RegExp(`chain: ${name} .*: ${view.split("(")[0]} reverts`)),
      );
    }
    const { timestamp } = await client.getBlock();
    const queueByEpoch = { functionName: "queueByEpoch", args: [timestamp / 604_800n + 1n, 0n] } as const;
    const vault = { address: deployment.contracts.bondVault, abi: bondVaultAbi } as const;
    await expect(client.readContract({ ...vault, ...queueByEpoch })).rejects.toThrow("reverted");
    expect(faultsOf(await examineWith("queueLength(uint256)", 1n))).toEqual([
      expect.stringContaining("queueByEpoch reverts"),
    ]);
    await act.setPriceStale(protocol, doctor.chain.owner, true);
    const findings = await doctor.examine();
    await act.setPriceStale(protocol, doctor.chain.owner, false);
    expect(faultsOf(findings)).toEqual([]);
  });

  test("shields that ask other feeds than the deployment file's are named, with what the service assumes", async () => {
    const { contracts } = doctor.chain.deployment;
    const of = (findings: readonly string[]) => findings.filter((text) => text.includes("shield of"));
    const { btcUsdFeed, ethUsdFeed, sequencerFeed } = contracts;
    const swapped = doctor.changedDeployment({
      contracts: { ...contracts, btcUsdFeed: ethUsdFeed, ethUsdFeed: btcUsdFeed },
    });
    const prices = of(faultsOf(await doctor.examine({ DEPLOYMENT_FILE: swapped })));
    expect(prices).toHaveLength(6);
    expect(prices[0]).toContain(
      `priceFeed is ${btcUsdFeed}, not the deployment file's BTC feed ${ethUsdFeed}`,
    );
    const none = doctor.changedDeployment({ contracts: { ...contracts, sequencerFeed: zeroAddress } });
    const always = of(faultsOf(await doctor.examine({ DEPLOYMENT_FILE: none })));
    expect(always).toHaveLength(6);
    expect(always[0]).toContain("the service takes the sequencer for always up");
    const other = doctor.changedDeployment({ contracts: { ...contracts, sequencerFeed: btcUsdFeed } });
    expect(of(faultsOf(await doctor.examine({ DEPLOYMENT_FILE: other })))[0]).toContain(
      `sequencerFeed is ${sequencerFeed}, not the deployment file's ${btcUsdFeed}`,
    );
  });

  test("a shield without an uptime feed is no fault: what the service assumes is said, if the deployment file names one", async () => {
    const withFeed = await examineWith("sequencerFeed()", 0n);
    expect(faultsOf(withFeed)).toEqual([]);
    const said = warningsOf(withFeed).filter((text) => text.includes("never asks for the sequencer"));
    expect(said).toHaveLength(6);
    expect(said[0]).toContain("the service makes no observation while");
  });

  test("a product that the contracts describe otherwise, or lack", async () => {
    const extra = (more: Record<string, unknown>) =>
      doctor.changedDeployment({
        products: [
          { name: "FLASHBTC4H-001", asset: "BTC", triggerDropBps: 350, durationSeconds: 14_400, ...more },
        ],
      });
    expect(faultsOf(await doctor.examine({ DEPLOYMENT_FILE: extra({}) }))).toEqual([]);
    const other = await doctor.examine({ DEPLOYMENT_FILE: extra({ asset: "ETH", durationSeconds: 3_600 }) });
    expect(faultsOf(other)).toEqual([
      expect.stringMatching(
        /^chain: shield of FLASHBTC4H-001 0x\w+: priceFeed is .* not the deployment file's ETH feed/,
      ),
      expect.stringMatching(/^chain: FLASHBTC4H-001 lasts 14400 seconds, not 3600 → correct the product/),
      expect.stringMatching(/^chain: FLASHBTC4H-001 covers BTC, not ETH/),
    ]);
    const unknown = await doctor.examine({ DEPLOYMENT_FILE: extra({ name: "FLASHBTC9H-001" }) });
    expect(faultsOf(unknown)).toEqual([]);
    expect(warningsOf(unknown).join()).toContain("the contracts have no product FLASHBTC9H-001");
  });

  test("a chain without uptime feed, pause registry and keeper contract has no fault", async () => {
    const {
      shieldKeeper: _keeper,
      pauseRegistry: _registry,
      ...contracts
    } = doctor.chain.deployment.contracts;
    const file = doctor.changedDeployment({ contracts: { ...contracts, sequencerFeed: zeroAddress } });
    const findings = await examineWith("sequencerFeed()", 0n, { DEPLOYMENT_FILE: file });
    expect(faultsOf(findings)).toEqual([]);
    expect(warningsOf(findings).join()).not.toContain("sequencerFeed");
  });

  test("a testnet whose file describes no testnet", async () => {
    const TESTNET_DEPLOYMENT_FILE = doctor.changedDeployment({ chainId: 1 });
    const findings = await doctor.examine({ TESTNET_RPC_URL: doctor.chain.url, TESTNET_DEPLOYMENT_FILE });
    expectFault(findings, "testnet", /chain 1 is no testnet/, /deployment file/);
  });
});

describe("wallets", () => {
  test("a relayer that the router does not know", async () => {
    const other = generatePrivateKey();
    await doctor.chain.client.setBalance({ address: addressOf(other), value: parseEther("1") });
    const findings = await doctor.examine({ RELAYER_PRIVATE_KEYS: `${doctor.relayer},${other}` });
    expectFault(
      findings,
      "wallets",
      /is not on the allowlist/,
      new RegExp(`setRelayer\\(${addressOf(other)}, true`),
    );
  });

  test("a wallet without ether is a fault, and one with little a warning", async () => {
    const address = addressOf(doctor.relayer);
    await doctor.chain.client.setBalance({ address, value: 1n });
    expectFault(await doctor.examine(), "wallets", /too little for one transaction/, /send ether/);
    const { baseFeePerGas } = await doctor.chain.client.getBlock();
    await doctor.chain.client.setBalance({
      address,
      value: 20n * 500_000n * (2n * (baseFeePerGas ?? 0n) + 1n),
    });
    const findings = await doctor.examine();
    await doctor.chain.client.setBalance({ address, value: parseEther("100") });
    expect(faultsOf(findings)).toEqual([]);
    expect(warningsOf(findings).join()).toMatch(/enough for about \d+ transactions/);
  });

  test("anvil's public keys on a real network, and a missing keeper", async () => {
    const findings = await doctor.examine({
      RELAYER_PRIVATE_KEYS: doctor.chain.relayerKey,
      KEEPER_PRIVATE_KEY: "",
    });
    expectFault(findings, "wallets", /their keys are public/, /make a new key/);
    expect(warningsOf(findings).join()).toContain("there is no keeper");
  });
});

describe("signer", () => {
  let signer: TestSigner;
  let remote: Variables;
  beforeAll(async () => {
    signer = await startSigner([doctor.relayer]);
    remote = {
      SIGNER_URL: signer.url,
      RELAYER_PRIVATE_KEYS: "",
      RELAYER_PUBLIC_KEYS: publicKeyOf(doctor.relayer),
    };
  });

  test("one that signs for a wallet, whose place and ether are checked as those of all others", async () => {
    const findings = await doctor.examine(remote);
    expect(faultsOf(findings)).toEqual([]);
    expect(findings.map(({ text }) => text)).toContain("the signer signs with 1 of 1 keys");
    expect(findings.some(({ text }) => text.startsWith("RELAYER_PUBLIC_KEYS: 0x"))).toBe(true);
  });

  test("one that lacks a key, lies, or is away", async () => {
    const lacking = { ...remote, ORACLE_PUBLIC_KEY: publicKeyOf(generatePrivateKey()) };
    expectFault(
      await doctor.examine(lacking),
      "signer",
      /^ORACLE_PUBLIC_KEY: .* have the key/,
      /load the key/,
    );
    signer.set({ kind: "lies", with: generatePrivateKey() });
    expectFault(await doctor.examine(remote), "signer", /is not this key's signature/, /SIGNER_URL/);
    await signer.leave();
    expectFault(await doctor.examine(remote), "signer", /the signer does not answer/, /start the signer/);
    expect(faultsOf(await doctor.examine(remote, ["api", "indexer"]))).toEqual([]);
  });
});

test("a clock that is slow: the newest block is in the future", async () => {
  await doctor.chain.client.increaseTime({ seconds: 3600 });
  await doctor.chain.client.mine({ blocks: 1 });
  expectFault(await doctor.examine(), "clock", /in the future/, /synchronise/);
});
