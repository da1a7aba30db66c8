// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The event of Chainlink's aggregators, which hold the rounds behind a feed's proxy.
interface IPriceAggregator {
    /// @param current the answer. For a sequencer feed 0 is up, 1 is down.
    /// @param roundId the aggregator's own number of the round, from 1.
    /// @param updatedAt Unix seconds. For a sequencer feed the start of the status.
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);
}
