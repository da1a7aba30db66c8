/**
 * `npm run doctor` against a real chain, Postgres and Redis. What this proves: a good environment has no fault, each fault that is made
 * is named with its remedy, and the command ends with code 1 then.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import postgres from "postgres";
import { type Address, type Hex, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { createSealer } from "../../lib/webhooks/secrets.ts";
import { examine } from "../../scripts/doctor/examine.ts";
import { type Finding, isFault, type Subject } from "../../scripts/doctor/finding.ts";
import { type ProcessName, processNames } from "../../scripts/doctor/settings.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { openProtocol, setRelayer } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { runCommand } from "../support/command.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";

type Variables = Readonly<Record<string, string>>;

/** Settings of a server to which money may be entrusted, with room for one of each process. */
const SAFE = { fsync: true, full_page_writes: true, synchronous_commit: true, max_connections: 70 };
const SECRETS_KEY = "f1e2d3c4b5a697887960514233241506f7e8d9cabbac9d8e7f60514233241501";
const ADMIN_TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef";

let chain: TestChain;
let databaseUrl: string;
let folder: string;
/** Describes the test's chain as a real network: the strict rules hold. */
let deploymentFile: string;
let relayer: Hex;
let keeper: Hex;
let good: Variables;

const addressOf = (key: Hex): Address => privateKeyToAddress(key);

/** A copy of the deployment file with changes. @returns its path */
function changedDeployment(change: (deployment: Record<string, unknown>) => void): string {
  const deployment = JSON.parse(readFileSync(chain.deploymentFile, "utf8"));
  change(deployment);
  const file = join(mkdtempSync(join(folder, "deployment-")), "deployment.json");
  writeFileSync(file, JSON.stringify(deployment));
  return file;
}

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  ({ databaseUrl } = await startOwnPostgres("cover", SAFE));
  folder = mkdtempSync(join(inject("runFolder"), "doctor-"));
  deploymentFile = changedDeployment((deployment) => {
    deployment.local = false;
  });
  keeper = generatePrivateKey();
  relayer = generatePrivateKey();
  for (const key of [relayer, keeper])
    await chain.client.setBalance({ address: addressOf(key), value: parseEther("100") });
  await setRelayer(openProtocol(chain.deployment, chain.url), chain.owner, addressOf(relayer), true);
  good = {
    DATABASE_URL: databaseUrl,
    RPC_URL: chain.url,
    DEPLOYMENT_FILE: deploymentFile,
    RELAYER_PRIVATE_KEYS: relayer,
    KEEPER_PRIVATE_KEY: keeper,
    SECRETS_KEY,
    ADMIN_TOKEN,
    PUBLIC_URL: "https://cover.example",
  };
});

const examined = (
  changes: Variables = {},
  processes: readonly ProcessName[] = processNames,
): Promise<Finding[]> => examine({ env: { ...good, ...changes }, processes, folder, userId: 1000 });

/** The faults as "subject: text → remedy". */
const faultsOf = (findings: readonly Finding[]): string[] =>
  findings
    .filter(isFault)
    .map((found) => `${found.subject}: ${found.text}${found.level === "ok" ? "" : ` → ${found.remedy}`}`);

const warningsOf = (findings: readonly Finding[]): string[] =>
  findings.filter(({ level }) => level === "warning").map(({ subject, text }) => `${subject}: ${text}`);

/** Expects exactly one fault, with this text and remedy. */
function expectFault(findings: readonly Finding[], subject: Subject, text: RegExp, remedy: RegExp): void {
  const faults = findings.filter(isFault);
  expect(faultsOf(findings)).toHaveLength(1);
  expect(faults[0]).toMatchObject({
    subject,
    text: expect.stringMatching(text),
    remedy: expect.stringMatching(remedy),
  });
}

const nowhere = async (protocol: string) => `${protocol}://127.0.0.1:${await freePort()}`;

test("a good environment has no fault, and each check says what it found", async () => {
  const findings = await examined();
  expect(faultsOf(findings)).toEqual([]);
  const found = findings.map(({ subject }) => subject);
  for (const subject of ["configuration", "secrets", "files", "chain", "wallets", "Postgres", "clock"])
    expect(found).toContain(subject);
});

test("the command prints faults with remedies and ends with code 1, and with 0 without a fault", async () => {
  const run = (changes: Variables, args: readonly string[] = []) =>
    runCommand(["scripts/start.mjs", "doctor", ...args], { ...good, ...changes });
  const healthy = await run({});
  expect(healthy.said).toContain("0 faults");
  expect(healthy.code).toBe(0);
  const address = addressOf(relayer);
  await chain.client.setBalance({ address, value: 0n });
  const sick = await run({ ADMIN_TOKEN: "too short" });
  await chain.client.setBalance({ address, value: parseEther("100") });
  expect(sick.code).toBe(1);
  expect(sick.said).toMatch(
    /FAULT {4}configuration {2}ADMIN_TOKEN must be random .*\n +→ correct the variable/,
  );
  expect(sick.said).toMatch(/FAULT {4}wallets .*too little for one transaction\n +→ send ether to 0x/);
  expect(sick.said).toContain("2 faults");
  expect(sick.said).not.toContain(relayer);
  const other = await run({ ADMIN_TOKEN: "too short" }, ["writer", "indexer"]);
  expect(other.code).toBe(0);
  expect(await run({}, ["wrter"])).toMatchObject({
    code: 1,
    said: expect.stringContaining("wrter: must be"),
  });
});

test("a variable that several processes need is one fault, and no secret is printed", async () => {
  const findings = await examined({ RPC_URL: "ftp://node", RELAYER_PRIVATE_KEYS: relayer.slice(0, -1) });
  expect(faultsOf(findings)).toHaveLength(2);
  expect(faultsOf(findings).join()).toContain("(indexer, api, writer)");
  expect(JSON.stringify(findings)).not.toContain(relayer.slice(2, -1));
});

describe("secrets and files", () => {
  test("a default or shared secret is a fault on a real network", async () => {
    expectFault(
      await examined({ SECRETS_KEY: DEV_SECRETS_KEY }, ["writer"]),
      "secrets",
      /must be set/,
      /openssl/,
    );
    expectFault(await examined({ ADMIN_TOKEN: SECRETS_KEY }), "secrets", /are the same/, /openssl/);
  });

  test("files that others may change or read are faults", async () => {
    chmodSync(deploymentFile, 0o666);
    expectFault(await examined(), "files", /may be changed by everybody .*666/, /chmod o-w/);
    chmodSync(deploymentFile, 0o644);
    const [secret, dist] = [join(folder, ".env"), join(folder, "dist")];
    writeFileSync(secret, "ADMIN_TOKEN=x\n");
    chmodSync(secret, 0o640);
    expectFault(await examined(), "files", /\.env holds keys/, /chmod 600/);
    chmodSync(secret, 0o600);
    mkdirSync(dist);
    writeFileSync(join(dist, "api.mjs"), "");
    chmodSync(join(dist, "api.mjs"), 0o777);
    expectFault(await examined(), "files", /api\.mjs may be changed/, /chmod o-w/);
    rmSync(dist, { recursive: true });
    rmSync(secret);
    expect(faultsOf(await examined())).toEqual([]);
  });
});

describe("the chain", () => {
  test("a node that is away, or serves another chain", async () => {
    expectFault(
      await examined({ RPC_URL: await nowhere("http") }),
      "chain",
      /does not answer/,
      /start the node/,
    );
    const file = changedDeployment((deployment) => Object.assign(deployment, { local: false, chainId: 10 }));
    expectFault(
      await examined({ DEPLOYMENT_FILE: file }),
      "chain",
      /serves chain 8453.* chain 10/,
      /correct/,
    );
  });

  test("a deployment file that is missing, incomplete, or leads to no contract", async () => {
    const missing = await examined({ DEPLOYMENT_FILE: join(folder, "none.json") });
    expectFault(missing, "chain", /none\.json/, /correct the deployment file/);
    const contracts = (change: Record<string, unknown>) =>
      changedDeployment((deployment) =>
        Object.assign(deployment, {
          local: false,
          contracts: { ...chain.deployment.contracts, ...change },
        }),
      );
    const incomplete = await examined({ DEPLOYMENT_FILE: contracts({ bondVault: undefined }) });
    expectFault(incomplete, "chain", /contracts\.bondVault is missing/, /deployment file/);
    const empty = await examined({ DEPLOYMENT_FILE: contracts({ usdc: addressOf(generatePrivateKey()) }) });
    expectFault(empty, "chain", /contracts\.usdc .* has no code/, /correct its address/);
    const swapped = contracts({ coverRouter: chain.deployment.contracts.usdc });
    expectFault(await examined({ DEPLOYMENT_FILE: swapped }), "wallets", /cannot be read/, /coverRouter/);
  });

  test("a start block that is too late for the index, or in the future", async () => {
    const from = (startBlock: number) =>
      changedDeployment((deployment) => Object.assign(deployment, { local: false, startBlock }));
    const head = Number(await chain.client.getBlockNumber());
    const late = faultsOf(await examined({ DEPLOYMENT_FILE: from(head) }));
    expect(late).toContainEqual(expect.stringMatching(/contracts\.coverRouter was there before startBlock/));
    const future = await examined({ DEPLOYMENT_FILE: from(head + 1_000_000) });
    expectFault(future, "chain", /is above the newest block/, /set startBlock/);
  });

  test("a node without old states or eth_simulateV1 is a warning", async () => {
    const proxy = await startRpcProxy(chain.url);
    proxy.intercept((call, forward) => {
      const old = call.method === "eth_getCode" && /^0x/.test(String(call.params[1]));
      if (!old && call.method !== "eth_simulateV1") return forward();
      return Promise.resolve({ error: { code: -32000, message: "missing trie node" } });
    });
    const file = changedDeployment((deployment) =>
      Object.assign(deployment, { local: false, startBlock: 1 }),
    );
    const findings = await examined({ RPC_URL: proxy.url, DEPLOYMENT_FILE: file });
    expect(faultsOf(findings)).toEqual([]);
    expect(warningsOf(findings).join("\n")).toMatch(
      /does not know the state before block 1[\s\S]*eth_simulateV1/,
    );
  });

  test("a testnet whose file describes no testnet", async () => {
    const TESTNET_DEPLOYMENT_FILE = changedDeployment((deployment) =>
      Object.assign(deployment, { chainId: 1 }),
    );
    const findings = await examined({ TESTNET_RPC_URL: chain.url, TESTNET_DEPLOYMENT_FILE });
    expectFault(findings, "testnet", /chain 1 is no testnet/, /deployment file/);
  });
});

describe("wallets", () => {
  test("a relayer that the router does not know", async () => {
    const other = generatePrivateKey();
    await chain.client.setBalance({ address: addressOf(other), value: parseEther("1") });
    const findings = await examined({ RELAYER_PRIVATE_KEYS: `${relayer},${other}` });
    expectFault(
      findings,
      "wallets",
      /is not on the allowlist/,
      new RegExp(`setRelayer\\(${addressOf(other)}, true`),
    );
  });

  test("a wallet without ether is a fault, and one with little a warning", async () => {
    const address = addressOf(relayer);
    await chain.client.setBalance({ address, value: 1n });
    expectFault(await examined(), "wallets", /too little for one transaction/, /send ether/);
    const { baseFeePerGas } = await chain.client.getBlock();
    await chain.client.setBalance({ address, value: 20n * 500_000n * (2n * (baseFeePerGas ?? 0n) + 1n) });
    const findings = await examined();
    await chain.client.setBalance({ address, value: parseEther("100") });
    expect(faultsOf(findings)).toEqual([]);
    expect(warningsOf(findings).join()).toMatch(/enough for about \d+ transactions/);
  });

  test("anvil's public keys on a real network, and a missing keeper", async () => {
    const findings = await examined({ RELAYER_PRIVATE_KEYS: chain.relayerKey, KEEPER_PRIVATE_KEY: "" });
    expectFault(findings, "wallets", /their keys are public/, /make a new key/);
    expect(warningsOf(findings).join()).toContain("there is no keeper");
  });
});

describe("signer", () => {
  let signer: TestSigner;
  let remote: Variables;
  beforeAll(async () => {
    signer = await startSigner([relayer]);
    remote = { SIGNER_URL: signer.url, RELAYER_PRIVATE_KEYS: "", RELAYER_PUBLIC_KEYS: publicKeyOf(relayer) };
  });

  test("one that signs for a wallet, whose place and ether are checked as those of all others", async () => {
    const findings = await examined(remote);
    expect(faultsOf(findings)).toEqual([]);
    expect(findings.map(({ text }) => text)).toContain("the signer signs with 1 of 1 keys");
    expect(findings.some(({ text }) => text.startsWith("RELAYER_PUBLIC_KEYS: 0x"))).toBe(true);
  });

  test("one that lacks a key, lies, or is away", async () => {
    const lacking = { ...remote, KEEPER_PRIVATE_KEY: "", KEEPER_PUBLIC_KEY: publicKeyOf(keeper) };
    expectFault(
      await examined(lacking),
      "signer",
      /^KEEPER_PUBLIC_KEY: .*does not have the key/,
      /load the key/,
    );
    signer.set({ kind: "lies", with: generatePrivateKey() });
    expectFault(await examined(remote), "signer", /is not this key's signature/, /SIGNER_URL/);
    await signer.leave();
    expectFault(await examined(remote), "signer", /the signer does not answer/, /start the signer/);
    expect(faultsOf(await examined(remote, ["api", "indexer"]))).toEqual([]);
  });
});

describe("Postgres", () => {
  let sql: postgres.Sql;
  beforeAll(() => {
    sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
    atEnd(() => sql.end());
  });

  /** The findings while this database has another setting. */
  async function withSetting(name: string, value: string): Promise<Finding[]> {
    await sql.unsafe(`alter database cover set ${name} = ${value}`);
    const findings = await examined();
    await sql.unsafe(`alter database cover reset ${name}`);
    return findings;
  }

  test("a server that is away, or a login that it refuses", async () => {
    const away = `${await nowhere("postgres")}/cover`;
    expectFault(await examined({ DATABASE_URL: away }), "Postgres", /cannot be used/, /start Postgres/);
    const unknown = new URL(databaseUrl);
    unknown.pathname = "/none";
    expectFault(await examined({ DATABASE_URL: unknown.href }), "Postgres", /"none"/, /DATABASE_URL/);
  });

  test("settings with which a crash loses purchases", async () => {
    expectFault(await withSetting("synchronous_commit", "off"), "Postgres", /synchronous_commit/, /= on/);
    expectFault(await withSetting("default_transaction_read_only", "on"), "Postgres", /may only read/, /off/);
    for (const setting of ["fsync", "full_page_writes", "autovacuum"]) {
      const set = async (value: string) => {
        await sql.unsafe(`alter system set ${setting} = ${value}`);
        await sql`select pg_reload_conf()`;
        await waitFor({
          what: `${setting} to be ${value}`,
          probe: async () => {
            const [row] = await sql.unsafe<{ now: string }[]>(`select current_setting('${setting}') as now`);
            return row?.now === value || undefined;
          },
        });
      };
      await set("off");
      const findings = await examined();
      await set("on");
      expectFault(findings, "Postgres", new RegExp(`${setting} is off`), new RegExp(`${setting} = on`));
    }
  });

  test("too few sessions for the processes", async () => {
    await sql`alter database cover connection limit 20`;
    const limited = await examined();
    await sql`alter database cover connection limit -1`;
    expectFault(
      limited,
      "Postgres",
      /open 56 sessions at most, and the database allows 20/,
      /CONNECTION LIMIT/,
    );
    const small = await startOwnPostgres("cover", { ...SAFE, max_connections: 40 });
    const findings = await examined({ DATABASE_URL: small.databaseUrl });
    expectFault(findings, "Postgres", /and the server allows 37/, /max_connections/);
  });

  test("logins that may not do what their process needs", async () => {
    await sql`create role weak login`;
    await sql`create database owned`;
    const url = new URL(databaseUrl);
    url.username = "weak";
    const weak = (processes: readonly ProcessName[]) => examined({ DATABASE_URL: url.href }, processes);
    const missing = faultsOf(await weak(["writer", "indexer"])).join("\n");
    expect(missing).toMatch(/weak may not create schemas.*GRANT CREATE/);
    expect(missing).toMatch(/cover_api is missing.*CREATE ROLE cover_api NOLOGIN/);
    expectFault(await weak(["api"]), "Postgres", /cover_api is missing/, /start a writer/);
    await sql`create role cover_api nologin`;
    await sql`grant create on database cover to weak`;
    expectFault(await weak(["api"]), "Postgres", /may not take on the role/, /GRANT cover_api TO weak/);
    expect(faultsOf(await weak(["writer"]))).toEqual([]);
    await sql`create schema service`;
    expectFault(
      await weak(["writer"]),
      "Postgres",
      /schema service belongs to postgres/,
      /log in as postgres/,
    );
    await sql`grant cover_api to weak`;
    expect(faultsOf(await weak(["api"]))).toEqual([]);
    expect(warningsOf(await examined({}, ["api"])).join()).toContain("may do more than the role");
  });

  test("a database that cannot hold every text", async () => {
    await sql`create database latin encoding 'LATIN1' template template0`;
    const url = new URL(databaseUrl);
    url.pathname = "/latin";
    expectFault(await examined({ DATABASE_URL: url.href }), "Postgres", /encoding is LATIN1/, /UTF8/);
  });

  test("a SECRETS_KEY that does not open the stored secrets", async () => {
    await sql`create schema if not exists service`;
    await sql`create table service.webhook (
      id bigserial, wallet text, secret text, previous_secret text, previous_secret_until timestamptz)`;
    const wallet = addressOf(relayer).toLowerCase();
    const store = (key: string) =>
      sql`insert into service.webhook (wallet, secret) values (${wallet}, ${createSealer(key).seal("s", wallet)})`;
    await store(SECRETS_KEY);
    expect(faultsOf(await examined())).toEqual([]);
    const previous = SECRETS_KEY.replaceAll("f", "e");
    await store(previous);
    const findings = await examined();
    const rotating = await examined({ SECRETS_KEY_PREVIOUS: previous });
    await sql`drop table service.webhook`;
    expectFault(findings, "secrets", /does not open the stored secrets of 1 of 2/, /set the key/);
    expect(faultsOf(rotating)).toEqual([]);
    expect(warningsOf(rotating).join()).toContain(
      "only SECRETS_KEY_PREVIOUS opens the stored secrets of 1 of 2",
    );
  });
});

describeWithRedis("Redis", () => {
  test("a server that is away, evicts keys, is full, or takes no writes", async () => {
    const away = { REDIS_URL: await nowhere("redis") };
    expectFault(await examined(away), "Redis", /cannot be used/, /start Redis/);
    const { url } = await freshRedis();
    const redis = new Redis(url);
    atEnd(async () => redis.disconnect());
    const found = () => examined({ REDIS_URL: url });
    expect(faultsOf(await found())).toEqual([]);
    await redis.config("SET", "maxmemory-policy", "allkeys-lru");
    expectFault(await found(), "Redis", /maxmemory-policy is allkeys-lru/, /noeviction/);
    await redis.config("SET", "maxmemory-policy", "noeviction");
    await redis.config("SET", "maxmemory", "1mb");
    expectFault(await found(), "Redis", /bytes/, /raise maxmemory/);
    await redis.config("SET", "maxmemory", "0");
    await redis.replicaof("127.0.0.1", await freePort());
    expectFault(await found(), "Redis", /a replica/, /primary/);
  });
});

test("a clock that is slow: the newest block is in the future", async () => {
  await chain.client.increaseTime({ seconds: 3600 });
  await chain.client.mine({ blocks: 1 });
  expectFault(await examined(), "clock", /in the future/, /synchronise/);
});
