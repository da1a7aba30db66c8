// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The register of products and policies.
/// @notice Amounts of USDC have 6 decimals, reservations 18, times are Unix seconds. A policy's key is (productId, policyId);
/// a product with a new adapter counts its policies from 1 again, and a new policy replaces the old one with its key.
interface IPolicyManager {
    struct Policy {
        bytes32 productId;
        address shield;
        address buyer;
        uint256 coverageAmount;
        uint256 payoutAmount;
        uint256 premiumPaid;
        uint256 createdAt;
        uint256 expiresAt;
        bool triggered;
        bool expired;
    }

    event PolicyCreated(
        bytes32 indexed productId,
        uint256 indexed policyId,
        address buyer,
        uint256 coverage,
        uint256 premium,
        uint256 payout
    );
    /// @param bondAmount whole dollars. @param reason TRIGGER_DROP or SETTLED_BY_KEEPER in ASCII.
    event PolicyTriggered(
        bytes32 indexed productId, uint256 indexed policyId, address buyer, uint256 bondAmount, bytes32 reason
    );
    event PolicyExpired(bytes32 indexed productId, uint256 indexed policyId);
    event ProductRegistered(bytes32 indexed productId, address shield);
    event ProductDeactivated(bytes32 indexed productId);
    event ProductRemoved(bytes32 indexed productId);
    /// @notice Of the deployed manager alone, as BondVaultUpdated.
    event RouterUpdated(address indexed oldRouter, address indexed newRouter);
    event BondVaultUpdated(address indexed oldVault, address indexed newVault);

    error OnlyRouter();
    error ProductNotFound(bytes32 productId);
    error ProductNotActive(bytes32 productId);
    /// @notice In whole dollars.
    error InsufficientCapacity(uint256 required, uint256 available);
    /// @notice The oracle does not allow the expiry now: try again.
    error OracleUnavailableRetry(bytes32 productId, uint256 policyId);
    error PolicyTriggerable(bytes32 productId, uint256 policyId);

    /// @notice The router records a purchase; the vault reserves its payout.
    function recordPolicy(
        bytes32 productId,
        address buyer,
        uint256 coverageAmount,
        uint256 premiumPaid,
        uint32 durationSeconds,
        bytes32 asset
    ) external returns (uint256 policyId);

    /// @notice The router pays a policy if its adapter finds it triggered; else reverts.
    function triggerPayout(bytes32 productId, uint256 policyId, bytes calldata oracleProof) external;

    /// @notice A policy's adapter pays or closes it.
    function settlePolicy(bytes32 productId, uint256 policyId, bool triggered) external;

    /// @notice Closes an expired policy and releases its reservation. Any account may call it.
    function markExpired(bytes32 productId, uint256 policyId) external;

    /// @notice All zero for a policy that does not exist.
    function getPolicy(bytes32 productId, uint256 policyId) external view returns (Policy memory);
    /// @notice 0 once the policy is closed.
    function policyReservedUSD(bytes32 productId, uint256 policyId) external view returns (uint256);
    /// @notice The lowest ids that are neither triggered nor expired.
    function getActivePolicyIds(bytes32 productId, uint256 maxResults) external view returns (uint256[] memory);
    function productShield(bytes32 productId) external view returns (address);
    function productActive(bytes32 productId) external view returns (bool);
    /// @notice May hold a product twice: one registered again.
    function productIds(uint256 index) external view returns (bytes32);
    function getProductCount() external view returns (uint256);
}
