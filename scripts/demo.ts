/**
 * `npm run demo` plays against a running stack and prints each call and its answer. First a buyer's journey: a key, a
 * webhook, mock USDC, an approval, a quote, a purchase, the policy, the index, the activity feed, the delivered event.
 * Then the testnet: a purchase of the sandbox and a grant of the faucet.
 *
 * `API_URL`, `RPC_URL` and `TESTNET_RPC_URL` name another stack than the one of `npm run dev`; the main chain must be a
 * local one, since the demo mints its own money there, and the stack must run on this machine, whose loopback it calls.
 */
import { DEV_ADMIN_TOKEN } from "../lib/config.ts";
import { openApi } from "./demo/call.ts";
import { playJourney } from "./demo/journey.ts";
import { startReceiver } from "./demo/receiver.ts";
import { tryTestnet } from "./demo/testnet.ts";

const apiUrl = process.env.API_URL || "http://127.0.0.1:8080";
const rpcUrl = process.env.RPC_URL || "http://127.0.0.1:8545";
const testnetRpcUrl = process.env.TESTNET_RPC_URL || "http://127.0.0.1:8546";
const adminToken = process.env.ADMIN_TOKEN || DEV_ADMIN_TOKEN;

const receiver = await startReceiver();
try {
  await playJourney({ api: openApi(apiUrl), apiUrl, rpcUrl, adminToken, receiver });
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
