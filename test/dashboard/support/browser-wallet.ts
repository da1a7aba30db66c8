/** A scripted wallet in a page of the dashboard (EIP-6963), and what its owner does there. */
import { expect } from "vitest";
import { type Look, type OpenPage, openPage } from "../../support/chromium.ts";
import { ProviderError, type ScriptedWallet } from "../../support/scripted-wallet.ts";
import { settled } from "./dashboard.ts";

export const WALLET_NAME = "Scripted Wallet";

/** The page's policy lets it reach the API alone, so the wallet reaches its chain by a binding into this process. */
const pageScript = `(() => {
  const listeners = new Set();
  const provider = {
    async request({ method, params = [] }) {
      const answer = await window.askScriptedWallet(method, params);
      if (answer.ok) return answer.value;
      throw Object.assign(new Error(answer.message), { code: answer.code });
    },
    on: (event, listener) => void (event === "accountsChanged" && listeners.add(listener)),
    removeListener: (event, listener) => void listeners.delete(listener),
  };
  window.changeAccounts = (accounts) => listeners.forEach((listener) => listener(accounts));
  const info = { uuid: "c0ffee", name: "${WALLET_NAME}", icon: "data:,", rdns: "com.example.scripted" };
  const announce = () =>
    dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", announce);
  announce();
})()`;

/** Gives the wallet to a page that is not yet loaded. */
export async function offerWallet({ page }: Pick<OpenPage, "page">, wallet: ScriptedWallet): Promise<void> {
  await page.exposeBinding("askScriptedWallet", async (_, method: string, params: unknown[]) => {
    try {
      return { ok: true, value: await wallet.request({ method, params }) };
    } catch (error) {
      const code = error instanceof ProviderError ? error.code : -32603;
      return { ok: false, code, message: error instanceof Error ? error.message : String(error) };
    }
  });
  await page.addInitScript(pageScript);
}

/** Opens a page in a browser that has the wallet. */
export async function openWithWallet(
  apiUrl: string,
  path: string,
  wallet: ScriptedWallet,
  look?: Look,
): Promise<OpenPage> {
  const opened = await openPage(apiUrl, look);
  const { page } = opened;
  await offerWallet(opened, wallet);
  await page.goto(`${apiUrl}${path}`);
  await page.locator(".head .sentence").waitFor();
  await settled(opened);
  return opened;
}

/** Connects the wallet, which leads to its own page. */
export async function connect(opened: OpenPage, wallet: ScriptedWallet): Promise<void> {
  const { page } = opened;
  await page.getByRole("button", { name: `Connect ${WALLET_NAME}` }).click();
  await page.getByRole("heading", { name: "Your wallet" }).waitFor();
  expect(new URL(page.url()).pathname.toLowerCase()).toBe(`/wallet/${wallet.account.address.toLowerCase()}`);
  await settled(opened);
}

/** The dialog of the action under way. */
export const dialogOf = ({ page }: OpenPage) => page.getByRole("dialog");

/** Presses a button of the dialog. */
export const press = (opened: OpenPage, name: string): Promise<void> =>
  dialogOf(opened).getByRole("button", { name, exact: true }).click();

/** Waits until the dialog says this. */
export const says = (opened: OpenPage, text: string | RegExp): Promise<void> =>
  dialogOf(opened).getByText(text).first().waitFor();

/** Waits until the action is done, and closes its dialog. */
export async function finish(opened: OpenPage): Promise<void> {
  await says(opened, "Done.");
  await press(opened, "Close");
  await dialogOf(opened).waitFor({ state: "hidden" });
}

/** Begins to buy cover of BTC for an hour, in whole USDC, up to the first question. */
export async function askForCover(opened: OpenPage, coverage: number): Promise<void> {
  await opened.page.getByRole("button", { name: "Buy cover" }).click();
  const dialog = dialogOf(opened);
  await dialog.getByLabel("Product").selectOption({ label: "BTC 1 h" });
  await dialog.getByLabel("Coverage").fill(String(coverage));
  await press(opened, "Continue");
}

/** Presses the button of a row: `pressRow(opened, "Buy: Buy listing 1")`; the end of the name may be left out. */
export const pressRow = ({ page }: OpenPage, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: false }).click();
