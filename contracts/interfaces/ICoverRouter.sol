// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The contract that sells and triggers cover.
/// @notice Amounts in USDC have 6 decimals, prices 18, rates are parts per million, ratios basis points.
interface ICoverRouter {
    /// @param premiumPpm premium in millionths of the coverage: 2920 is 2.92 USD per 1000 USD.
    /// @param legacy a product of release V5.0: its policies have no price snapshot.
    struct ProductConfig {
        address shield;
        bytes32 asset;
        uint16 payoutRatioBps;
        uint16 triggerProbBps;
        uint16 marginBps;
        uint16 triggerDropBps;
        uint32 premiumPpm;
        uint32 durationSeconds;
        uint32 waitingSeconds;
        bool active;
        bool legacy;
        bool paused;
    }

    event PolicyPurchased(
        bytes32 indexed productId,
        uint256 indexed policyId,
        address indexed buyer,
        uint256 coverage,
        uint256 premium,
        uint256 payout,
        address paidBy
    );
    event PolicyPriceSnapshot(bytes32 indexed productId, uint256 indexed policyId, uint256 priceSnapshot);
    event TriggerSubmitted(bytes32 indexed productId, uint256 indexed policyId, address submitter);
    event ProductConfigured(bytes32 indexed productId);
    /// @notice Emitted beside ProductConfigured, so that an index needs no call to read a product's terms.
    event ProductTermsSet(
        bytes32 indexed productId,
        string name,
        bytes32 asset,
        uint32 durationSeconds,
        uint32 waitingSeconds,
        uint32 premiumPpm,
        uint16 triggerDropBps,
        bool legacy
    );
    event ProductPauseSet(bytes32 indexed productId, bool paused);
    event Paused(bool state);
    event AutoPauseActivated(uint256 priceWei);
    event AutoPauseDeactivated(uint256 priceWei);
    event RelayerUpdated(address relayer, bool authorized);
    event MinimumTokenPriceSet(uint256 price);

    error ContractPaused();
    error ProductNotConfigured(bytes32 productId);
    error ProductInactive(bytes32 productId);
    /// @notice The caller used a paused function of an earlier release.
    error ShieldPaused(bytes32 productId);
    error InvalidCoverage(uint256 amount);
    error NotAuthorizedRelayer(address caller);

    function purchasePolicyFor(bytes32 productId, uint256 coverageAmount, bytes32 asset, address buyer)
        external
        returns (uint256 policyId);

    function purchasePolicy(bytes32 productId, uint256 coverageAmount, bytes32 asset)
        external
        returns (uint256 policyId);

    /// @param oracleProof abi.encode(uint80[3]): three rising rounds of the product's feed.
    function submitTrigger(bytes32 productId, uint256 policyId, bytes calldata oracleProof) external;

    /// @notice Pauses the router if the token's price is below the minimum, else resumes it. Any account may call it.
    /// @return whether the router is now paused because of the price.
    function checkAutoPause() external returns (bool);

    function quotePremium(bytes32 productId, uint256 coverageAmount)
        external
        view
        returns (uint256 premium, uint256 payout);

    /// @notice All zero for a product that was never configured.
    function getProductConfig(bytes32 productId) external view returns (ProductConfig memory);
    function productList(uint256 index) external view returns (bytes32);
    function getProductCount() external view returns (uint256);
    function authorizedRelayers(address relayer) external view returns (bool);
    /// @notice Whether the owner or the token's price has paused the router. The registry has the global pause.
    function paused() external view returns (bool);
    /// @notice Whether the token's price has paused the router. `checkAutoPause` updates it.
    function isProtocolAutoPaused() external view returns (bool);
    function isSequencerActive() external view returns (bool);
}
