// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceFeed} from "../interfaces/IPriceFeed.sol";

/// @title The state of the chain's sequencer, from Chainlink's uptime feed: answer 0 is up, 1 is down.
library Sequencer {
    /// @notice Prices are not trusted for this time after an outage.
    uint256 internal constant GRACE = 1 hours;

    /// @param feed the zero address on a chain without uptime feed: always up.
    function isActive(IPriceFeed feed) internal view returns (bool) {
        if (address(feed) == address(0)) return true;
        (, int256 answer, uint256 startedAt,,) = feed.latestRoundData();
        return answer == 0 && block.timestamp - startedAt > GRACE;
    }
}
