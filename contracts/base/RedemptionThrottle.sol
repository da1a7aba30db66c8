// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Limits the tokens of the reserve that redemptions may use in a week.
/// @notice A redemption epoch is a week, floor(timestamp / 7 days), unlike a bond's epoch, the month of its maturity.
abstract contract RedemptionThrottle {
    /// @notice 1.08 % of the reserve at the start of the week.
    uint256 public constant THROTTLE_BPS = 108;

    /// @notice Tokens that back the bonds, 18 decimals.
    uint256 public reserve;
    /// @notice Tokens paid in the week of `throttleEpoch`.
    uint256 public paidInEpoch;
    /// @notice The week of the other numbers.
    uint256 public throttleEpoch;
    uint256 public reserveAtEpochStart;
    /// @notice Dollars in the queue, and the part that was queued this week and so is not due yet.
    uint256 public queuedUsd;
    uint256 public queuedThisEpochUsd;

    function currentEpoch() public view returns (uint256) {
        return block.timestamp / 7 days;
    }

    /// @notice Starts a new week if the last change of the reserve was in an earlier one. Call it before each change.
    function _roll() internal {
        if (throttleEpoch == currentEpoch()) return;
        (throttleEpoch, reserveAtEpochStart, paidInEpoch, queuedThisEpochUsd) = (currentEpoch(), reserve, 0, 0);
    }

    /// @notice Tokens that may still be paid this week.
    function throttleLeft() external view returns (uint256) {
        return _throttleLeft();
    }

    function _throttleLeft() internal view returns (uint256) {
        if (throttleEpoch != currentEpoch()) return reserve * THROTTLE_BPS / 10_000;
        uint256 limit = reserveAtEpochStart * THROTTLE_BPS / 10_000;
        return limit > paidInEpoch ? limit - paidInEpoch : 0;
    }

    /// @notice Dollars in the queue that can be paid this week.
    function _dueInQueue() internal view returns (uint256) {
        return throttleEpoch == currentEpoch() ? queuedUsd - queuedThisEpochUsd : queuedUsd;
    }

    function _noteQueued(uint256 usdAmount) internal {
        _roll();
        queuedUsd += usdAmount;
        queuedThisEpochUsd += usdAmount;
    }

    function _notePaid(uint256 usdAmount) internal {
        queuedUsd -= usdAmount;
    }

    function _notePayment(uint256 tokenAmount) internal {
        _roll();
        paidInEpoch += tokenAmount;
        reserve -= tokenAmount;
    }

    function _increaseReserve(uint256 tokenAmount) internal {
        _roll();
        reserve += tokenAmount;
    }

    function _decreaseReserve(uint256 tokenAmount) internal {
        _roll();
        reserve -= tokenAmount;
    }
}
