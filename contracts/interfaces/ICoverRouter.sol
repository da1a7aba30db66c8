// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The contract that sells cover and submits triggers.
/// @notice Amounts of USDC have 6 decimals, prices of the token 18, ratios are basis points.
interface ICoverRouter {
    struct ProductConfig {
        bytes32 productId;
        uint256 payoutRatioBps;
        uint256 triggerProbBps;
        uint256 marginBps;
        uint32 durationSeconds;
        bool active;
    }

    /// @param paidBy the sender. The buyer pays.
    event PolicyPurchased(
        bytes32 indexed productId,
        uint256 indexed policyId,
        address indexed buyer,
        uint256 coverage,
        uint256 premium,
        uint256 payout,
        address paidBy
    );
    /// @notice Only after a submitTrigger that paid.
    event TriggerSubmitted(bytes32 indexed productId, uint256 indexed policyId, address submitter);
    event ProductConfigured(bytes32 indexed productId);
    event Paused(bool state);
    event AutoPauseActivated(uint256 priceWei);
    event AutoPauseDeactivated(uint256 priceWei);
    event RelayerUpdated(address relayer, bool authorized);
    /// @notice The next five of the deployed router alone.
    event PolicyManagerUpdated(address indexed oldManager, address indexed newManager);
    event TwapBurnerUpdated(address indexed oldBurner, address indexed newBurner);
    event CapacityOracleUpdated(address indexed oldOracle, address indexed newOracle);
    event SequencerFeedUpdated(address indexed oldFeed, address indexed newFeed);
    event UsdcUpdated(address indexed oldUsdc, address indexed newUsdc);

    error ContractPaused();
    error ProductNotConfigured(bytes32 productId);
    error ProductInactive(bytes32 productId);
    error InvalidCoverage(uint256 amount);
    error NotAuthorizedRelayer(address caller);

    /// @notice A relayer buys for `buyer`, who pays the premium and must have approved the router.
    function purchasePolicyFor(bytes32 productId, uint256 coverageAmount, bytes32 asset, address buyer)
        external
        returns (uint256 policyId);

    function purchasePolicy(bytes32 productId, uint256 coverageAmount, bytes32 asset)
        external
        returns (uint256 policyId);

    /// @notice Relayers and the owner make the observation that pays.
    /// @param oracleProof is ignored: send none.
    function submitTrigger(bytes32 productId, uint256 policyId, bytes calldata oracleProof) external;

    /// @notice Stores or clears `autoPausedOnce`. Any account may call it.
    function syncCircuitBreaker() external;

    function quotePremium(bytes32 productId, uint256 coverageAmount)
        external
        view
        returns (uint256 premium, uint256 payout);

    /// @notice All zero for a product that was never configured.
    function getProductConfig(bytes32 productId) external view returns (ProductConfig memory);
    function productList(uint256 index) external view returns (bytes32);
    function getProductCount() external view returns (uint256);
    function authorizedRelayers(address relayer) external view returns (bool);
    /// @notice The owner's switch alone.
    function paused() external view returns (bool);
    /// @notice Whether the token's price stops sales now. Reverts as the price oracle does.
    function isProtocolAutoPaused() external view returns (bool);
    function isSequencerActive() external view returns (bool);
}
