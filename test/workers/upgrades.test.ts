/**
 * What becomes of an upgraded contract. What this proves: the comparison fits the deployed contracts; after an upgrade to something
 * else the writer tells which views it has compared and what differs, and the operator's metrics show it.
 */
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { createReadClient } from "../../lib/chain/client.ts";
import { type Compared, compareContracts } from "../../lib/chain/compare-contracts.ts";
import { bytecodeOf } from "../../scripts/local/protocol/bytecode.ts";
import { creation } from "../../scripts/local/protocol/planned-transactions.ts";
import { sendAll } from "../../scripts/local/protocol/send-transactions.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { startStack } from "../support/stack.ts";
import { hasSamples, scrapeUntil } from "./support/metrics.ts";

let chain: TestChain;
let protocol: act.Protocol;
beforeAll(async () => {
  chain = await startChain();
  protocol = act.openProtocol(chain.deployment, chain.url);
});

async function differences(): Promise<Compared[]> {
  const client = createReadClient(chain.deployment, chain.url);
  const compared = await compareContracts(client, chain.deployment, await client.getBlockNumber());
  return compared.filter(({ fault }) => fault !== undefined);
}

/** Creates a contract from the owner. @returns its address */
async function create(data: Hex): Promise<Address> {
  const { client } = protocol;
  const { owner, deployment, url } = chain;
  const nonce = await client.getTransactionCount({ address: owner.address });
  const options = { rpcUrl: url, chainId: deployment.chainId, account: owner };
  await sendAll(options, [creation("another implementation", data)], nonce);
  return getContractAddress({ from: owner.address, nonce: BigInt(nonce) });
}

test("the views of the deployed contracts fit, and an upgrade that changes them is told with each view", async () => {
  expect(await differences()).toEqual([]);
  const stack = await startStack({ chain, services: ["indexer", "writer"] });
  const metricsUrl = `http://127.0.0.1:${stack.settings.metricsPort}/metrics`;
  await scrapeUntil(metricsUrl, "the first comparison", (samples) =>
    hasSamples(samples, { contract_views_different: 0, contract_upgrades_total: 0 }),
  );

  // A price oracle without a price is a state of the chain.
  const { owner } = chain;
  await act.setPriceStale(protocol, owner, true);
  expect(await differences()).toEqual([]);
  await act.setPriceStale(protocol, owner, false);

  // The bond's implementation in another's place answers none of its views.
  const { bondVault } = chain.deployment.contracts;
  const other = await create(
    encodeDeployData({ abi: claimBondAbi, bytecode: bytecodeOf("ClaimBond"), args: [bondVault] }),
  );
  const upgrade = encodeFunctionData({
    abi: bondVaultAbi,
    functionName: "upgradeToAndCall",
    args: [other, "0x"],
  });
  const priceOracle = await act.priceOracleOf(protocol);
  await act.send(protocol, owner, priceOracle, upgrade);
  expect(await differences()).toEqual([
    {
      contract: "priceOracle",
      address: priceOracle,
      functionName: "getLuminaPrice",
      fault: expect.stringContaining("reverts"),
    },
  ]);
  await scrapeUntil(metricsUrl, "the comparison after the oracle's upgrade", (samples) =>
    hasSamples(samples, { contract_views_different: 1, contract_upgrades_total: 1 }),
  );

  await act.send(protocol, owner, bondVault, upgrade);
  const different = await differences();
  expect(different).toContainEqual({
    contract: "bondVault",
    address: bondVault,
    functionName: "getStatus",
    fault: expect.stringContaining("reverts"),
  });
  expect(new Set(different.map(({ contract }) => contract))).toEqual(new Set(["bondVault"]));
  await scrapeUntil(metricsUrl, "the comparison after the upgrade", (samples) =>
    hasSamples(samples, { contract_views_different: different.length, contract_upgrades_total: 2 }),
  );
  const log = () => stack.output("writer");
  await expect.poll(log).toContain("contracts answer otherwise than the service expects");
  await expect.poll(log).toContain(`bondVault ${bondVault} getStatus reverts`);
});
