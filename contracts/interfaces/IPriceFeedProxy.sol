// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Chainlink's proxy in front of a feed's aggregators. Each phase has an aggregator; the newest phase answers.
/// @notice A round's id is `phase << 64 | the aggregator's round`. Rounds of earlier phases stay readable.
interface IPriceFeedProxy {
    /// @notice The proxy answers from another aggregator now. Proxies of release 0.6 (those of Base) do not emit this.
    event AggregatorConfirmed(address indexed previous, address indexed latest);

    function phaseId() external view returns (uint16);

    /// @notice Zero for a phase that has not begun.
    function phaseAggregators(uint16 phase) external view returns (address);
}
