/** Live scans that meet a reorganisation. */
import { beforeAll, expect, test } from "vitest";
import {
  openProtocol,
  type Protocol,
  purchase,
  refreshFeeds,
} from "../../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { seedAccounts, usdc } from "../../../scripts/local/seed/accounts.ts";
import { askRpc, type RpcAnswer } from "../../support/rpc-proxy.ts";
import { failure } from "./api.ts";
import { asChainResponse, type LiveScanSetup, logRangeOf } from "./live-scan.ts";

const buyer = seedAccounts.bob;

export function reorganisedLiveScans(setup: () => LiveScanSetup): void {
  let protocol: Protocol;
  beforeAll(() => {
    const { chain } = setup();
    protocol = openProtocol(chain.deployment, chain.url);
  });
  const policiesOf = (wallet: string) => setup().live(`/api/v1/public/policies/${wallet}`);
  const bondsOf = (wallet: string) => setup().live(`/api/v1/public/bonds/${wallet}`);
  const nextBlock = () => setup().chain.client.mine({ blocks: 1 });
  /** Runs one of these actions after the first `eth_getLogs` call of each scan, in order. @returns the scans so far */
  function afterFirstLogs(...actions: (() => Promise<RpcAnswer>)[]): () => number {
    let scans = 0;
    setup().proxy.intercept(async (call, forward) => {
      const answer = await forward();
      if (logRangeOf(call)?.from === setup().chain.deployment.startBlock) {
        scans += 1;
        await actions[scans - 1]?.();
      }
      return answer;
    });
    return () => scans;
  }
  /** Takes a snapshot of the chain. @returns a function that reverts to it */
  async function snapshot(): Promise<() => Promise<RpcAnswer>> {
    const id = await askRpc(setup().chain.url, "evm_snapshot");
    return () => askRpc(setup().chain.url, "evm_revert", ["result" in id ? id.result : null]);
  }

  test("repeats the scan on the new chain", async () => {
    await refreshFeeds(protocol, seedAccounts.owner);
    const bought = await purchase(protocol, buyer, termsOf("FLASHBTC1H-001"), usdc(100));
    const { transactionHash } = bought.receipt;
    expect((await policiesOf(buyer.address)).text).toContain(transactionHash);
    await nextBlock();
    // Ponder stalls for a minute where a block that it is reading is reorganised away.
    await setup().waitForIndex();
    const scans = afterFirstLogs(() => askRpc(setup().chain.url, "anvil_reorg", [2, []]));
    const answer = await policiesOf(buyer.address);
    expect(scans()).toBe(2);
    expect(answer.text).not.toContain(transactionHash);
    setup().proxy.intercept();
    await nextBlock();
    await setup().waitForIndex();
    const known = await setup().indexed(`/api/v1/policies/by-buyer/${buyer.address}`);
    expect((await policiesOf(buyer.address)).json).toEqual(asChainResponse(known));
  });

  test("that shortens the chain repeats the scan too", async () => {
    const goBack = await snapshot();
    await refreshFeeds(protocol, seedAccounts.owner);
    const { receipt } = await purchase(protocol, buyer, termsOf("FLASHBTC1H-001"), usdc(100));
    afterFirstLogs(goBack);
    const answer = await policiesOf(buyer.address);
    expect([answer.status, answer.text.includes(receipt.transactionHash)]).toEqual([200, false]);
    expect(answer.headers.get("x-chain-block")).toBe(String(await setup().chain.client.getBlockNumber()));
  });

  test("followed by another during the repeated scan gives 503", async () => {
    await nextBlock();
    const goBackFar = await snapshot();
    await nextBlock();
    afterFirstLogs(await snapshot(), goBackFar);
    await nextBlock();
    expect(failure(await bondsOf(buyer.address))).toEqual([503, "chain_not_found"]);
    expect((await bondsOf(buyer.address)).status).toBe(200);
  });
}
