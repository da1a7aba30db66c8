// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceAggregator} from "../interfaces/IPriceAggregator.sol";

/// @title The rounds of one phase of a mock feed. Any account may push a round.
contract MockAggregator is IPriceAggregator {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    uint64 public latestRound;
    mapping(uint64 round => Round) public rounds;

    /// @notice Adds a round with this answer (8 decimals) and update time (Unix seconds).
    function push(int256 answer, uint256 updatedAt) external {
        uint64 round = ++latestRound;
        rounds[round] = Round(answer, updatedAt);
        emit AnswerUpdated(answer, round, updatedAt);
    }
}
