/**
 * Makes a local chain like the live one where a fork must not rely on the reference: feeds that take rounds from their network alone,
 * owners with code, adapters without a keeper, and strangers' code on anvil's well-known accounts.
 */
import { type Address, concat, encodeFunctionData, parseAbi, zeroAddress } from "viem";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { anvilAccount, createReadClient } from "../../lib/chain/client.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import type { TestChain } from "./chain.ts";
import * as act from "./protocol-actions.ts";
import { compile } from "./solidity.ts";

/** With the storage of the reference's mocks: proxy and aggregator as Chainlink's, but for rounds that nobody can add. */
const source = `
contract Aggregator {
    struct Round { int256 answer; uint256 updatedAt; }
    uint64 latest;
    mapping(uint64 => Round) rounds;
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) { return getRoundData(latest); }
    function getRoundData(uint80 id) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round memory round = rounds[uint64(id)];
        return (id, round.answer, round.updatedAt, round.updatedAt, id);
    }
}
contract Feed {
    string description;
    uint16 public phaseId;
    mapping(uint16 => address) public phaseAggregators;
    function decimals() external pure returns (uint8) { return 8; }
    function aggregator() public view returns (address) { return phaseAggregators[phaseId]; }
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        (uint80 id, int256 answer, uint256 startedAt, uint256 updatedAt, ) = Aggregator(aggregator()).latestRoundData();
        uint80 ours = uint80(phaseId) << 64 | id;
        return (ours, answer, startedAt, updatedAt, ours);
    }
    function getRoundData(uint80 id) external view returns (uint80, int256, uint256, uint256, uint80) {
        (, int256 answer, uint256 startedAt, uint256 updatedAt, ) =
            Aggregator(phaseAggregators[uint16(id >> 64)]).getRoundData(uint64(id));
        return (id, answer, startedAt, updatedAt, id);
    }
}`;

/** Nobody can add a round to the price feeds any more. */
export async function closeFeeds({ client, deployment: { contracts } }: TestChain): Promise<void> {
  const aggregator = compile(source, "Aggregator").runtime;
  const feed = compile(source, "Feed").runtime;
  for (const address of [contracts.btcUsdFeed, contracts.ethUsdFeed]) {
    const proxy = { address, abi: priceFeedProxyAbi } as const;
    const phase = await client.readContract({ ...proxy, functionName: "phaseId" });
    const current = await client.readContract({ ...proxy, functionName: "phaseAggregators", args: [phase] });
    await client.setCode({ address: current, bytecode: aggregator });
    await client.setCode({ address, bytecode: feed });
  }
}

const transferAbi = parseAbi(["function transferOwnership(address next)"]);

/** Gives router and adapters to an owner with code, and takes the keeper from the adapters. */
export async function giveToContract(chain: TestChain, owner: Address): Promise<void> {
  const { deployment, url } = chain;
  const protocol = act.openProtocol(deployment, url);
  const own = encodeFunctionData({ abi: transferAbi, functionName: "transferOwnership", args: [owner] });
  const close = encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setKeeper", args: [zeroAddress] });
  for (const { adapter } of await sellingAdapters(createReadClient(deployment, url), deployment.contracts)) {
    await act.send(protocol, chain.owner, adapter, close);
    await act.send(protocol, chain.owner, adapter, own);
  }
  await act.send(protocol, chain.owner, deployment.contracts.coverRouter, own);
}

/** An EIP-7702 delegation to code that takes what its account is sent. */
export const DELEGATION = concat(["0xef0100", "0x000000000000000000000000000000000000dEaD"]);

/** Puts it on anvil's accounts. Last: with code they receive no ether on this chain. */
export async function delegateAccounts({ client }: TestChain): Promise<void> {
  for (let index = 0; index < 16; index += 1)
    await client.setCode({ address: anvilAccount(index).address, bytecode: DELEGATION });
}
