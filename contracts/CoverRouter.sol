// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {RouterAdmin} from "./base/RouterAdmin.sol";
import {ICoverRouter} from "./interfaces/ICoverRouter.sol";
import {IFlashShield} from "./interfaces/IFlashShield.sol";
import {IGlobalPauseRegistry} from "./interfaces/IGlobalPauseRegistry.sol";
import {IPolicyManager} from "./interfaces/IPolicyManager.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";
import {IPriceOracle} from "./interfaces/IPriceOracle.sol";
import {Sequencer} from "./libraries/Sequencer.sol";
import {TwapBurner} from "./TwapBurner.sol";

/// @title The contract that sells and triggers cover; see ICoverRouter.
contract CoverRouter is RouterAdmin, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @notice 100 USDC.
    uint256 public constant MINIMUM_COVERAGE = 100_000_000;

    IERC20 public immutable usdc;
    TwapBurner public immutable twapBurner;
    IGlobalPauseRegistry public immutable pauseRegistry;
    IPriceFeed public immutable sequencerFeed;

    constructor(
        IPolicyManager policyManager_,
        IERC20 usdc_,
        TwapBurner twapBurner_,
        IGlobalPauseRegistry pauseRegistry_,
        IPriceOracle capacityOracle_,
        IPriceFeed sequencerFeed_
    ) RouterAdmin(policyManager_, capacityOracle_) {
        (usdc, twapBurner, pauseRegistry, sequencerFeed) = (usdc_, twapBurner_, pauseRegistry_, sequencerFeed_);
    }

    /// @inheritdoc ICoverRouter
    function purchasePolicyFor(bytes32 productId, uint256 coverageAmount, bytes32 asset, address buyer)
        external
        nonReentrant
        returns (uint256 policyId)
    {
        _requireNotPaused();
        if (!authorizedRelayers[msg.sender]) revert NotAuthorizedRelayer(msg.sender);
        return _purchase(productId, coverageAmount, asset, buyer);
    }

    /// @inheritdoc ICoverRouter
    function purchasePolicy(bytes32 productId, uint256 coverageAmount, bytes32 asset)
        external
        nonReentrant
        returns (uint256 policyId)
    {
        _requireNotPaused();
        return _purchase(productId, coverageAmount, asset, msg.sender);
    }

    /// @inheritdoc ICoverRouter
    function submitTrigger(bytes32 productId, uint256 policyId, bytes calldata oracleProof) external nonReentrant {
        // A paused router stops only sales. Sold cover still pays, unless the global pause is on.
        if (pauseRegistry.isGloballyPaused()) revert ContractPaused();
        address shield = policyManager.policyShield(productId, policyId);
        if (shield == address(0)) shield = _configured(productId).shield;
        bytes32 reason = IFlashShield(shield).evaluateTrigger(policyId, oracleProof);
        emit TriggerSubmitted(productId, policyId, msg.sender);
        policyManager.triggerPolicy(productId, policyId, reason);
    }

    /// @inheritdoc ICoverRouter
    function quotePremium(bytes32 productId, uint256 coverageAmount)
        external
        view
        returns (uint256 premium, uint256 payout)
    {
        return _quote(_configured(productId), coverageAmount);
    }

    /// @inheritdoc ICoverRouter
    function isSequencerActive() public view returns (bool) {
        return Sequencer.isActive(sequencerFeed);
    }

    function _purchase(bytes32 productId, uint256 coverage, bytes32 asset, address buyer)
        private
        returns (uint256 policyId)
    {
        require(isSequencerActive(), "SEQUENCER_DOWN");
        ProductConfig storage product = _configured(productId);
        if (product.paused) revert ShieldPaused(productId);
        if (!policyManager.productActive(productId)) revert ProductInactive(productId);
        if (coverage < MINIMUM_COVERAGE) revert InvalidCoverage(coverage);

        IPolicyManager.NewPolicy memory policy;
        (policy.premium, policy.payout) = _quote(product, coverage);
        usdc.safeTransferFrom(buyer, address(this), policy.premium);
        usdc.forceApprove(address(twapBurner), policy.premium);
        twapBurner.receivePremium(policy.premium);
        (policy.productId, policy.shield, policy.buyer, policy.coverage) = (productId, product.shield, buyer, coverage);
        policy.expiresAt = block.timestamp + product.durationSeconds;
        if (product.waitingSeconds > 0) policy.waitingEndsAt = block.timestamp + product.waitingSeconds;
        policy.legacy = product.legacy;

        IFlashShield(product.shield)
            .openPolicy(
                policyManager.policyCount(productId) + 1,
                asset,
                block.timestamp,
                block.timestamp + product.waitingSeconds,
                policy.expiresAt
            );
        uint256 price;
        (policyId, price) = policyManager.createPolicy(policy);
        emit PolicyPurchased(productId, policyId, buyer, coverage, policy.premium, policy.payout, buyer);
        if (!policy.legacy) emit PolicyPriceSnapshot(productId, policyId, price);
    }

    function _quote(ProductConfig storage product, uint256 coverage)
        private
        view
        returns (uint256 premium, uint256 payout)
    {
        premium = Math.mulDiv(coverage, product.premiumPpm, 1_000_000, Math.Rounding.Ceil);
        payout = Math.mulDiv(coverage, product.payoutRatioBps, 10_000);
    }

    function _requireNotPaused() private view {
        if (paused() || pauseRegistry.isGloballyPaused()) revert ContractPaused();
    }
}
