/** Purchases that are refused for their permits. */
import { expect } from "vitest";
import { isSimulation } from "../../support/ledger.ts";
import { permitBody, signPermit } from "../../support/permit.ts";
import type { Buyer } from "./buyer.ts";
import { newKey, type PurchaseCase } from "./purchase-case.ts";
import type { PurchaseSetup } from "./purchase-setup.ts";

const permitOf = async ({ chain }: PurchaseSetup, { account }: Buyer, nonce?: bigint) =>
  permitBody(
    await signPermit(chain, account, { value: 292_000n, ...(nonce === undefined ? {} : { nonce }) }),
  );

export const permitRefused: readonly PurchaseCase[] = [
  {
    name: "a permit while another one of the buyer is in flight",
    status: 409,
    code: "permit_in_flight",
    policies: 1,
    async send(setup, buyer) {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      setup.writerNode.intercept(async (call, forward) => {
        if (isSimulation(call)) await released;
        return forward();
      });
      const headers = { ...newKey(), prefer: "respond-async" };
      const first = await buyer.buy({ permit: await permitOf(setup, buyer) }, headers);
      expect(first.status, first.text).toBe(202);
      const refused = await buyer.buy({ permit: await permitOf(setup, buyer) });
      release();
      const path = first.headers.get("location") ?? "";
      const state = async () => (await setup.request(path, { headers: buyer.headers })).json;
      await expect.poll(state).toMatchObject({ failure: null, receipt: { ok: true } });
      return refused;
    },
  },
  {
    name: "a permit with a used nonce and no allowance",
    status: 422,
    code: "invalid_permit",
    async send(setup) {
      const buyer = await setup.freshBuyer({ approve: false });
      return buyer.buy({ permit: await permitOf(setup, buyer, 7n) });
    },
  },
];
