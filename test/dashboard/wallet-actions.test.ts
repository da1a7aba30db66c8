/**
 * What this proves: whoever has a browser wallet buys cover, claims it, sells, buys and redeems bonds by clicks alone, sees each
 * step before the wallet is asked for it, and can go on after a refusal.
 */
import { beforeAll, expect } from "vitest";
import { z } from "zod";
import { amountWithUnit } from "../../dashboard/format/amount.ts";
import { OBSERVATION_INTERVAL, OBSERVATIONS } from "../../lib/price-rules.ts";
import { productIdOf } from "../../lib/products.ts";
import { startApi, type TestApi } from "../api/support/api.ts";
import { answersCaughtUp } from "../api/support/caught-up.ts";
import { bondsOf, usdcOf } from "../api/support/prepare.ts";
import { type OpenPage, testWithBrowser } from "../support/chromium.ts";
import { passDwell } from "../support/falls.ts";
import { newBuyer, policiesOnChain } from "../support/ledger.ts";
import { hour } from "../support/policy-fates.ts";
import * as act from "../support/protocol-actions.ts";
import { createScriptedWallet, type ScriptedWallet } from "../support/scripted-wallet.ts";
import {
  askForCover,
  connect,
  dialogOf,
  finish,
  openWithWallet,
  press,
  pressRow,
  says,
} from "./support/browser-wallet.ts";
import { expectAccessible } from "./support/dashboard.ts";
import { testRefusals } from "./wallet/refusals.ts";

/** The API may say that it needs a moment, and the page asks again. */
const busy = /status of 429/;

let api: TestApi;
let alice: { wallet: ScriptedWallet; opened: OpenPage };
let bob: { wallet: ScriptedWallet; opened: OpenPage };

/** Somebody with ether and a million USDC, who has approved nothing, and connects a wallet. */
async function newcomer() {
  const wallet = createScriptedWallet(api.chain, await newBuyer(api.chain, { approve: false }));
  const opened = await openWithWallet(api.stack.apiUrl, "/wallet", wallet);
  await connect(opened, wallet);
  return { wallet, opened };
}

beforeAll(async () => {
  api = await startApi({ services: ["indexer", "api", "writer"] });
  await act.refreshFeeds(api.protocol, api.chain.owner);
  await answersCaughtUp(api);
});

const bonds = ({ wallet }: { wallet: ScriptedWallet }, epochId: bigint) =>
  bondsOf(api.protocol, wallet.account.address, epochId);

/** The policy of alice. */
let policyId: bigint;
/** The only epoch: bonds of this test are all issued within a few minutes, and the first tells which. */
let epochId: bigint;

testRefusals(() => api);

testWithBrowser(
  "buy: the wallet signs a message and a permit, once each was shown, and sends nothing",
  async () => {
    alice = await newcomer();
    const { wallet, opened } = alice;
    const quote = z
      .object({ premium: z.string() })
      .parse(
        (await api.request(`/products/${productIdOf("FLASHBTC1H-001")}/quote?coverageAmount=1000000000`))
          .json,
      );
    await askForCover(opened, 1000);
    await says(opened, "it costs nothing and moves nothing");
    await dialogOf(opened).getByText("The message", { exact: true }).click();
    await says(opened, `${new URL(api.stack.apiUrl).host} wants you to sign in with your Ethereum account`);
    expect(wallet.asked).toEqual(["eth_requestAccounts"]);
    await press(opened, "Sign the message");
    await says(opened, /^Buys 1000 USDC of cover by FLASHBTC1H-001/);
    await says(opened, /Lets the cover router take .* and no more, within an hour/);
    await dialogOf(opened).getByText("What exactly is signed").click();
    await says(opened, amountWithUnit(quote.premium, "usdc"));
    expect(wallet.asked).toEqual(["eth_requestAccounts", "personal_sign"]);
    await expectAccessible(opened);
    await press(opened, "Sign in the wallet");
    await says(opened, /Bought policy \d+/);
    const [bought] = await policiesOnChain(api.chain, wallet.account.address);
    policyId = bought?.args.policyId ?? 0n;
    await says(opened, `Bought policy ${policyId}`);
    // The key is in the page's memory alone.
    const kept = "JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])";
    expect(await opened.page.evaluate(kept)).toBe('[{},{},"",null]');
    expect(opened.requests().join("\n")).not.toMatch(/lk_/);
    await finish(opened);
    expect(wallet.asked).toEqual(["eth_requestAccounts", "personal_sign", "eth_signTypedData_v4"]);
    const { address } = wallet.account;
    expect(await api.chain.client.getTransactionCount({ address })).toBe(0);
    expect(await usdcOf(api.protocol, address)).toBe(1_000_000_000_000n - BigInt(quote.premium));
    await opened.page.getByText("This page holds the API key").waitFor();
  },
);

testWithBrowser(
  "claim: what an active policy lacks is said, and once the price has fallen three observations pay it",
  async () => {
    const { wallet, opened } = alice;
    await pressRow(opened, `Check: Claim BTC 1 h, ${policyId}`);
    await says(opened, /This cannot be done now\. The price, .*, is above the trigger price/);
    await press(opened, "Close");
    const low = await act.triggerPrice(api.protocol, hour, policyId);
    await passDwell(api.protocol);
    for (let observation = 1; observation <= OBSERVATIONS; observation += 1) {
      await act.pushPrice(api.protocol, api.chain.owner, "BTC", low);
      await pressRow(opened, `Claim: Claim BTC 1 h, ${policyId}`);
      await says(opened, /the third observation pays its buyer .* bonds of 800 USDC/);
      await press(opened, "Sign in the wallet");
      await finish(opened);
      expect(wallet.asked.at(-1)).toBe("eth_sendTransaction");
      await act.timeTravel(api.protocol, BigInt(OBSERVATION_INTERVAL));
    }
    await opened.page.getByRole("row", { name: `BTC 1 h, ${policyId} Paid` }).waitFor();
    const { bonds: held } = z
      .object({ bonds: z.array(z.object({ epochId: z.string() })) })
      .parse((await api.request(`/api/v1/bonds/by-owner/${wallet.account.address}`)).json);
    epochId = BigInt(held[0]?.epochId ?? 0);
    expect(await bonds(alice, epochId)).toBe(800n);
  },
);

/** Lists bonds of alice by the page. @param approves whether the marketplace has to be allowed first */
async function sell(amount: number, price: number, { approves }: { approves: boolean }): Promise<void> {
  const { opened } = alice;
  await pressRow(opened, "Sell: ");
  await dialogOf(opened).getByLabel("Bonds").fill(String(amount));
  await dialogOf(opened).getByLabel("Price").fill(String(price));
  await press(opened, "Continue");
  if (approves) {
    await says(opened, /^Now Lets the marketplace take bonds of the wallet/);
    await press(opened, "Sign in the wallet");
  }
  await says(opened, new RegExp(`^Now Lists ${amount} bonds of ${epochId} for ${price} USDC`));
  await press(opened, "Sign in the wallet");
  await finish(opened);
}

testWithBrowser(
  "list: an amount that is none is explained, then approval and listing are signed",
  async () => {
    const { opened } = alice;
    await pressRow(opened, "Sell: ");
    await dialogOf(opened).getByLabel("Price").fill("250,5");
    await press(opened, "Continue");
    await says(opened, "Write digits and one point, such as 1234.50.");
    await press(opened, "Close");
    await sell(300, 250, { approves: true });
    await opened.page.getByRole("button", { name: "Cancel: Cancel listing 0" }).waitFor();
    expect(await bonds(alice, epochId)).toBe(500n);
  },
);

testWithBrowser("another wallet buys the listing, and its seller withdraws the price", async () => {
  bob = await newcomer();
  const { opened } = bob;
  const before = await usdcOf(api.protocol, alice.wallet.account.address);
  await pressRow(opened, "Buy: Buy listing 0");
  await says(opened, /for 253\.75 USDC: 250 USDC and the buyer's fee of 3\.75 USDC/);
  await says(opened, /^Now Lets the marketplace take 253\.75 USDC of the wallet, and no more/);
  await press(opened, "Sign in the wallet");
  await says(opened, /^Now Buys listing 0/);
  await press(opened, "Sign in the wallet");
  await finish(opened);
  expect(await bonds(bob, epochId)).toBe(300n);
  await alice.opened.page.getByText("The marketplace holds 246.25 USDC from sales of this wallet.").waitFor();
  await pressRow(alice.opened, "Withdraw: Withdraw proceeds");
  await says(alice.opened, /^Now Withdraws 246\.25 USDC that the wallet's sales have brought/);
  await press(alice.opened, "Sign in the wallet");
  await finish(alice.opened);
  expect(await usdcOf(api.protocol, alice.wallet.account.address)).toBe(before + 246_250_000n);
  expect(bob.opened.faults(busy)).toEqual([]);
});

testWithBrowser("cancel: while it waits for its block the dialog may be closed, and goes on", async () => {
  const { opened } = alice;
  await sell(100, 90, { approves: false });
  await pressRow(opened, "Cancel: Cancel listing 1");
  await says(opened, /^Now Cancels listing 1/);
  await api.chain.client.setAutomine(false);
  await press(opened, "Sign in the wallet");
  await says(opened, /Sent, waiting for its block/);
  await press(opened, "Close");
  await opened.page.getByRole("button", { name: "Under way: Cancel listing 1" }).waitFor();
  expect(await bonds(alice, epochId)).toBe(400n);
  await api.chain.client.setAutomine(true);
  await api.chain.client.mine({ blocks: 1 });
  await opened.page.getByRole("button", { name: "Under way: Cancel listing 1" }).click();
  await finish(opened);
  expect(await bonds(alice, epochId)).toBe(500n);
});

testWithBrowser("a listing that somebody buys first reverts, and the page says why", async () => {
  const { opened } = bob;
  await sell(50, 40, { approves: false });
  await pressRow(opened, "Buy: Buy listing 2");
  await press(opened, "Sign in the wallet");
  await says(opened, /^Now Buys listing 2/);
  const { owner, deployment } = api.chain;
  await act.mintUsdc(api.protocol, owner, owner.address, 100_000_000n);
  await act.approveUsdc(api.protocol, owner, deployment.contracts.marketplace);
  await act.buyListing(api.protocol, owner, 2n);
  await press(opened, "Sign in the wallet");
  await says(opened, "The transaction reverted.");
  await says(opened, "Listing 2 was sold or cancelled.");
  await press(opened, "Try again");
  await says(opened, /This cannot be done now\. Listing 2 was sold or cancelled\./);
  await press(opened, "Close");
});

testWithBrowser("redeem: once the bonds have matured", async () => {
  const { opened } = alice;
  await act.mineAt(api.protocol, await act.maturityDate(api.protocol, epochId));
  await act.refreshFeeds(api.protocol, api.chain.owner);
  await pressRow(opened, "Redeem: ");
  await dialogOf(opened).getByLabel("Bonds").fill("100");
  await press(opened, "Continue");
  await says(opened, /^Now Redeems 100 bonds of/);
  await press(opened, "Sign in the wallet");
  await finish(opened);
  expect(await bonds(alice, epochId)).toBe(350n);
  expect(opened.faults(busy)).toEqual([]);
});
