// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The adapter between the policy manager and one slim shield. A product's `shield` is the address of its adapter.
interface IShieldAdapter {
    /// @param stage @param target @param extraData are not used.
    struct NewPolicy {
        address buyer;
        uint256 coverage;
        uint256 premium;
        uint32 durationSeconds;
        bytes32 asset;
        bytes32 stage;
        address target;
        bytes extraData;
    }

    /// @notice By checkAndSettlePolicy alone. @param reason ACCRUING and RESET settle nothing.
    event PolicySettled(uint256 indexed policyId, bool triggered, bytes32 reason);
    event KeeperUpdated(address indexed oldKeeper, address indexed newKeeper);
    event RelayerUpdated(address indexed oldRelayer, address indexed newRelayer);

    /// @return policyId the adapter's own count, from 1.
    function createPolicy(NewPolicy calldata policy) external returns (uint256 policyId);

    /// @notice Evaluates a policy for the manager; see IFlashShield.evaluate. The proof is ignored.
    function verifyAndCalculate(uint256 policyId, bytes calldata oracleProof)
        external
        returns (bool triggered, uint256 payout, bytes32 reason);

    /// @notice Evaluates a policy and settles it with the manager. Reverts with POLICY_NOT_FOUND, ALREADY_FINALIZED,
    /// NOT_SETTLEABLE_YET, ORACLE_UNAVAILABLE, or as the payout does.
    function checkAndSettlePolicy(uint256 policyId) external;

    function productId() external view returns (bytes32);
}
