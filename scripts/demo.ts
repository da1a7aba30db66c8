/**
 * `npm run demo` calls a running stack and prints each call and its response. First it buys a policy on the main chain: an
 * API key, a webhook, mock USDC, an approval, a quote, a purchase, the policy, the index, the activity feed and the
 * delivered event. Then it tries the testnet: a sandbox purchase and a faucet grant.
 *
 * `API_URL`, `RPC_URL` and `TESTNET_RPC_URL` select another stack than that of `npm run dev`. It must run on this machine,
 * because its webhook calls the loopback address, with a local main chain, because the demo mints USDC there.
 */
import { DEV_ADMIN_TOKEN } from "../lib/off-local.ts";
import { openApi } from "./demo/api-client.ts";
import { buyPolicy } from "./demo/buy-policy.ts";
import { startReceiver } from "./demo/receiver.ts";
import { tryTestnet } from "./demo/testnet.ts";

const apiUrl = process.env.API_URL || "http://127.0.0.1:8080";
const rpcUrl = process.env.RPC_URL || "http://127.0.0.1:8545";
const testnetRpcUrl = process.env.TESTNET_RPC_URL || "http://127.0.0.1:8546";
const adminToken = process.env.ADMIN_TOKEN || DEV_ADMIN_TOKEN;

const receiver = await startReceiver();
try {
  await buyPolicy({ api: openApi(apiUrl), apiUrl, rpcUrl, adminToken, receiver });
  await tryTestnet({ apiUrl, rpcUrl: testnetRpcUrl });
} catch (error) {
  console.error(`\n✗ ${error instanceof Error ? error.message : error}`);
  console.error(
    `Is the stack running? \`npm run dev\` starts it; API_URL is ${apiUrl}, RPC_URL ${rpcUrl}, TESTNET_RPC_URL ${testnetRpcUrl}.`,
  );
  process.exitCode = 1;
} finally {
  receiver.close();
}
