/** What a stack of `npm run dev` must do. */
import { expect } from "vitest";
import { runCommand } from "../../support/command.ts";
import type { DevSettings } from "../../support/dev-stack.ts";
import { http } from "../../support/http.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";

/** What the api says of sandbox and faucet. */
export async function testnetState(api: string): Promise<unknown> {
  const [sandbox, faucet] = await Promise.all(
    ["/sandbox/info", "/api/v1/faucet/status"].map(async (path) => (await http(`${api}${path}`)).json),
  );
  return { sandbox, faucet };
}

/** On a busy machine the index may be a block late for a moment. */
export async function expectSynced({ env }: DevSettings): Promise<void> {
  const api = `http://127.0.0.1:${env.PORT}`;
  await expect.poll(async () => (await http(`${api}/health`)).json).toMatchObject({ status: "ok" });
  const indexer = async () => (await http(`${api}/api/v1/indexer/health`)).json;
  await expect.poll(indexer).toMatchObject({ status: "synced" });
}

/** `npm run dev:price` on this stack: the price is new and stays, policies are due, and what it cannot do is refused. */
export async function expectPriceMoves({ env }: DevSettings): Promise<void> {
  const local = (port: string | undefined) => `http://127.0.0.1:${port}`;
  const urls = { API_URL: local(env.PORT), RPC_URL: local(env.ANVIL_PORT) };
  const type = (args: readonly string[], more: Record<string, string> = {}) =>
    runCommand(["scripts/run.mjs", "scripts/dev-price.ts", ...args], { ...urls, ...more });

  const fell = await type(["BTC", "-7%"]);
  expect(fell.code, fell.said).toBe(0);
  const [, before = "", after = ""] = /^BTC on chain 8453: ([\d.]+) → ([\d.]+) USD$/m.exec(fell.said) ?? [];
  expect(Number(after) / Number(before), fell.said).toBeCloseTo(0.93, 6);
  expect(fell.said.match(/^ {2}round \d+ at /gm)).toHaveLength(3);
  // The seeded history has open policies on BTC.
  expect(fell.said).toMatch(/^Due in block \d+: [1-9]/m);

  const stays = await type(["BTC", "+0%"]);
  expect(stays.said).toContain(`BTC on chain 8453: ${after} → ${after} USD`);

  const refused = async (more: Record<string, string>, reason: RegExp) => {
    const { code, said } = await type(["BTC", "-7%"], more);
    expect(said).toMatch(reason);
    expect(code, said).toBe(1);
  };
  const otherNode = await startRpcProxy(urls.RPC_URL);
  otherNode.intercept(async ({ method }, forward) =>
    method === "web3_clientVersion" ? { result: "Geth/v1.16.0" } : forward(),
  );
  await refused({ API_URL: local("1") }, /^The api at http:\/\/127.0.0.1:1 does not answer/);
  await refused({ RPC_URL: local(env.TESTNET_ANVIL_PORT) }, /is chain 84532, and the api .* serves 8453/);
  await refused({ RPC_URL: otherNode.url }, /is not anvil: this command is for the local chain/);
}
