/** What the testnet gives away: a policy of the sandbox and a grant of the faucet, looked up on the chain itself. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createPublicClient,
  erc20Abi,
  formatEther,
  formatUnits,
  type Hex,
  http,
  isAddressEqual,
  parseEventLogs,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { type Answer, type Api, type Call, openApiFromElsewhere } from "./call.ts";

/** Where an answer says that its outcome is on its way, the same call is made again so many times. */
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
/** The service knows what it has promised, and tells the outcome to whoever asks again. */
const pending = ["purchase_pending", "claim_pending"];
/** What an address, or everybody together, may have of what costs nothing. */
const usedUp = ["sandbox_cap_exceeded", "ip_rate_limited", "daily_cap_reached"];

const codeOf = ({ body }: Answer) => refusal.safeParse(body).data?.code ?? "";

/** The answer to a call whose outcome may take its time; undefined when a limit has been reached, which it prints. */
async function outcomeOf<T>(
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
  if (!usedUp.includes(codeOf(answer))) throw new Error(`POST ${path} was answered with ${answer.status}`);
  console.log(`\n  That is a limit, and no fault: it can be asked for again in ${answer.retryAfter} s.`);
  return undefined;
}

function openTestnet(rpcUrl: string) {
  const client = createPublicClient({ transport: http(rpcUrl) });
  /** @throws when the transaction is in no block, or has reverted. */
  async function succeeded(hash: Hex) {
    const receipt = await client.getTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`${hash} reverted`);
    return receipt;
  }
  return { client, succeeded };
}

type Testnet = ReturnType<typeof openTestnet>;

async function trySandbox(api: Api, { succeeded }: Testnet): Promise<void> {
  const bought = await outcomeOf(api, "/sandbox/try", purchase, {
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
    console.log("\n  This stack has no faucet; it is not tried.");
    return;
  }
  const wallet = privateKeyToAddress(generatePrivateKey());
  const call = { method: "POST", body: { wallet } } as const;
  const granted = await outcomeOf(api, "/api/v1/faucet/claim", grant, call);
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
  console.log(`\n⛓ on the testnet ${wallet}, which is new, owns ${ether} ETH and ${dollars} mock USDC`);
  if (ether !== granted.ethAmount || dollars !== granted.usdcAmount) {
    throw new Error(`the faucet said that it gave ${granted.ethAmount} ETH and ${granted.usdcAmount} USDC`);
  }
}

/** Tries both. @throws when they do not do what they say, or the RPC is not the testnet's. */
export async function tryTestnet({ apiUrl, rpcUrl }: { apiUrl: string; rpcUrl: string }): Promise<void> {
  const api = await openApiFromElsewhere(apiUrl);
  const { enabled, chainId } = await api.call("/sandbox/info", info);
  if (!enabled) {
    console.log("\n  This stack has no sandbox; the testnet is not tried.");
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
  console.log("\n✓ The testnet was tried.");
}
