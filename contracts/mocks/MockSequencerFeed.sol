// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceAggregator} from "../interfaces/IPriceAggregator.sol";
import {IPriceFeed} from "../interfaces/IPriceFeed.sol";

/// @title The sequencer's uptime feed for local chains and testnets; up since a day before its deployment.
contract MockSequencerFeed is IPriceFeed, IPriceAggregator {
    uint8 public constant decimals = 0;
    uint256 public constant version = 1;
    string public constant description = "L2 Sequencer Uptime Status Feed";
    uint80 public latestRound;
    bool public down;
    uint256 public startedAt;

    constructor() {
        _set(false, block.timestamp - 1 days);
    }

    /// @param down_ the new status. @param startedAt_ its start, Unix seconds.
    function setStatus(bool down_, uint256 startedAt_) external {
        _set(down_, startedAt_);
    }

    function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
        if (roundId != latestRound) return (roundId, 0, 0, 0, roundId);
        return (roundId, down ? int256(1) : int256(0), startedAt, startedAt, roundId);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latestRound);
    }

    function _set(bool down_, uint256 startedAt_) private {
        latestRound++;
        (down, startedAt) = (down_, startedAt_);
        // The event has the start of the status, as in the uptime feeds of Optimism and Base.
        emit AnswerUpdated(down_ ? int256(1) : int256(0), latestRound, startedAt_);
    }
}
