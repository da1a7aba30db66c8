/**
 * What this proves: the client's module works in a page of another origin as it is, without a bundler: it finds the browser's
 * wallet, makes a key, buys with a permit, and gives errors by their codes.
 */
import { createServer } from "node:http";
import { beforeAll, expect } from "vitest";
import { bundleClient } from "../../scripts/build-client.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { startApi, type TestApi } from "../api/support/api.ts";
import { offerWallet } from "../dashboard/support/browser-wallet.ts";
import { openPage, testWithBrowser } from "../support/chromium.ts";
import { atEnd } from "../support/cleanup.ts";
import { newBuyer, policiesOnChain } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import { createScriptedWallet } from "../support/scripted-wallet.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"] });
  await act.refreshFeeds(api.protocol, api.chain.owner);
});

const programOf = (baseUrl: string) => `
import { connectWallet, createCoverClient, discoverWallets, hasCode } from "/client.js";
const { provider } = await new Promise((resolve) => discoverWallets(window, resolve));
const wallet = await connectWallet(provider);
const guest = createCoverClient({ baseUrl: "${baseUrl}", wallet });
const order = { product: "FLASHBTC1H-001", coverageAmount: 100_000_000n };
const { premium } = await guest.quote(order);
const { apiKey } = await guest.onboard(wallet);
const cover = guest.with({ apiKey });
const { policyId, premiumPaid } = await (await cover.buy({ ...order, maxPremium: premium })).wait();
const refused = await cover.buy({ ...order, maxPremium: 1n }).catch((error) => error);
document.title = JSON.stringify({
  policyId,
  paidTheQuote: premiumPaid === premium,
  refused: hasCode(refused, "premium_above_maximum"),
}, (_, value) => (typeof value === "bigint" ? String(value) : value));
`;

/** A page of somebody else, which has the client's module and a program. @returns its address */
async function servePage(): Promise<string> {
  const { code } = await bundleClient(false);
  const files: Record<string, [type: string, content: string | Uint8Array]> = {
    "/": ["text/html", '<!doctype html><script type="module" src="/program.js"></script>'],
    "/client.js": ["text/javascript", code],
    "/program.js": ["text/javascript", programOf(api.stack.apiUrl)],
  };
  const server = createServer(({ url = "" }, response) => {
    const [type, content] = files[url] ?? ["text/plain", ""];
    response.writeHead(files[url] ? 200 : 404, { "content-type": type }).end(content);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${port}`;
}

testWithBrowser(
  "a page of another origin buys with the browser's wallet, and its purchase is on the chain",
  async () => {
    const buyer = await newBuyer(api.chain, { approve: false });
    const url = await servePage();
    const opened = await openPage(url);
    await offerWallet(opened, createScriptedWallet(api.chain, buyer));
    await opened.page.goto(url);
    await expect.poll(() => opened.page.title()).not.toBe("");
    const said: unknown = JSON.parse(await opened.page.title());
    const [policy] = await policiesOnChain(api.chain, buyer.address);
    expect(said).toEqual({ policyId: String(policy?.args.policyId), paidTheQuote: true, refused: true });
    // The browser notes the refusal, and a page without an icon.
    expect(opened.faults(/^request to http:\/\/127|status of 4/)).toEqual([]);
  },
);
