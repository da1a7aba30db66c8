/** Random requests of all prepared actions. What this proves: each `data` decodes to the stated call of the stated contract. */
import fc from "fast-check";
import { type Abi, decodeFunctionData } from "viem";
import { beforeAll, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { upkeepCalldata } from "../../lib/chain/trigger.ts";
import { productNames } from "../../lib/products.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import { type Action, type PreparedAnswer, prepare } from "./support/prepare.ts";
import { alice, bob, owner, type ReportSetup, startReports } from "./support/reports.ts";

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const RUNS = 10;
const btc1h = termsOf("FLASHBTC1H-001");

const abis: Readonly<Record<string, Abi>> = {
  usdc: mockUsdcAbi,
  claimBond: claimBondAbi,
  marketplace: bondMarketplaceAbi,
  bondVault: bondVaultAbi,
  coverRouter: coverRouterAbi,
  shieldKeeper: shieldKeeperAbi,
};

let setup: ReportSetup;
/** A policy that can be observed. */
let duePolicy: string;
beforeAll(async () => {
  setup = await startReports();
  const { protocol } = setup;
  const { policyId } = await act.purchase(protocol, bob, btc1h, usdc(100));
  const { start } = await act.coverOf(protocol, btc1h, policyId);
  const low = await act.triggerPrice(protocol, btc1h, policyId);
  await act.nextBlockAt(protocol, start + 300n);
  await act.pushPrice(protocol, owner, "BTC", low);
  duePolicy = String(policyId);
});

const asJson = (value: unknown) => (typeof value === "bigint" ? String(value) : value);

/** Checks every step, and the calls of EIP-5792. */
function checkCalls({ steps, sendCalls }: PreparedAnswer): void {
  const contracts: Readonly<Record<string, string>> = setup.chain.deployment.contracts;
  for (const { call, to, data, value } of steps) {
    const abi = abis[call.contract];
    if (!abi) throw new Error(`no step calls ${call.contract}`);
    const { functionName, args = [] } = decodeFunctionData({ abi, data });
    expect([to, value, functionName, args.map(asJson)]).toEqual([
      contracts[call.contract],
      "0",
      call.function,
      call.args,
    ]);
  }
  const open = steps.filter(({ status, optional }) => status === "incomplete" && !optional);
  expect(sendCalls.calls).toEqual(open.map(({ to, data }) => ({ to, data, value: "0x0" })));
}

const uint = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 10n }));
const text = uint.map(String);
const wallet = fc.oneof(
  fc.constantFrom(alice.address, bob.address),
  fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }).map((n) => `0x${n.toString(16).padStart(40, "0")}`),
);
const epoch = () => fc.oneof(fc.constantFrom(String(setup.matured), String(setup.fresh)), text);
const listingId = fc.constantFrom(..."2345".split(""));

/** Requests of each action, and the arguments that its own call must have; undefined where the service finds them. */
const requests = (): Record<Action, fc.Arbitrary<Record<string, string>>> => ({
  redeem: fc.record({ from: wallet, epochId: epoch(), usdAmount: text }),
  list: fc.record({ from: wallet, epochId: epoch(), amount: text, totalPriceUsdc: text }),
  buy: fc.record({ from: wallet, listingId }),
  cancel: fc.record({ from: wallet, listingId }),
  withdraw: fc.record({ from: wallet }),
  trigger: fc.record({
    from: wallet,
    productId: fc.constant(btc1h.productId),
    policyId: fc.constant(duePolicy),
  }),
  purchase: fc.record({
    from: wallet,
    productName: fc.constantFrom(...productNames),
    coverageAmount: text,
  }),
});

test.each(["redeem", "list", "buy", "cancel", "withdraw", "trigger", "purchase"] as const)(
  `%s: each data decodes to the stated call (FUZZ_SEED=${SEED})`,
  async (action) => {
    await fc.assert(
      fc.asyncProperty(requests()[action], async (body) => {
        const answer = await prepare(setup, action, body);
        checkCalls(answer);
        const own = answer.steps.find(({ id }) => id === action);
        expect(own?.status).toBe("incomplete");
        if (action === "trigger") {
          expect(own?.data).toBe(upkeepCalldata(btc1h.productId, [BigInt(duePolicy)]));
          return;
        }
        // The action's own call has the request's integers.
        const { from: _, productName: __, ...fields } = body;
        for (const value of Object.values(fields)) expect(own?.call.args).toContain(value);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
);
