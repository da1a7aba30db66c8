/** What the writer's figures say of the testnet: its wallets, its errands, sandbox and faucet. */
import { beforeAll, expect, test } from "vitest";
import { lower } from "../../lib/lower.ts";
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, startTestnet, type TestChain } from "../support/chain.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";

let chain: TestChain;
let testnet: TestChain;

beforeAll(async () => {
  [chain, testnet] = await Promise.all([
    startChain({ blockTime: 1, mixedMining: true }),
    startTestnet({ blockTime: 1, mixedMining: true }),
  ]);
});

type Samples = ReadonlyMap<string, number>;

async function scrape({ metricsUrl }: Stack): Promise<Samples> {
  const response = await fetch(metricsUrl);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]));
}

const until = (stack: Stack, what: string, met: (samples: Samples) => boolean) =>
  waitFor({
    what,
    probe: async () => {
      const samples = await scrape(stack);
      return met(samples) ? samples : undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 200,
  });

const named = (samples: Samples, start: string) =>
  [...samples.keys()].filter((name) => name.startsWith(start));

test("each wallet shows with its role, errands by their purpose, and a testnet that is away spoils nothing", async () => {
  const node = await startRpcProxy(testnet.url);
  const stack = await startStack({ chain, testnet, testnetRpcUrl: node.url, services: ["writer"] });
  const labels = (role: keyof typeof serviceWallets) =>
    `{wallet="${lower(serviceWallets[role].address)}",role="${role}"}`;

  const ready = await until(
    stack,
    "the sandbox to be ready",
    (samples) => samples.get("sandbox_ready") === 1,
  );
  expect(ready.get(`testnet_wallet_balance_wei${labels("relayer")}`)).toBeGreaterThan(0);
  expect(ready.get(`testnet_wallet_balance_wei${labels("faucet")}`)).toBe(10_000 * 1e18);
  expect(ready.get(`testnet_wallet_balance_wei${labels("sandbox")}`)).toBeGreaterThan(0);
  for (const role of ["relayer", "sandbox", "faucet"] as const) {
    expect(ready.get(`testnet_wallet_in_flight${labels(role)}`), role).toBe(0);
  }
  // It began with nothing: its ether came from the relayer, and the approval was its own.
  expect(ready.get(`testnet_wallet_next_nonce${labels("sandbox")}`)).toBeGreaterThan(0);
  expect(ready.get("sandbox_usdc")).toBeGreaterThan(0);
  expect(ready.get("sandbox_allowance_usdc")).toBeGreaterThan(0);
  expect(Object.fromEntries(ready)).toMatchObject({
    'testnet_errands_waiting{purpose="faucet_ether"}': 0,
    'testnet_errands_failed{purpose="sandbox_approval"}': 0,
    testnet_oldest_errand_seconds: 0,
    faucet_claims_today: 0,
    faucet_claims_open: 0,
    testnet_accepted_waiting: 0,
    'testnet_source_up{source="chain"}': 1,
    'testnet_source_up{source="ledger"}': 1,
  });
  const relayer = `{wallet="${lower(chain.relayer.address)}"}`;
  expect(ready.get(`relay_wallet_balance_wei${relayer}`)).toBeGreaterThan(0);

  node.intercept(() => new Promise(() => {}));
  const dark = await until(
    stack,
    "the testnet to be away",
    (samples) => samples.get('testnet_source_up{source="chain"}') === 0,
  );
  expect(named(dark, "testnet_wallet_balance_wei")).toEqual([]);
  expect(dark.get('relay_source_up{source="chain"}')).toBe(1);
  expect(dark.get(`relay_wallet_balance_wei${relayer}`)).toBeGreaterThan(0);
  expect(dark.get("faucet_claims_today")).toBe(0);
  expect(dark.has('testnet_errands_waiting{purpose="faucet_usdc"}')).toBe(true);
});

test("without a testnet there is nothing of it", async () => {
  const samples = await scrape(await startStack({ chain, services: ["writer"] }));
  expect(samples.size).toBeGreaterThan(0);
  for (const start of ["testnet_", "sandbox_", "faucet_"]) expect(named(samples, start)).toEqual([]);
});
