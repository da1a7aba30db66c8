/**
 * `npm run demo` calls a running stack and plays a buyer's whole story. It prints each call and its response, and what changed
 * on the chain. On the main chain: a quote, an API key, a webhook, a purchase, a fall of the price, the keeper's payment, a
 * bond, its listing, and its sale to another wallet. Then it tries the testnet: a sandbox purchase and a faucet grant.
 *
 * `API_URL`, `RPC_URL` and `TESTNET_RPC_URL` select another stack than that of `npm run dev`. It must run on this machine,
 * because its webhook calls the loopback address, with a local main chain, because the demo mints USDC and moves a price there.
 */
import { anvilAccount } from "../lib/chain/client.ts";
import { errorText } from "../lib/log.ts";
import { DEV_ADMIN_TOKEN } from "../lib/off-local.ts";
import { openApi } from "./demo/api-client.ts";
import { buyPolicy, readPremium } from "./demo/buy-policy.ts";
import { heading } from "./demo/heading.ts";
import { withKey } from "./demo/keys.ts";
import { letPriceFall } from "./demo/price-fall.ts";
import { type Receiver, startReceiver } from "./demo/receiver.ts";
import { sellBond } from "./demo/sell-bond.ts";
import { tryTestnet } from "./demo/testnet.ts";
import { findStack, openWallet, type StackUrls, stackUrls } from "./dev/running-stack.ts";

const urls = stackUrls(process.env);

/** Buys a policy, lets the keeper pay it, and sells the bond. */
async function playStory({ apiUrl, rpcUrl, ...others }: StackUrls, receiver: Receiver): Promise<void> {
  const api = openApi(apiUrl);
  const adminToken = process.env.ADMIN_TOKEN || DEV_ADMIN_TOKEN;
  const { contracts } = await findStack(api, { apiUrl, rpcUrl, ...others });
  const demo = { api, contracts, adminToken, receiver };
  // Two of anvil's accounts: on the main chain no process of the stack sends from them.
  const [buyer, another] = [openWallet(rpcUrl, anvilAccount(9)), openWallet(rpcUrl, anvilAccount(7))];

  heading("A quote");
  const premium = await readPremium(api);
  heading("A key");
  await withKey(api, adminToken, buyer.account.address, async (auth) => {
    heading("A purchase");
    const policy = await buyPolicy(demo, buyer, auth, premium);
    heading("The price falls, and the keeper pays the policy");
    const bond = await letPriceFall(demo, buyer, policy);
    heading("The bond is listed, and sold");
    await sellBond(demo, buyer, auth, another, bond);
  });
}

const receiver = await startReceiver();
try {
  await playStory(urls, receiver);
  heading("The testnet: sandbox and faucet");
  await tryTestnet({ apiUrl: urls.apiUrl, rpcUrl: urls.testnetRpcUrl });
} catch (error) {
  console.error(`\n✗ ${errorText(error)}`);
  process.exitCode = 1;
} finally {
  receiver.close();
}
