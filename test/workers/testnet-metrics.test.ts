/** The writer's metrics of the testnet: wallets, service transactions, sandbox and faucet. */
import { beforeAll, expect, test } from "vitest";
import { lower } from "../../lib/lower.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { startChain, startTestnet, type TestChain } from "../support/chain.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { hasSamples, namesWith, scrapeUntil } from "./support/metrics.ts";

let chain: TestChain;
let testnet: TestChain;

beforeAll(async () => {
  [chain, testnet] = await Promise.all([
    startChain({ blockTime: 1, mixedMining: true }),
    startTestnet({ blockTime: 1, mixedMining: true }),
  ]);
});

test("shows wallets by role and service transactions by purpose, and a testnet outage hides only its own metrics", async () => {
  const node = await startRpcProxy(testnet.url);
  const stack = await startStack({ chain, testnet, testnetRpcUrl: node.url, services: ["writer"] });
  const labels = (role: keyof typeof serviceWallets) =>
    `{wallet="${lower(serviceWallets[role].address)}",role="${role}"}`;

  const roles = ["relayer", "sandbox", "faucet"] as const;
  const ready = await scrapeUntil(
    stack.metricsUrl,
    "the sandbox to be ready and its service transactions to be settled",
    (samples) =>
      hasSamples(samples, {
        sandbox_ready: 1,
        'testnet_source_up{source="chain"}': 1,
        'testnet_source_up{source="ledger"}': 1,
        'relay_source_up{source="chain"}': 1,
        ...Object.fromEntries(roles.map((role) => [`testnet_wallet_in_flight${labels(role)}`, 0])),
      }),
  );
  expect(ready.get(`testnet_wallet_balance_wei${labels("relayer")}`)).toBeGreaterThan(0);
  expect(ready.get(`testnet_wallet_balance_wei${labels("faucet")}`)).toBe(10_000 * 1e18);
  expect(ready.get(`testnet_wallet_balance_wei${labels("sandbox")}`)).toBeGreaterThan(0);
  // The sandbox's wallet was empty: the relayer sent it ether, and it sent its approval itself.
  expect(ready.get(`testnet_wallet_next_nonce${labels("sandbox")}`)).toBeGreaterThan(0);
  expect(ready.get("sandbox_usdc")).toBeGreaterThan(0);
  expect(ready.get("sandbox_allowance_usdc")).toBeGreaterThan(0);
  expect(Object.fromEntries(ready)).toMatchObject({
    'testnet_service_transactions_waiting{purpose="faucet_ether"}': 0,
    'testnet_service_transactions_failed{purpose="sandbox_approval"}': 0,
    testnet_oldest_service_transaction_seconds: 0,
    faucet_claims_today: 0,
    faucet_claims_open: 0,
    testnet_accepted_waiting: 0,
  });
  const relayer = `{wallet="${lower(chain.relayer.address)}"}`;
  expect(ready.get(`relay_wallet_balance_wei${relayer}`)).toBeGreaterThan(0);

  node.intercept(() => new Promise(() => {}));
  const withoutTestnet = await scrapeUntil(
    stack.metricsUrl,
    "the testnet to be unavailable",
    (samples) => samples.get('testnet_source_up{source="chain"}') === 0,
  );
  expect(namesWith(withoutTestnet, "testnet_wallet_balance_wei")).toEqual([]);
  expect(withoutTestnet.get('relay_source_up{source="chain"}')).toBe(1);
  expect(withoutTestnet.get(`relay_wallet_balance_wei${relayer}`)).toBeGreaterThan(0);
  expect(withoutTestnet.get("faucet_claims_today")).toBe(0);
  expect(withoutTestnet.has('testnet_service_transactions_waiting{purpose="faucet_usdc"}')).toBe(true);
});
