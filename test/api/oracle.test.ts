/** Prices that the writer signs for the api's callers, checked on the chain by the deployed verifier. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recoverTypedDataAddress, zeroAddress } from "viem";
import { afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { lower } from "../../lib/lower.ts";
import { type AssetSymbol, assetBytes32 } from "../../lib/products.ts";
import { chainTime, latestRound, pushPrice } from "../../scripts/local/protocol/actions/index.ts";
import { oracleSigner } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { priceProofTypes } from "../../workers/oracle/price-signer.ts";
import { atEnd } from "../support/cleanup.ts";
import { checkedRequests } from "../support/openapi.ts";
import { setSequencer } from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { failure, invalidFields, issueKey, repeatWhile } from "./support/api.ts";
import {
  answered,
  newRequest,
  oracleEnv,
  proofOf,
  readsFeed,
  startFailingWriter,
  startOracleStack,
  type TestOracle,
} from "./support/oracle.ts";

const { address: oracleAddress } = oracleSigner;
const CALLERS = 100;

let oracle: TestOracle;
let connection: Connection;
beforeAll(async () => {
  oracle = await startOracleStack();
  connection = connect(oracle.stack.databaseUrl, { name: "test" });
  atEnd(() => connection.close());
});
afterEach(() => oracle.proxy.intercept());

const now = () => Math.floor(Date.now() / 1000);
describe("POST /api/v1/oracle/sign-proof", () => {
  test.each<AssetSymbol>(["BTC", "ETH"])(
    "signs the feed's price of %s; the deployed verifier finds the signer",
    async (asset) => {
      const round = await latestRound(oracle.protocol, asset);
      const before = now();
      const answer = await oracle.signInTime(asset);
      const proof = proofOf(answer);
      expect(answer.json).toEqual({
        asset,
        assetBytes32: assetBytes32(asset),
        price: String(round.price),
        decimals: 8,
        verifiedAt: proof.verifiedAt,
        feedUpdatedAt: Number(round.updatedAt),
        signer: oracleAddress,
        signature: proof.signature,
      });
      expect(proof.verifiedAt).toBeGreaterThanOrEqual(before);
      expect(proof.verifiedAt).toBeLessThanOrEqual(now());
      expect(await oracle.signerOnChain(proof)).toBe(oracleAddress);
    },
  );

  test("GET /api/v1/oracle/signer has the signer and the typed data's domain, by which a client finds the signer too", async () => {
    const answer = await oracle.signer();
    const domain = { ...oracle.chain.deployment.oracle, chainId: oracle.chain.deployment.chainId };
    expect([answer.status, answer.json]).toEqual([200, { signer: oracleAddress, domain }]);
    const { price, assetBytes32: asset, verifiedAt, signature } = proofOf(await oracle.signInTime());
    const message = { price: BigInt(price), asset, verifiedAt: BigInt(verifiedAt) };
    const typedData = { domain, types: priceProofTypes, primaryType: "PriceProof", message } as const;
    expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(oracleAddress);
  });

  test("each call reads the feed anew, also after a reorganisation", async () => {
    const { price } = await latestRound(oracle.protocol, "BTC");
    await oracle.chain.client.mine({ blocks: 2 });
    await pushPrice(oracle.protocol, oracle.chain.owner, "BTC", price + 1n);
    expect(proofOf(await oracle.signInTime()).price).toBe(String(price + 1n));
    expect(await askRpc(oracle.chain.url, "anvil_reorg", [1, []])).toEqual({ result: null });
    expect(proofOf(await oracle.signInTime()).price).toBe(String(price));
  });

  test.each(["btc", "SOL", "", "__proto__", 7, null, ["BTC"], undefined])(
    "the asset %j gets 400, which names the field",
    async (asset) => {
      const { headers } = oracle;
      const answer = await oracle.request("/api/v1/oracle/sign-proof", { headers, body: { asset } });
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(invalidFields(answer)).toEqual(["asset"]);
    },
  );

  test("without a key both get 401, and with one they count against its limit", async () => {
    const body = { asset: "BTC" };
    expect(failure(await oracle.request("/api/v1/oracle/sign-proof", { body }))).toEqual([
      401,
      "unauthenticated",
    ]);
    expect(failure(await oracle.request("/api/v1/oracle/signer"))).toEqual([401, "unauthenticated"]);
    for (const answer of [await oracle.signInTime(), await oracle.signer()]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-ratelimit-limit")).toBe("1000000000");
    }
  });
});

describe("a price that must not be signed gets 503 with its reason", () => {
  test("the feed's answer is older than an hour, or not above zero: oracle_stale", async () => {
    const { price } = await latestRound(oracle.protocol, "BTC");
    const time = await chainTime(oracle.protocol);
    await pushPrice(oracle.protocol, oracle.chain.owner, "BTC", price, time - 3700n);
    const stale = await oracle.signInTime();
    expect([...failure(stale), stale.headers.get("retry-after")]).toEqual([503, "oracle_stale", "30"]);
    expect((await oracle.signInTime("ETH")).status).toBe(200);
    await pushPrice(oracle.protocol, oracle.chain.owner, "BTC", 0n);
    expect(failure(await oracle.signInTime())).toEqual([503, "oracle_stale"]);
    await pushPrice(oracle.protocol, oracle.chain.owner, "BTC", price);
    expect((await oracle.signInTime()).status).toBe(200);
  });

  test("the sequencer is down, or up for less than an hour: sequencer_down", async () => {
    const time = await chainTime(oracle.protocol);
    await setSequencer(oracle.protocol, oracle.chain.owner, { down: true, startedAt: time - 7200n });
    expect(failure(await oracle.signInTime())).toEqual([503, "sequencer_down"]);
    await setSequencer(oracle.protocol, oracle.chain.owner, { down: false, startedAt: time });
    expect(failure(await oracle.signInTime())).toEqual([503, "sequencer_down"]);
    await setSequencer(oracle.protocol, oracle.chain.owner, { down: false, startedAt: time - 7200n });
    expect((await oracle.signInTime()).status).toBe(200);
  });

  test.each<[how: string, answer: () => Promise<"lost">]>([
    ["drops the connection", async () => "lost"],
    ["hangs", () => new Promise(() => {})],
  ])("the node %s: chain_not_found", async (_, answer) => {
    oracle.proxy.intercept(answer);
    const failed = await oracle.signInTime("BTC", ["oracle_signer_unavailable"]);
    expect(failure(failed)).toEqual([503, "chain_not_found"]);
    oracle.proxy.intercept();
    expect((await oracle.signInTime()).status).toBe(200);
  });
});

test(`two writers, and ${CALLERS} calls at once: each gets a proof that the verifier accepts`, async () => {
  const { chain, proxy, stack } = oracle;
  const options = { chain, rpcUrl: proxy.url, databaseUrl: stack.databaseUrl, env: oracleEnv };
  const second = await startStack({ ...options, services: ["writer"] });
  const assets = Array.from({ length: CALLERS }, (_, n): AssetSymbol => (n % 2 === 0 ? "BTC" : "ETH"));
  const answers = await Promise.all(assets.map((asset) => oracle.signInTime(asset)));
  const proofs = answers.map(proofOf);
  expect(proofs.map((proof) => proof.assetBytes32)).toEqual(assets.map(assetBytes32));
  for (const proof of new Map(proofs.map((one) => [one.signature, one])).values()) {
    expect(await oracle.signerOnChain(proof)).toBe(oracleAddress);
  }
  await second.stop();
});

test("a writer with a failing node leaves a new request to a writer with a slower node", async () => {
  const { asked, second } = await startFailingWriter(oracle);
  oracle.proxy.intercept(async (call, forward) => {
    if (readsFeed(call)) await asked.then(() => sleep(500));
    return forward();
  });
  expect(await answered(connection, await newRequest(connection))).toMatchObject({ state: "signed" });
  await second.stop();
});

test("old requests are deleted", async () => {
  const [row] = await connection.sql<{ id: string }[]>`
    insert into service.price_proof (chain_id, asset, created_at) values (8453, 'BTC', now() - interval '2 hours')
    returning id`;
  await waitFor({
    what: "the old request to be deleted",
    probe: async () => {
      const rows = await connection.sql`select 1 from service.price_proof where id = ${row?.id ?? ""}`;
      return rows.length === 0 || undefined;
    },
  });
});

test("on a chain without a sequencer feed the sequencer counts as up", async () => {
  const { chain } = oracle;
  const deploymentFile = join(inject("runFolder"), `no-sequencer-${Date.now()}.json`);
  const contracts = { ...chain.deployment.contracts, sequencerFeed: zeroAddress };
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, contracts }));
  const stack = await startStack({
    chain: { ...chain, deploymentFile },
    services: ["api", "writer"],
    env: oracleEnv,
  });
  const request = await checkedRequests(stack.apiUrl);
  const { headers } = await issueKey(request);
  const sign = () => request("/api/v1/oracle/sign-proof", { headers, body: { asset: "BTC" } });
  proofOf(await repeatWhile(["oracle_signer_disabled", "oracle_signer_unavailable"], sign));
  await stack.stop();
});

describe("without a writer that answers", () => {
  const unavailable = [503, "oracle_signer_unavailable"];
  const heartbeat = (age: string) =>
    connection.sql`update service.oracle_signer set heartbeat_at = now() - ${age}::text::interval`;

  test("the writer is killed while it signs: the next writer answers the request", async () => {
    const reading = new Promise<void>((resolve) => {
      oracle.proxy.intercept(async (call, forward) => {
        if (!readsFeed(call)) return forward();
        resolve();
        return new Promise(() => {});
      });
    });
    const id = await newRequest(connection);
    await reading;
    await oracle.stack.kill9("writer");
    oracle.proxy.intercept();
    await oracle.stack.start("writer");
    expect(await answered(connection, id)).toEqual({ state: "signed", signer: lower(oracleAddress) });
    expect((await oracle.signInTime()).status).toBe(200);
  });

  test("a call waits for seconds while the writer may only be slow, and for nothing once it counts as away", async () => {
    await oracle.stack.kill9("writer");
    await heartbeat("1 second");
    const waited = await oracle.sign();
    expect([...failure(waited), waited.headers.get("retry-after")]).toEqual([...unavailable, "30"]);
    const rows = await connection.sql`select 1 from service.price_proof`;
    await heartbeat("1 minute");
    expect(failure(await oracle.sign())).toEqual(unavailable);
    expect(await connection.sql`select 1 from service.price_proof`).toHaveLength(rows.length);
    expect((await oracle.signer()).json).toMatchObject({ signer: oracleAddress });
  });

  test("no writer has had a key for more than an hour: oracle_signer_disabled", async () => {
    await heartbeat("2 hours");
    expect(failure(await oracle.sign())).toEqual([503, "oracle_signer_disabled"]);
    expect(failure(await oracle.signer())).toEqual([503, "oracle_signer_disabled"]);
  });

  test("the deployment file has no oracle: oracle_signer_disabled, and a writer with a key signs nothing", async () => {
    const { chain, headers, stack } = oracle;
    const { oracle: _, ...deployment } = chain.deployment;
    const deploymentFile = `${chain.deploymentFile}.without-oracle`;
    writeFileSync(deploymentFile, JSON.stringify(deployment));
    const other = await startStack({
      chain: { ...chain, deploymentFile },
      databaseUrl: stack.databaseUrl,
      services: ["api", "writer"],
      env: oracleEnv,
    });
    const otherRequest = await checkedRequests(other.apiUrl);
    const info = await otherRequest("/api/v1/oracle/signer", { headers });
    expect(failure(info)).toEqual([503, "oracle_signer_disabled"]);
    const answer = await otherRequest("/api/v1/oracle/sign-proof", { headers, body: { asset: "BTC" } });
    expect(failure(answer)).toEqual([503, "oracle_signer_disabled"]);
    expect(other.output("writer")).toContain("the deployment file has no oracle");
  });
});
