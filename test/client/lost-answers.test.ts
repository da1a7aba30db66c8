/**
 * Purchases through a proxy that loses one answer in five, delays, cuts, and answers 429 and 503 itself. What this proves, checked
 * on the chain: as many policies are bought as were wanted. `CLIENT_PURCHASES` sets how many.
 */
import { createWalletClient, http, type LocalAccount, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import {
  type CoverClient,
  createCoverClient,
  isRetryable,
  type PendingPurchase,
  type Receipt,
  viemWallet,
} from "../../client/index.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import { approveUsdc, mintUsdc, openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { startStack } from "../support/stack.ts";
import { type FaultyProxy, startFaultyProxy } from "./support/faulty-proxy.ts";

const WANTED = Number(process.env.CLIENT_PURCHASES || 100);
/** Half of them have approved the router, the others sign a permit for each purchase. */
const BUYERS = 10;
const SEED = 19;
const order = { product: "FLASHBTC1H-001", coverageAmount: parseUnits("100", 6) };

type Buyer = { readonly account: LocalAccount; readonly cover: CoverClient };

let chain: TestChain;
let proxy: FaultyProxy;
const buyers: Buyer[] = [];

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  const stack = await startStack({ chain, services: ["api", "writer"] });
  proxy = await startFaultyProxy(stack.apiUrl, SEED);
  const protocol = openProtocol(chain.deployment, chain.url);
  for (let n = 0; n < BUYERS; n += 1) {
    const approves = n % 2 === 0;
    const account = approves ? anvilAccount(3 + n / 2) : privateKeyToAccount(generatePrivateKey());
    await mintUsdc(protocol, chain.owner, account.address, parseUnits("1000000", 6));
    if (approves) await approveUsdc(protocol, account, chain.deployment.contracts.coverRouter);
    const wallet = viemWallet(createWalletClient({ account, transport: http(chain.url) }));
    const retries = { delaysMs: [20, 50, 100, 200, 400, 800], longestWaitMs: 60_000 };
    const guest = createCoverClient({ baseUrl: proxy.url, wallet, retries, pollMs: 200 });
    const { apiKey } = await guest.onboard(wallet);
    buyers.push({ account, cover: guest.with({ apiKey }) });
  }
  proxy.start();
});

/** Orders once more under the same key while nobody knows, as a program does that must have its policy. */
async function orderSurely(cover: CoverClient): Promise<PendingPurchase> {
  let idempotencyKey: string | undefined;
  for (;;) {
    try {
      return await cover.buy({ ...order, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
    } catch (error) {
      if (!isRetryable(error)) throw error;
      // Without a key the order was not sent yet.
      idempotencyKey ??= error.idempotencyKey;
    }
  }
}

async function waitSurely(pending: PendingPurchase): Promise<Receipt> {
  for (;;) {
    try {
      return await pending.wait();
    } catch (error) {
      if (!isRetryable(error)) throw error;
    }
  }
}

async function buySeveral({ cover }: Buyer, count: number): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  while (receipts.length < count) receipts.push(await waitSurely(await orderSurely(cover)));
  return receipts;
}

test(`${WANTED} purchases wanted, one answer in five lost: ${WANTED} policies on the chain`, async () => {
  const each = Math.ceil(WANTED / BUYERS);
  const receipts = await Promise.all(buyers.map((buyer) => buySeveral(buyer, each)));
  for (const [n, { account }] of buyers.entries()) {
    const bought = (await policiesOnChain(chain, account.address)).map(({ args }) => args.policyId).sort();
    expect(bought).toHaveLength(each);
    expect(receipts[n]?.map(({ policyId }) => policyId).sort()).toEqual(bought);
  }
  for (const fault of ["lost answer", "lost request", "cut answer", "429", "503"] as const)
    expect(proxy.counts.get(fault), fault).toBeGreaterThan(0);
  expect(proxy.counts.get("lost answer")).toBeGreaterThan(WANTED / 5);
}, 3_600_000);
