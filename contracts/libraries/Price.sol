// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceFeed} from "../interfaces/IPriceFeed.sol";

/// @title Reads Chainlink's price feeds. Prices keep the feed's 8 decimals.
library Price {
    /// @notice Older prices are stale.
    uint256 internal constant MAX_AGE = 1 hours;

    /// @notice The newest round of any age, if it is complete.
    function newest(IPriceFeed feed) internal view returns (uint256 price, uint256 updatedAt) {
        (uint80 roundId, int256 answer,, uint256 updated, uint80 answeredInRound) = feed.latestRoundData();
        require(answer > 0, "ORACLE_INVALID");
        require(answeredInRound >= roundId, "ORACLE_INCOMPLETE_ROUND");
        require(updated != 0, "ORACLE_ROUND_NOT_COMPLETE");
        require(updated <= block.timestamp, "ORACLE_FUTURE_TS");
        return (uint256(answer), updated);
    }

    /// @notice The newest round, if it is complete and not stale.
    function fresh(IPriceFeed feed) internal view returns (uint256 price, uint256 updatedAt) {
        (price, updatedAt) = newest(feed);
        requireFresh(updatedAt);
    }

    function requireFresh(uint256 updatedAt) internal view {
        require(block.timestamp <= updatedAt + MAX_AGE, "ORACLE_STALE");
    }
}
