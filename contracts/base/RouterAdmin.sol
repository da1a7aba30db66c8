// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./Upgradeable.sol";
import {ICoverRouter} from "../interfaces/ICoverRouter.sol";
import {IPolicyManager} from "../interfaces/IPolicyManager.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";

/// @title The functions of the router's owner: products, relayers and pauses.
abstract contract RouterAdmin is ICoverRouter, Upgradeable {
    IPolicyManager public immutable policyManager;
    IPriceOracle public immutable capacityOracle;
    bytes32[] public productList;
    mapping(address => bool) public authorizedRelayers;
    bool public manuallyPaused;
    /// @inheritdoc ICoverRouter
    bool public isProtocolAutoPaused;
    /// @notice The token price, USD with 18 decimals, below which the router is paused automatically; 0 turns that off.
    uint256 public minimumTokenPrice;
    mapping(bytes32 productId => ProductConfig) private _configs;

    constructor(IPolicyManager policyManager_, IPriceOracle capacityOracle_) {
        (policyManager, capacityOracle) = (policyManager_, capacityOracle_);
    }

    /// @notice Sets the terms of a registered product. `active` is ignored; the policy manager decides it.
    /// @param name the text whose keccak256 is the product's id.
    function configureProduct(string calldata name, ProductConfig calldata config) external onlyOwner {
        bytes32 productId = keccak256(bytes(name));
        if (config.shield == address(0) || policyManager.productShield(productId) != config.shield) {
            revert ProductNotConfigured(productId);
        }
        if (_configs[productId].shield == address(0)) productList.push(productId);
        _configs[productId] = config;
        emit ProductConfigured(productId);
        emit ProductTermsSet(
            productId,
            name,
            config.asset,
            config.durationSeconds,
            config.waitingSeconds,
            config.premiumPpm,
            config.triggerDropBps,
            config.legacy
        );
    }

    function setProductPaused(bytes32 productId, bool paused_) external onlyOwner {
        _configured(productId).paused = paused_;
        emit ProductPauseSet(productId, paused_);
    }

    function setRelayer(address relayer, bool authorized) external onlyOwner {
        authorizedRelayers[relayer] = authorized;
        emit RelayerUpdated(relayer, authorized);
    }

    function setPaused(bool state) external onlyOwner {
        manuallyPaused = state;
        emit Paused(state);
    }

    function setMinimumTokenPrice(uint256 price) external onlyOwner {
        minimumTokenPrice = price;
        emit MinimumTokenPriceSet(price);
    }

    /// @inheritdoc ICoverRouter
    function checkAutoPause() external returns (bool) {
        uint256 price = capacityOracle.getLuminaPrice();
        bool low = price < minimumTokenPrice;
        if (low && !isProtocolAutoPaused) emit AutoPauseActivated(price);
        if (!low && isProtocolAutoPaused) emit AutoPauseDeactivated(price);
        return isProtocolAutoPaused = low;
    }

    /// @inheritdoc ICoverRouter
    function paused() public view returns (bool) {
        return manuallyPaused || isProtocolAutoPaused;
    }

    /// @inheritdoc ICoverRouter
    function getProductConfig(bytes32 productId) external view returns (ProductConfig memory config) {
        config = _configs[productId];
        config.active = policyManager.productActive(productId);
    }

    function getProductCount() external view returns (uint256) {
        return productList.length;
    }

    function _configured(bytes32 productId) internal view returns (ProductConfig storage config) {
        config = _configs[productId];
        if (config.shield == address(0)) revert ProductNotConfigured(productId);
    }
}
