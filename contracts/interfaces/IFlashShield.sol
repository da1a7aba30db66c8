// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceFeed} from "./IPriceFeed.sol";

/// @title The slim shield of one adapter: it knows each policy's strike and window, and observes the price's fall.
/// @notice Prices have 8 decimals, amounts of USDC 6, times are Unix seconds. Reverts with the strings ONLY_ROUTER,
/// POLICY_EXISTS, INVALID_WINDOW, WINDOW_MISMATCH, POLICY_NOT_FOUND, ALREADY_FINALIZED, DWELL_NOT_ELAPSED, SEQUENCER_DOWN,
/// SAME_BLOCK_OBSERVATION, STALE_ROUND_OBSERVATION, CONFIRMATION_TOO_SOON, ORACLE_UNAVAILABLE and those of libraries/Price.
interface IFlashShield {
    event PolicyCreated(
        uint256 indexed policyId,
        address indexed holder,
        uint256 coverage,
        uint256 strikePrice,
        uint64 startTimestamp,
        uint64 expiresAt
    );
    /// @param count the number of observations after this one.
    event ConfirmationObserved(uint256 indexed policyId, uint8 count, uint256 reserved1, uint256 reserved2);
    /// @param reason ACCRUING, RESET, TRIGGER_DROP or WINDOW_EXPIRED in ASCII.
    event PolicyVerified(uint256 indexed policyId, bool triggered, uint256 payout, uint256 dropBps, bytes32 reason);

    error InvalidAsset(bytes32 asset);

    function openPolicy(
        uint256 policyId,
        address holder,
        uint256 coverage,
        bytes32 asset_,
        uint64 startTimestamp,
        uint64 expiresAt
    ) external;

    /// @notice Evaluates a policy once: observes, resets, triggers or expires it, or reverts.
    function evaluate(uint256 policyId) external returns (bool triggered, uint256 payout, bytes32 reason);

    /// @notice All zero for a policy that does not exist.
    function getPolicyInfo(uint256 policyId)
        external
        view
        returns (
            address holder,
            uint256 coverage,
            uint256 strikePrice,
            uint64 startTimestamp,
            uint64 expiresAt,
            bool finalized
        );
    function getConfirmation(uint256 policyId) external view returns (uint8 count, uint64 lastObservation);
    /// @notice Whether sequencer and price allow an observation now.
    function oracleEvaluable() external view returns (bool);
    function asset() external view returns (bytes32);
    function priceFeed() external view returns (IPriceFeed);
    function sequencerFeed() external view returns (IPriceFeed);
    /// @notice The adapter.
    function router() external view returns (address);
}
