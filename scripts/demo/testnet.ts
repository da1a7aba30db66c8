/** Tries sandbox and faucet on the testnet, and checks their results on the chain. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createPublicClient,
  erc20Abi,
  formatEther,
  formatUnits,
  type Hex,
  isAddressEqual,
  parseEventLogs,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { nodeTransport } from "../../lib/chain/node-transport.ts";
import { type Answer, type Api, type Call, openApiFromOtherAddress } from "./api-client.ts";

/** The most repetitions of a call while its result is pending. */
const repetitions = 5;

const hex = z.templateLiteral(["0x", z.string()]);
const info = z.object({ enabled: z.boolean(), chainId: z.int().nullable() });
const purchase = z.object({ policyId: z.string(), buyer: hex, txHash: hex });
const grant = z.object({
  ethTxHash: hex,
  usdcTxHash: hex,
  ethAmount: z.string(),
  usdcAmount: z.string(),
  mockUsdcAddress: hex,
});
const refusal = z.object({ code: z.string(), message: z.string() });
/** The result is not known yet; the same call returns it later. */
const pending = ["purchase_pending", "claim_pending"];
/** Limits of one address or of all users together. */
const limitCodes = ["sandbox_cap_exceeded", "ip_rate_limited", "daily_cap_reached"];

const codeOf = ({ body }: Answer) => refusal.safeParse(body).data?.code ?? "";

/** Calls until the result is known. Prints a reached limit and returns undefined. */
async function resultOf<T>(
  { ask }: Api,
  path: string,
  shape: z.ZodType<T>,
  call: Call,
): Promise<T | undefined> {
  let answer = await ask(path, call);
  for (let again = 0; again < repetitions && pending.includes(codeOf(answer)); again += 1) {
    await sleep(answer.retryAfter * 1000);
    answer = await ask(path, call);
  }
  if (answer.status === 200) return shape.parse(answer.body);
  if (!limitCodes.includes(codeOf(answer))) throw new Error(`POST ${path} returned ${answer.status}`);
  console.log(`\n  A limit was reached, which is no fault. Try again in ${answer.retryAfter} s.`);
  return undefined;
}

function openTestnet(rpcUrl: string) {
  const client = createPublicClient({ transport: nodeTransport(rpcUrl) });
  /** @throws when the transaction is not mined, or has reverted. */
  async function succeeded(hash: Hex) {
    const receipt = await client.getTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`${hash} reverted`);
    return receipt;
  }
  return { client, succeeded };
}

type Testnet = ReturnType<typeof openTestnet>;

async function trySandbox(api: Api, { succeeded }: Testnet): Promise<void> {
  const bought = await resultOf(api, "/sandbox/try", purchase, {
    method: "POST",
    headers: { "idempotency-key": crypto.randomUUID() },
    body: {},
  });
  if (!bought) return;
  const { logs, blockNumber } = await succeeded(bought.txHash);
  const found = parseEventLogs({ abi: coverRouterAbi, eventName: "PolicyPurchased", logs }).some(
    ({ args }) => args.policyId === BigInt(bought.policyId) && isAddressEqual(args.buyer, bought.buyer),
  );
  if (!found) throw new Error(`${bought.txHash} bought no policy ${bought.policyId} for ${bought.buyer}`);
  console.log(`\n⛓ the testnet has policy ${bought.policyId} of ${bought.buyer} in block ${blockNumber}`);
}

async function tryFaucet(api: Api, { client, succeeded }: Testnet): Promise<void> {
  const { enabled } = await api.call("/api/v1/faucet/status", z.object({ enabled: z.boolean() }));
  if (!enabled) {
    console.log("\n  This stack has no faucet; skipped.");
    return;
  }
  const wallet = privateKeyToAddress(generatePrivateKey());
  const call = { method: "POST", body: { wallet } } as const;
  const granted = await resultOf(api, "/api/v1/faucet/claim", grant, call);
  if (!granted) return;
  await Promise.all([succeeded(granted.ethTxHash), succeeded(granted.usdcTxHash)]);
  const [wei, usdc] = await Promise.all([
    client.getBalance({ address: wallet }),
    client.readContract({
      address: granted.mockUsdcAddress,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [wallet],
    }),
  ]);
  const [ether, dollars] = [formatEther(wei), formatUnits(usdc, 6)];
  console.log(`\n⛓ on the testnet the new wallet ${wallet} owns ${ether} ETH and ${dollars} mock USDC`);
  if (ether !== granted.ethAmount || dollars !== granted.usdcAmount) {
    throw new Error(`the faucet reported a grant of ${granted.ethAmount} ETH and ${granted.usdcAmount} USDC`);
  }
}

/** @throws when the chain does not match a response, or the RPC is not the testnet's. */
export async function tryTestnet({ apiUrl, rpcUrl }: { apiUrl: string; rpcUrl: string }): Promise<void> {
  const api = await openApiFromOtherAddress(apiUrl);
  const { enabled, chainId } = await api.call("/sandbox/info", info);
  if (!enabled) {
    console.log("\n  This stack has no sandbox; the testnet is skipped.");
    return;
  }
  const testnet = openTestnet(rpcUrl);
  const actual = await testnet.client.getChainId();
  if (actual !== chainId) {
    throw new Error(
      `${rpcUrl} is chain ${actual}, not the testnet ${chainId} of ${apiUrl}; set TESTNET_RPC_URL`,
    );
  }
  await trySandbox(api, testnet);
  await tryFaucet(api, testnet);
  console.log("\n✓ The testnet part is done.");
}
