// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./Upgradeable.sol";
import {ICoverRouter} from "../interfaces/ICoverRouter.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";

/// @title The router's products, relayers and pauses.
abstract contract RouterAdmin is ICoverRouter, Upgradeable {
    uint256 public constant MIN_PRICE_FOR_NEW_POLICIES = 5e15;
    uint256 public constant RESET_PRICE_FOR_NEW_POLICIES = 8e15;
    uint256 internal constant PAYOUT_RATIO_BPS = 8000;

    IPriceOracle public immutable capacityOracle;
    bytes32[] public productList;
    mapping(bytes32 productId => ProductConfig) public products;
    mapping(address => bool) public authorizedRelayers;
    /// @inheritdoc ICoverRouter
    bool public paused;
    /// @notice While it is set, sales need the higher price.
    bool public autoPausedOnce;
    /// @notice Local: a premium in millionths of the coverage in place of the basis points; 0 is none.
    mapping(bytes32 productId => uint256 ppm) public exactPremiums;

    constructor(IPriceOracle capacityOracle_) {
        capacityOracle = capacityOracle_;
    }

    function configureProduct(
        bytes32 productId,
        uint256 payoutRatioBps,
        uint256 triggerProbBps,
        uint256 marginBps,
        uint32 durationSeconds,
        bool active
    ) external onlyOwner {
        require(payoutRatioBps == PAYOUT_RATIO_BPS, "Payout ratio must be 8000");
        if (products[productId].productId == bytes32(0)) productList.push(productId);
        products[productId] =
            ProductConfig(productId, payoutRatioBps, triggerProbBps, marginBps, durationSeconds, active);
        emit ProductConfigured(productId);
    }

    function setExactPremium(bytes32 productId, uint256 ppm) external onlyOwner {
        exactPremiums[productId] = ppm;
    }

    function setRelayer(address relayer, bool authorized) external onlyOwner {
        authorizedRelayers[relayer] = authorized;
        emit RelayerUpdated(relayer, authorized);
    }

    function setPaused(bool state) external onlyOwner {
        paused = state;
        emit Paused(state);
    }

    /// @inheritdoc ICoverRouter
    function syncCircuitBreaker() external {
        bool low = isProtocolAutoPaused();
        if (low == autoPausedOnce) return;
        autoPausedOnce = low;
        uint256 price = capacityOracle.getLuminaPrice();
        if (low) emit AutoPauseActivated(price);
        else emit AutoPauseDeactivated(price);
    }

    /// @inheritdoc ICoverRouter
    function getProductConfig(bytes32 productId) external view returns (ProductConfig memory) {
        return products[productId];
    }

    function getProductCount() external view returns (uint256) {
        return productList.length;
    }

    /// @inheritdoc ICoverRouter
    function isProtocolAutoPaused() public view returns (bool) {
        uint256 needed = autoPausedOnce ? RESET_PRICE_FOR_NEW_POLICIES : MIN_PRICE_FOR_NEW_POLICIES;
        return capacityOracle.getLuminaPrice() < needed;
    }
}
