/** What this proves: which wallets a page finds, and what each failure of a wallet becomes. */
import { describe, expect, test } from "vitest";
import { signInMessage as readSignIn } from "../../api/keys/sign-in-message.ts";
import {
  type AnnouncedWallet,
  chainOf,
  connectWallet,
  discoverWallets,
  keyResources,
  type Provider,
  signInMessage,
  switchChain,
  watchAccounts,
} from "../../client/index.ts";

class Announcement extends Event {
  readonly detail: unknown;
  constructor(detail: unknown) {
    super("eip6963:announceProvider");
    this.detail = detail;
  }
}

const provider = (request: Provider["request"]): Provider => ({ request });
const info = { uuid: "1", name: "A wallet", icon: "data:,", rdns: "com.example" };
const silent = provider(async () => undefined);

/** A wallet that fails with this. */
const failing = (error: unknown) => provider(() => Promise.reject(error));
const failureOf = (error: unknown) => expect(connectWallet(failing(error))).rejects;

describe("discovery", () => {
  test("wallets that announce themselves before, when asked, and later are found once each", () => {
    const page = new EventTarget();
    page.addEventListener("eip6963:requestProvider", () =>
      page.dispatchEvent(new Announcement({ info, provider: silent })),
    );
    const found: AnnouncedWallet[] = [];
    const stop = discoverWallets(page, (wallet) => found.push(wallet));
    page.dispatchEvent(new Announcement({ info, provider: silent }));
    page.dispatchEvent(new Announcement({ info: { ...info, uuid: "2" }, provider: silent }));
    stop();
    page.dispatchEvent(new Announcement({ info: { ...info, uuid: "3" }, provider: silent }));
    expect(found.map(({ uuid }) => uuid)).toEqual(["1", "2"]);
  });

  test("a malformed announcement, which any script may send, is left out", () => {
    const page = new EventTarget();
    const found: AnnouncedWallet[] = [];
    discoverWallets(page, (wallet) => found.push(wallet));
    const { rdns: _, ...incomplete } = info;
    for (const detail of [
      null,
      "wallet",
      { info },
      { info: incomplete, provider: silent },
      { info, provider: {} },
    ])
      page.dispatchEvent(new Announcement(detail));
    page.dispatchEvent(new Event("eip6963:announceProvider"));
    expect(found).toEqual([]);
  });
});

describe("what a wallet answers", () => {
  test("a refusal, a wallet that waits for another answer, and other failures are told apart", async () => {
    await failureOf({ code: 4001, message: "no" }).toMatchObject({ name: "WalletError", code: "refused" });
    await failureOf({ code: -32002 }).toMatchObject({
      code: "failed",
      message: "The wallet still asks you for something else: open it and answer.",
    });
    await failureOf(new Error("locked")).toMatchObject({
      message: "The wallet could not do eth_requestAccounts: locked",
    });
    await failureOf({ message: "Internal JSON-RPC error.", data: { message: "no funds" } }).toMatchObject({
      message: "The wallet could not do eth_requestAccounts: no funds",
    });
    await failureOf(null).toMatchObject({
      message: "The wallet could not do eth_requestAccounts: it gives no reason",
    });
  });

  test("no account, and an answer of another form, are errors", async () => {
    await expect(connectWallet(provider(async () => []))).rejects.toMatchObject({ code: "no_account" });
    await expect(connectWallet(provider(async () => "0x"))).rejects.toMatchObject({ code: "failed" });
  });

  test("a wallet that does not know the chain is told apart from one that stays on its own", async () => {
    await expect(switchChain(failing({ code: 4902 }), 8453)).rejects.toMatchObject({
      code: "wrong_chain",
      message: "The wallet does not know chain 8453: add it in the wallet.",
    });
    await expect(switchChain(failing({ code: 4001 }), 8453)).rejects.toMatchObject({
      code: "wrong_chain",
      message: "The wallet stayed on another chain than 8453.",
    });
    const stays = provider(async ({ method }) => (method === "eth_chainId" ? "0x1" : null));
    await expect(switchChain(stays, 8453)).rejects.toMatchObject({ code: "wrong_chain" });
    expect(await chainOf(stays)).toBe(1);
    await expect(chainOf(provider(async () => "base"))).rejects.toMatchObject({ code: "failed" });
  });

  test("another account is followed until the watch ends", () => {
    const listeners = new Set<(...values: unknown[]) => void>();
    const wallet: Provider = {
      ...silent,
      on: (_, listener) => listeners.add(listener),
      removeListener: (_, listener) => listeners.delete(listener),
    };
    const seen: (readonly string[])[] = [];
    const stop = watchAccounts(wallet, (accounts) => seen.push(accounts));
    for (const listener of listeners) listener(["0x01"]);
    for (const listener of listeners) listener("not a list");
    stop();
    expect(listeners.size).toBe(0);
    expect(seen).toEqual([["0x01"]]);
    watchAccounts(silent, () => {})();
  });
});

test("a sign-in message names host, address, chain and purpose, and never repeats its nonce", () => {
  const terms = {
    address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    chainId: 8453,
    site: { host: "cover.example", origin: "https://cover.example" },
    statement: "Make an API key.",
  };
  const lines = signInMessage(terms).split("\n");
  expect(lines.slice(0, 8)).toEqual([
    "cover.example wants you to sign in with your Ethereum account:",
    terms.address,
    "",
    "Make an API key.",
    "",
    "URI: https://cover.example",
    "Version: 1",
    "Chain ID: 8453",
  ]);
  expect(lines).toHaveLength(10);
  expect(signInMessage(terms).split("\n")[8]).not.toBe(lines[8]);
});

test("a sign-in message binds the key's terms, as the API reads them", () => {
  const resources = keyResources({
    ...{ label: "bot", replaces: 7, scopes: ["read", "buy"], products: ["FLASHBTC1H-001"] },
    ...{ maxPremiumPerPurchase: "10", maxPremiumPerDay: undefined },
  });
  expect(resources).toEqual([
    "urn:parametric-cover:replaces:7",
    "urn:parametric-cover:scopes:read,buy",
    "urn:parametric-cover:products:FLASHBTC1H-001",
    "urn:parametric-cover:max-premium-per-purchase:10",
  ]);
  const wallet = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
  const site = { host: "cover.example", origin: "https://cover.example" };
  const text = signInMessage({ address: wallet, chainId: 8453, site, statement: "Make a key.", resources });
  const now = Math.floor(Date.now() / 1000);
  const read = readSignIn(text, { wallet, chainId: 8453, domain: "cover.example" }, now);
  expect(read.resources).toEqual(resources);
});
