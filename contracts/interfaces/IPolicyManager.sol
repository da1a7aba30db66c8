// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The register of products and policies. A policy's key is (productId, policyId).
interface IPolicyManager {
    struct Policy {
        bytes32 productId;
        address shield;
        address buyer;
        uint256 coverage;
        uint256 payout;
        uint256 premium;
        uint256 createdAt;
        uint256 expiresAt;
        bool triggered;
        bool expired;
    }

    /// @param waitingEndsAt 0 when the product has no waiting period.
    /// @param priceSnapshot token price in USD, 18 decimals; 0 for a policy of release V5.0.
    /// @param bondEpochId 0 until triggered.
    struct PolicyDetails {
        uint256 waitingEndsAt;
        uint256 priceSnapshot;
        uint256 triggeredAt;
        uint256 bondEpochId;
        bool cancelled;
    }

    /// @param shield the shield that holds the policy and decides its trigger.
    /// @param waitingEndsAt 0 when the product has no waiting period.
    struct NewPolicy {
        bytes32 productId;
        address shield;
        address buyer;
        uint256 coverage;
        uint256 payout;
        uint256 premium;
        uint256 waitingEndsAt;
        uint256 expiresAt;
        bool legacy;
    }

    event PolicyCreated(
        bytes32 indexed productId,
        uint256 indexed policyId,
        address buyer,
        uint256 coverage,
        uint256 premium,
        uint256 payout
    );
    event PolicyTriggered(
        bytes32 indexed productId, uint256 indexed policyId, address buyer, uint256 bondAmount, bytes32 reason
    );
    event PolicyExpired(bytes32 indexed productId, uint256 indexed policyId);
    event PolicyCancelled(bytes32 indexed productId, uint256 indexed policyId);
    event ProductRegistered(bytes32 indexed productId, address shield);
    event ProductDeactivated(bytes32 indexed productId);
    event ProductRemoved(bytes32 indexed productId);

    /// @notice In whole dollars.
    error InsufficientCapacity(uint256 required, uint256 available);
    error NotRouter(address caller);
    error PolicyNotExpired(bytes32 productId, uint256 policyId, uint256 expiresAt);

    /// @notice The router opens a policy; the vault reserves its payout. @return price the token's price, 18 decimals.
    function createPolicy(NewPolicy calldata policy) external returns (uint256 policyId, uint256 price);

    /// @notice The router pays a triggered policy: the buyer gets bonds.
    function triggerPolicy(bytes32 productId, uint256 policyId, bytes32 reason) external;

    /// @notice All zero for a policy that does not exist.
    function getPolicy(bytes32 productId, uint256 policyId) external view returns (Policy memory);
    function policyDetails(bytes32 productId, uint256 policyId) external view returns (PolicyDetails memory);
    /// @notice The shield of a policy at its purchase.
    function policyShield(bytes32 productId, uint256 policyId) external view returns (address);
    function policyCount(bytes32 productId) external view returns (uint256);
    function productShield(bytes32 productId) external view returns (address);
    function productActive(bytes32 productId) external view returns (bool);

    /// @notice Closes an expired policy and releases its reserved capacity. Any account may call it.
    function markExpired(bytes32 productId, uint256 policyId) external;

    /// @notice The owner cancels an open policy and refunds its premium from their own USDC.
    function cancelPolicy(bytes32 productId, uint256 policyId) external;
}
