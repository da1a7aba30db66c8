/** A purchase without an Idempotency-Key whose caller disconnected before the response. */
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer } from "./support/buyer.ts";

let api: TestApi;
let buyer: Buyer;
beforeAll(async () => {
  // At this level the api logs each finished call.
  api = await startApi({ services: ["api", "writer"], env: { api: { LOG_LEVEL: "debug" } } });
  buyer = await createBuyer(api, anvilAccount(2));
});

const policies = async () => (await policiesOnChain(api.chain, buyer.account.address)).length;

test("a call repeated after a disconnect gets the policy already bought; the same call after that buys another", async () => {
  const body = { productName: "FLASHETH1H-001", coverageAmount: "100000000", buyer: buyer.account.address };
  await api.chain.client.setAutomine(false);
  const controller = new AbortController();
  const call = fetch(`${api.stack.apiUrl}/api/v1/policies`, {
    method: "POST",
    signal: controller.signal,
    headers: { ...buyer.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  }).then(
    ({ status }) => status,
    () => "disconnected",
  );
  await waitFor({
    what: "the transaction to be pending",
    probe: async () => {
      const block = await api.chain.client.getBlock({ blockTag: "pending" });
      return block.transactions.length > 0 || undefined;
    },
  });
  controller.abort();
  expect(await call).toBe("disconnected");
  await api.chain.client.setAutomine(true);
  await api.chain.client.mine({ blocks: 1 });
  await waitFor({
    what: "the policy to be on the chain",
    probe: async () => (await policies()) === 1 || undefined,
  });
  await waitFor({
    what: "the api to finish the disconnected call",
    probe: () =>
      api.stack
        .output("api")
        .split("\n")
        .some((line) => line.includes('"POST"') && line.includes('"/api/v1/policies"')) || undefined,
  });

  expect((await buyer.buy(body)).status).toBe(200);
  expect(await policies()).toBe(1);
  expect((await buyer.buy(body)).status).toBe(201);
  expect(await policies()).toBe(2);
});
