// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {RouterAdmin} from "./base/RouterAdmin.sol";
import {ICoverRouter} from "./interfaces/ICoverRouter.sol";
import {IGlobalPauseRegistry} from "./interfaces/IGlobalPauseRegistry.sol";
import {IPolicyManager} from "./interfaces/IPolicyManager.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";
import {IPriceOracle} from "./interfaces/IPriceOracle.sol";
import {ChainIds} from "./libraries/ChainIds.sol";
import {Sequencer} from "./libraries/Sequencer.sol";
import {TwapBurner} from "./TwapBurner.sol";

/// @title The contract that sells cover and submits triggers; see ICoverRouter.
contract CoverRouter is RouterAdmin, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @dev 100 USDC.
    uint256 private constant MINIMUM_COVERAGE = 100_000_000;

    IPolicyManager public immutable policyManager;
    IERC20 public immutable usdc;
    TwapBurner public immutable twapBurner;
    /// @notice The deployed router has none, and no such function.
    IGlobalPauseRegistry public immutable globalPauseRegistry;
    IPriceFeed public immutable sequencerFeed;
    uint256 public immutable MAX_COVERAGE_PER_POLICY;

    constructor(
        IPolicyManager policyManager_,
        IERC20 usdc_,
        TwapBurner twapBurner_,
        IGlobalPauseRegistry globalPauseRegistry_,
        IPriceOracle capacityOracle_,
        IPriceFeed sequencerFeed_,
        uint256 maximumCoverage
    ) RouterAdmin(capacityOracle_) {
        (policyManager, usdc, twapBurner) = (policyManager_, usdc_, twapBurner_);
        (globalPauseRegistry, sequencerFeed) = (globalPauseRegistry_, sequencerFeed_);
        MAX_COVERAGE_PER_POLICY = maximumCoverage;
    }

    /// @inheritdoc ICoverRouter
    function purchasePolicyFor(bytes32 productId, uint256 coverageAmount, bytes32 asset, address buyer)
        external
        nonReentrant
        returns (uint256 policyId)
    {
        _requireOpen();
        ChainIds.requireKnown();
        if (!authorizedRelayers[msg.sender]) revert NotAuthorizedRelayer(msg.sender);
        require(buyer != address(0), "Zero buyer");
        return _purchase(productId, coverageAmount, asset, buyer);
    }

    /// @inheritdoc ICoverRouter
    function purchasePolicy(bytes32 productId, uint256 coverageAmount, bytes32 asset)
        external
        nonReentrant
        returns (uint256 policyId)
    {
        _requireOpen();
        ChainIds.requireKnown();
        return _purchase(productId, coverageAmount, asset, msg.sender);
    }

    /// @inheritdoc ICoverRouter
    function submitTrigger(bytes32 productId, uint256 policyId, bytes calldata oracleProof) external nonReentrant {
        ChainIds.requireKnown();
        bool allowed = authorizedRelayers[msg.sender] || msg.sender == owner();
        if (!allowed) revert NotAuthorizedRelayer(msg.sender);
        policyManager.triggerPayout(productId, policyId, oracleProof);
        emit TriggerSubmitted(productId, policyId, msg.sender);
    }

    /// @inheritdoc ICoverRouter
    function quotePremium(bytes32 productId, uint256 coverageAmount)
        public
        view
        returns (uint256 premium, uint256 payout)
    {
        ProductConfig storage product = products[productId];
        require(product.productId != bytes32(0), "Product not configured");
        payout = coverageAmount * product.payoutRatioBps / 1e4;
        uint256 ppm = exactPremiums[productId];
        premium = ppm > 0
            ? coverageAmount * ppm / 1e6
            : coverageAmount * product.payoutRatioBps * product.triggerProbBps * product.marginBps / 1e12;
        if (premium == 0) premium = 1;
    }

    /// @inheritdoc ICoverRouter
    function isSequencerActive() public view returns (bool) {
        return Sequencer.isActive(sequencerFeed);
    }

    function _requireOpen() private view {
        bool global = address(globalPauseRegistry) != address(0) && globalPauseRegistry.isGloballyPaused();
        if (paused || global) revert ContractPaused();
        require(isSequencerActive(), "SEQUENCER_DOWN");
    }

    function _purchase(bytes32 productId, uint256 coverage, bytes32 asset, address buyer)
        private
        returns (uint256 policyId)
    {
        require(!isProtocolAutoPaused(), "Protocol auto-paused: LUMINA price below safety threshold");
        ProductConfig storage product = products[productId];
        if (product.productId == bytes32(0)) revert ProductNotConfigured(productId);
        if (!product.active) revert ProductInactive(productId);
        if (coverage < MINIMUM_COVERAGE || coverage > MAX_COVERAGE_PER_POLICY) revert InvalidCoverage(coverage);

        (uint256 premium, uint256 payout) = quotePremium(productId, coverage);
        usdc.safeTransferFrom(buyer, address(this), premium);
        usdc.forceApprove(address(twapBurner), premium);
        twapBurner.receivePremium(premium);
        policyId =
            policyManager.recordPolicy(productId, buyer, coverage, premium, product.durationSeconds, asset);
        emit PolicyPurchased(productId, policyId, buyer, coverage, premium, payout, msg.sender);
    }
}
