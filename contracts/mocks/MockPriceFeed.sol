// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceFeed} from "../interfaces/IPriceFeed.sol";

/// @title A price feed for local chains and testnets: Chainlink's interface, 8 decimals. Any account may push a round.
contract MockPriceFeed is IPriceFeed {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    uint8 public constant decimals = 8;
    uint256 public constant version = 1;
    string public description;
    uint80 public latestRound;
    mapping(uint80 => Round) private _rounds;

    constructor(string memory description_, int256 answer) {
        description = description_;
        _push(answer, block.timestamp);
    }

    /// @notice Adds a round with this answer (8 decimals), updated now.
    function push(int256 answer) external {
        _push(answer, block.timestamp);
    }

    /// @notice Adds a round with another update time.
    function pushRound(int256 answer, uint256 updatedAt) external {
        _push(answer, updatedAt);
    }

    /// @notice Adds a round with the newest answer, updated now, like the heartbeat of a real feed.
    function refresh() external {
        _push(_rounds[latestRound].answer, block.timestamp);
    }

    function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round memory round = _rounds[roundId];
        return (roundId, round.answer, round.updatedAt, round.updatedAt, roundId);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latestRound);
    }

    function _push(int256 answer, uint256 updatedAt) private {
        uint80 roundId = ++latestRound;
        _rounds[roundId] = Round(answer, updatedAt);
        emit AnswerUpdated(answer, roundId, updatedAt);
    }
}
