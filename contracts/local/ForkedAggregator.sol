// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceAggregator} from "../interfaces/IPriceAggregator.sol";

/// @title Takes the place of a Chainlink aggregator's code on a fork, where nobody can sign its rounds. Any account may push one.
/// Rounds before it took the place have no data.
contract ForkedAggregator is IPriceAggregator {
    struct Rounds {
        uint80 latest;
        mapping(uint80 round => int256) answer;
        mapping(uint80 round => uint256) updatedAt;
    }

    uint8 public constant decimals = 8;
    uint256 public constant version = 4;
    string public constant description = "The aggregator of a fork";

    /// @notice Goes on from the round that the feed had, without an event.
    function begin(uint80 round, int256 answer, uint256 updatedAt) external {
        require(_rounds().latest == 0, "Has begun");
        _set(round, answer, updatedAt);
    }

    /// @notice Adds a round with this answer (8 decimals), updated now.
    function push(int256 answer) public {
        uint80 round = _rounds().latest + 1;
        _set(round, answer, block.timestamp);
        emit AnswerUpdated(answer, round, block.timestamp);
    }

    /// @notice Adds a round with the newest answer, updated now.
    function refresh() external {
        push(latestAnswer());
    }

    function latestRound() public view returns (uint256) {
        return _rounds().latest;
    }

    function latestAnswer() public view returns (int256) {
        return _rounds().answer[_rounds().latest];
    }

    function latestTimestamp() external view returns (uint256) {
        return _rounds().updatedAt[_rounds().latest];
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(_rounds().latest);
    }

    function getRoundData(uint80 round) public view returns (uint80, int256, uint256, uint256, uint80) {
        Rounds storage rounds = _rounds();
        return (round, rounds.answer[round], rounds.updatedAt[round], rounds.updatedAt[round], round);
    }

    function _set(uint80 round, int256 answer, uint256 updatedAt) private {
        Rounds storage rounds = _rounds();
        rounds.latest = round;
        rounds.answer[round] = answer;
        rounds.updatedAt[round] = updatedAt;
    }

    /// @dev Away from the storage of the code that was here.
    function _rounds() private pure returns (Rounds storage rounds) {
        bytes32 slot = keccak256("parametric-cover-service.forked-aggregator");
        assembly {
            rounds.slot := slot
        }
    }
}
