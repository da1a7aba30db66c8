// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceFeed} from "../interfaces/IPriceFeed.sol";

/// @title Reads feeds with any number of decimals as prices with 18 decimals.
library Price {
    /// @notice Older prices are stale.
    uint256 internal constant MAX_AGE = 1 hours;

    /// @notice The newest price; reverts with ORACLE_INVALID when it is not above zero, ORACLE_STALE when it is too old.
    function fresh(IPriceFeed feed) internal view returns (uint256 price) {
        (, int256 answer,, uint256 updatedAt,) = feed.latestRoundData();
        require(answer > 0, "ORACLE_INVALID");
        requireFresh(updatedAt);
        return scale(feed, answer);
    }

    /// @notice The newest price of any age, or zero when it is not above zero. For views that must not revert.
    function latest(IPriceFeed feed) internal view returns (uint256 price) {
        (, int256 answer,,,) = feed.latestRoundData();
        return answer > 0 ? scale(feed, answer) : 0;
    }

    /// @notice One round's price; reverts with ORACLE_INVALID when the round is unknown or not above zero.
    function atRound(IPriceFeed feed, uint256 roundId) internal view returns (uint256 price, uint256 updatedAt) {
        require(roundId <= type(uint80).max, "ORACLE_INVALID");
        int256 answer;
        (, answer,, updatedAt,) = feed.getRoundData(uint80(roundId));
        require(answer > 0 && updatedAt > 0, "ORACLE_INVALID");
        return (scale(feed, answer), updatedAt);
    }

    function requireFresh(uint256 updatedAt) internal view {
        require(block.timestamp <= updatedAt + MAX_AGE, "ORACLE_STALE");
    }

    function scale(IPriceFeed feed, int256 answer) private view returns (uint256) {
        uint256 decimals = feed.decimals();
        return decimals <= 18 ? uint256(answer) * 10 ** (18 - decimals) : uint256(answer) / 10 ** (decimals - 18);
    }
}
