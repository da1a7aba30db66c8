// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The trigger of one product: window, oracle and asset.
/// @notice Reverts with the strings NOT_ROUTER, SEQUENCER_DOWN, ORACLE_INVALID, ORACLE_STALE, POLICY_EXISTS,
/// INVALID_WINDOW, WINDOW_MISMATCH, POLICY_NOT_FOUND, ALREADY_FINALIZED, WINDOW_EXPIRED, TRIGGER_NOT_MET.
interface IFlashShield {
    error InvalidAsset(bytes32 asset);

    function productId() external view returns (bytes32);
    function asset() external view returns (bytes32);
    function durationSeconds() external view returns (uint32);
    function triggerDropBps() external view returns (uint16);

    /// @notice The highest price of the asset, USD with 18 decimals, that triggers the policy; 0 for an unknown one.
    function triggerPrice(uint256 policyId) external view returns (uint256);

    /// @notice Records the purchase price of the asset and the window of a new policy.
    function openPolicy(uint256 policyId, bytes32 asset_, uint256 startsAt, uint256 coverFrom, uint256 endsAt) external;

    /// @notice Finalises the policy if three rounds of the feed are at or below its trigger price; else reverts.
    function evaluateTrigger(uint256 policyId, bytes calldata oracleProof) external returns (bytes32 reason);
}
