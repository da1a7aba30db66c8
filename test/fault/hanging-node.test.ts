/**
 * The node accepts calls, hangs until the writer gives its wallets back, and then executes all of them. What this proves: meanwhile
 * the api answers within its timeouts and with its documented codes, and afterwards each key buys one policy.
 */
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { expectNoFalseFailures, expectNoNonceGaps, expectOnePolicyPerKey } from "./support/assertions.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import { type PurchaseSetup, planPurchases, startPurchaseSetup } from "./support/purchase-setup.ts";

const WAIT_MS = 5000;
/** The wait for the transaction, the timeouts of the checks before it, and a margin for a busy machine. */
const MAX_ANSWER_MS = WAIT_MS + 15_000;

let setup: PurchaseSetup;
beforeAll(async () => {
  setup = await startPurchaseSetup({
    buyers: 2,
    apiThroughProxy: true,
    env: { api: { PURCHASE_WAIT_MS: String(WAIT_MS) } },
  });
});

test("the node hangs for twenty seconds: the api answers in time, and each key buys one policy afterwards", async () => {
  const { proxy, stack, buyers, connection } = setup;
  const request = await checkedRequests(stack.apiUrl);
  const buy = async (buyer: number, key: string): Promise<HttpAnswer> => {
    const account = buyers[buyer]?.account.address;
    const begun = performance.now();
    const answer = await request("/api/v1/policies", {
      headers: { ...buyers[buyer]?.headers, "idempotency-key": key },
      body: { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: account },
    });
    expect(performance.now() - begun).toBeLessThan(MAX_ANSWER_MS);
    return answer;
  };

  let wake: () => void = () => {};
  const awake = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let reportHanging: () => void = () => {};
  const hanging = new Promise<void>((resolve) => {
    reportHanging = resolve;
  });
  let hangs = false;
  // The node hangs at the first transaction, and executes the calls from then on when it wakes up.
  proxy.intercept(async (call, forward) => {
    if (call.method === "eth_sendRawTransaction") hangs = true;
    if (!hangs) return forward();
    reportHanging();
    await awake;
    return forward();
  });

  const early = planPurchases(setup, "early", 6);
  const first = Promise.all(early.map(({ buyer, key }) => buy(buyer, key)));
  await hanging;
  // Accepted purchases are pending; purchases that were still being checked are refused.
  const codes = (await first).map((answer) => failure(answer).join(" "));
  expect(new Set([...codes, "503 chain_not_found"])).toEqual(
    new Set(["503 purchase_pending", "503 chain_not_found"]),
  );

  // Purchases are checked against a state that is at most a second old: without a node none is accepted.
  const late = planPurchases(setup, "late", 4);
  for (const answer of await Promise.all(late.map(({ buyer, key }) => buy(buyer, key)))) {
    expect(failure(answer)).toEqual([503, "chain_not_found"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  await waitFor({
    what: "the writer to give its wallets back after twenty seconds without an answer",
    probe: async () =>
      (await connection.sql`select 1 from service.relayer_wallet where lease_owner is not null`).length ===
        0 || undefined,
  });
  wake();
  const purchases = await Promise.all(
    [...early, ...late].map(async (planned) => ({
      planned,
      answers: [await buyWithRetries(() => buy(planned.buyer, planned.key), "impatient")],
    })),
  );
  await expectOnePolicyPerKey(setup, purchases);
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
});
