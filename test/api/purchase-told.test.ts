/** Who has read what became of a purchase has been told: the same wish, sent again, is another one. */
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { waitFor } from "../../lib/local/wait.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { createBuyer } from "./support/buyer.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"] });
});

test("a purchase whose owner has read its receipt is not joined by the same call without a key", async () => {
  const buyer = await createBuyer(api, anvilAccount(2));
  const prefer = { prefer: "respond-async" };
  const first = await buyer.buy({}, prefer);
  const address = first.headers.get("location") ?? "";
  await waitFor({
    what: "the receipt",
    probe: async () => {
      const { text } = await api.request(address, { headers: buyer.headers });
      return text.includes('"receipt":{') ? true : undefined;
    },
    timeoutMs: 20_000,
  });
  const second = await buyer.buy({}, prefer);
  expect(second.headers.get("location")).not.toBe(address);
  await waitFor({
    what: "two policies",
    probe: async () =>
      (await policiesOnChain(api.chain, buyer.account.address)).length === 2 ? true : undefined,
    timeoutMs: 20_000,
  });
});

test("a purchase that its owner has only seen on its way is joined", async () => {
  const buyer = await createBuyer(api, anvilAccount(3));
  const prefer = { prefer: "respond-async" };
  await api.chain.client.setAutomine(false);
  const first = await buyer.buy({}, prefer);
  const address = first.headers.get("location") ?? "";
  await api.request(address, { headers: buyer.headers });
  const second = await buyer.buy({}, prefer);
  await api.chain.client.setAutomine(true);
  expect(second.headers.get("location")).toBe(address);
});
