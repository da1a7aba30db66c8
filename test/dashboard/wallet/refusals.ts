/** What these tests prove: what the wallet's owner sees and can do when the wallet refuses, is on another chain, or changes its account. */
import { concat } from "viem";
import { afterEach, beforeAll, describe, expect } from "vitest";
import { issueKey, type TestApi } from "../../api/support/api.ts";
import { closePages, type OpenPage, testWithBrowser } from "../../support/chromium.ts";
import { newBuyer } from "../../support/ledger.ts";
import { createScriptedWallet, type ScriptedWallet } from "../../support/scripted-wallet.ts";
import {
  askForCover,
  connect,
  dialogOf,
  finish,
  openWithWallet,
  press,
  says,
  WALLET_NAME,
} from "../support/browser-wallet.ts";
import { expectAccessible, openDashboard } from "../support/dashboard.ts";

let api: TestApi;

async function open(): Promise<{ wallet: ScriptedWallet; opened: OpenPage }> {
  const wallet = createScriptedWallet(api.chain, await newBuyer(api.chain, { approve: false }));
  return { wallet, opened: await openWithWallet(api.stack.apiUrl, "/wallet", wallet) };
}

async function openConnected() {
  const { wallet, opened } = await open();
  await connect(opened, wallet);
  return { wallet, opened };
}

const busy = /status of 429/;

/** The tests, on the stack that the file has started. They buy three policies of BTC for an hour. */
export function testRefusals(started: () => TestApi): void {
  describe("a wallet that refuses, or changes", () => {
    beforeAll(() => {
      api = started();
    });
    afterEach(closePages);

    testWithBrowser("without a browser wallet the page says what one is for", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/wallet");
      await opened.page.getByText("No browser wallet has announced itself to this page.").waitFor();
      await expectAccessible(opened);
    });

    testWithBrowser("a wallet that refuses to connect is asked again by the next click", async () => {
      const { wallet, opened } = await open();
      wallet.refused.add("eth_requestAccounts");
      await opened.page.getByRole("button", { name: `Connect ${WALLET_NAME}` }).click();
      await opened.page.getByText("You refused the request in the wallet.").waitFor();
      wallet.refused.clear();
      await connect(opened, wallet);
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser(
      "a refused signature sends nothing, and Try again goes on where it was refused",
      async () => {
        const { wallet, opened } = await openConnected();
        wallet.refused.add("personal_sign");
        await askForCover(opened, 100);
        await press(opened, "Sign the message");
        await says(opened, "You refused in the wallet.");
        await expectAccessible(opened);
        wallet.refused.clear();
        wallet.refused.add("eth_signTypedData_v4");
        await press(opened, "Try again");
        await press(opened, "Sign the message");
        await press(opened, "Sign in the wallet");
        await says(opened, "Nothing of this step was signed or sent.");
        wallet.refused.clear();
        await press(opened, "Try again");
        await press(opened, "Sign in the wallet");
        await says(opened, /Bought policy \d+/);
        await finish(opened);
        expect(wallet.asked).toEqual([
          "eth_requestAccounts",
          "personal_sign",
          "personal_sign",
          "eth_signTypedData_v4",
          "eth_signTypedData_v4",
        ]);
        expect(opened.faults(busy)).toEqual([]);
      },
    );

    testWithBrowser("a wallet with three keys chooses one that the page's key replaces", async () => {
      const { wallet, opened } = await openConnected();
      const { address } = wallet.account;
      const keys = [];
      for (let n = 0; n < 3; n += 1) keys.push(await issueKey(api.request, address));
      await askForCover(opened, 100);
      await press(opened, "Sign the message");
      await says(opened, `with the ids ${keys.map(({ keyId }) => keyId).join(", ")}`);
      await expectAccessible(opened);
      await press(opened, "Replace this key");
      await says(opened, "Write the id of one of these keys.");
      await dialogOf(opened).getByLabel("Key to replace").fill(String(keys[1]?.keyId));
      await press(opened, "Replace this key");
      await dialogOf(opened).getByText("The message", { exact: true }).click();
      await says(opened, `urn:parametric-cover:replaces:${keys[1]?.keyId}`);
      await press(opened, "Sign the message");
      await says(opened, /^Buys 100 USDC of cover/);
      const statuses = await Promise.all(
        keys.map(async ({ headers }) => (await api.request("/api/v1/auth/me", { headers })).status),
      );
      expect(statuses).toEqual([200, 401, 200]);
      await press(opened, "Close");
      expect(wallet.asked).toEqual(["eth_requestAccounts", "personal_sign", "personal_sign"]);
    });

    testWithBrowser(
      "a wallet whose code refuses the permit is offered the approval, and buys with it",
      async () => {
        const { wallet, opened } = await openConnected();
        const { usdc } = api.chain.deployment.contracts;
        // EIP-7702: it acts by a contract that knows no signatures.
        await api.chain.client.setCode({
          address: wallet.account.address,
          bytecode: concat(["0xef0100", usdc]),
        });
        await askForCover(opened, 100);
        await press(opened, "Sign the message");
        await press(opened, "Sign in the wallet");
        await says(opened, /^Now In place of a permit that was refused\. Lets the cover router take/);
        await expectAccessible(opened);
        await press(opened, "Sign in the wallet");
        await says(opened, /Bought policy \d+/);
        await finish(opened);
        expect(wallet.asked.slice(-2)).toEqual(["eth_signTypedData_v4", "eth_sendTransaction"]);
      },
    );

    testWithBrowser("on another chain nothing is signed, and the page offers to change it", async () => {
      const { wallet, opened } = await openConnected();
      wallet.chainId = 1;
      wallet.refused.add("wallet_switchEthereumChain");
      await askForCover(opened, 100);
      await press(opened, "Sign the message");
      const button = `Switch to ${api.chain.deployment.name}`;
      await says(opened, "nothing is signed before");
      await expectAccessible(opened);
      await press(opened, button);
      await says(opened, "The wallet stayed on another chain than 8453.");
      expect(wallet.asked).not.toContain("eth_signTypedData_v4");
      wallet.refused.clear();
      await press(opened, button);
      await press(opened, "Sign in the wallet");
      await finish(opened);
      expect(wallet.chainId).toBe(8453);
      expect(opened.faults(busy)).toEqual([]);
    });

    testWithBrowser("too much is refused before anything is signed, and can be changed", async () => {
      const { wallet, opened } = await openConnected();
      await askForCover(opened, 1);
      await says(opened, /This cannot be done now\. coverageAmount is 1 USDC; the minimum is \d+ USDC\./);
      await press(opened, "Change");
      expect(await dialogOf(opened).getByLabel("Coverage").inputValue()).toBe("1");
      await dialogOf(opened).getByLabel("Coverage").fill("150");
      await press(opened, "Continue");
      await says(opened, "it costs nothing and moves nothing");
      await press(opened, "Close");
      expect(wallet.asked).toEqual(["eth_requestAccounts"]);
    });

    testWithBrowser(
      "another account in the wallet stops what was for the one before, and the page follows",
      async () => {
        const { wallet, opened } = await openConnected();
        await askForCover(opened, 100);
        await press(opened, "Sign the message");
        await says(opened, /^Buys 100 USDC of cover/);
        const other = api.chain.owner.address;
        await opened.page.evaluate(`changeAccounts(["${other}"])`);
        await expect.poll(() => new URL(opened.page.url()).pathname).toBe(`/wallet/${other}`);
        await press(opened, "Sign in the wallet");
        await says(opened, "The wallet is on another account.");
        await press(opened, "Close");
        expect(wallet.asked).not.toContain("eth_signTypedData_v4");
        expect(await opened.page.getByText("This page holds the API key").count()).toBe(0);
        await opened.page.evaluate("changeAccounts([])");
        await opened.page.getByRole("button", { name: `Connect ${WALLET_NAME}` }).waitFor();
      },
    );

    testWithBrowser(
      "by keyboard alone, narrow and dark: the dialog holds the focus and gives it back",
      async () => {
        const { opened } = await openConnected();
        const { page } = opened;
        await page.setViewportSize({ width: 320, height: 640 });
        await page.emulateMedia({ colorScheme: "dark" });
        const buy = page.getByRole("button", { name: "Buy cover" });
        await buy.focus();
        await page.keyboard.press("Enter");
        const focused = () => page.evaluate("document.activeElement.id");
        await expect.poll(focused).toBe("action-title");
        await dialogOf(opened).getByLabel("Coverage").waitFor();
        await expectAccessible(opened);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Tab");
        expect(await focused()).toBe("field-coverageAmount");
        await page.keyboard.type("500");
        await page.keyboard.press("Enter");
        await says(opened, "it costs nothing and moves nothing");
        await expect.poll(focused).toBe("action-title");
        await expectAccessible(opened);
        await page.keyboard.press("Escape");
        await dialogOf(opened).waitFor({ state: "hidden" });
        await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Buy cover");
      },
    );
  });
}
