// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceFeed} from "../interfaces/IPriceFeed.sol";
import {IPriceFeedProxy} from "../interfaces/IPriceFeedProxy.sol";
import {MockAggregator} from "./MockAggregator.sol";

/// @title A price feed for local chains and testnets: Chainlink's proxy and interface, 8 decimals. Any account may push a
/// round or begin a phase.
contract MockPriceFeed is IPriceFeed, IPriceFeedProxy {
    uint8 public constant decimals = 8;
    uint256 public constant version = 1;
    string public description;
    uint16 public phaseId;
    mapping(uint16 phase => address) public phaseAggregators;
    /// @notice The aggregator of the next phase; zero when none is proposed. It may have rounds before its phase begins.
    address public proposedAggregator;

    constructor(string memory description_, int256 answer) {
        description = description_;
        proposeAggregator();
        MockAggregator(proposedAggregator).push(answer, block.timestamp);
        confirmAggregator();
    }

    /// @notice Creates the aggregator of the next phase.
    function proposeAggregator() public {
        proposedAggregator = address(new MockAggregator());
    }

    /// @notice Begins the next phase, with the proposed aggregator.
    function confirmAggregator() public {
        address next = proposedAggregator;
        require(next != address(0), "No proposed aggregator");
        emit AggregatorConfirmed(aggregator(), next);
        phaseAggregators[++phaseId] = next;
        proposedAggregator = address(0);
    }

    /// @notice Adds a round with this answer (8 decimals), updated now.
    function push(int256 answer) external {
        pushRound(answer, block.timestamp);
    }

    /// @notice Adds a round with another update time.
    function pushRound(int256 answer, uint256 updatedAt) public {
        MockAggregator(aggregator()).push(answer, updatedAt);
    }

    /// @notice Adds a round with the newest answer, updated now, like the heartbeat of a real feed.
    function refresh() external {
        (, int256 answer,,,) = latestRoundData();
        pushRound(answer, block.timestamp);
    }

    /// @notice The aggregator of the newest phase.
    function aggregator() public view returns (address) {
        return phaseAggregators[phaseId];
    }

    function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
        address source = phaseAggregators[uint16(roundId >> 64)];
        if (source == address(0)) return (roundId, 0, 0, 0, roundId);
        (int256 answer, uint256 updatedAt) = MockAggregator(source).rounds(uint64(roundId));
        return (roundId, answer, updatedAt, updatedAt, roundId);
    }

    function latestRoundData() public view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(uint80(phaseId) << 64 | MockAggregator(aggregator()).latestRound());
    }
}
