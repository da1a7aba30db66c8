// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "../base/Upgradeable.sol";
import {IPriceOracle} from "../interfaces/IPriceOracle.sol";

/// @title The price oracle of local chains and testnets: any account may set its price and its failure.
contract PriceOracle is IPriceOracle, Upgradeable {
    /// @notice The age from which the deployed oracle's observation is stale.
    uint256 private constant MAX_AGE = 1 hours;

    uint256 private immutable firstPrice;
    /// @inheritdoc IPriceOracle
    uint256 public emergencyPrice;
    /// @inheritdoc IPriceOracle
    address public constant pool = address(0);
    /// @notice While it is set, `getLuminaPrice` reverts with OracleStale.
    bool public stale;

    constructor(uint256 firstPrice_) {
        firstPrice = firstPrice_;
    }

    function _initialize(address) internal override {
        emergencyPrice = firstPrice;
    }

    /// @param price USD with 18 decimals.
    function setPrice(uint256 price) external {
        emergencyPrice = price;
    }

    function setStale(bool stale_) external {
        stale = stale_;
    }

    /// @inheritdoc IPriceOracle
    function getLuminaPrice() external view returns (uint256) {
        if (stale) revert OracleStale(MAX_AGE + 1, MAX_AGE);
        return emergencyPrice;
    }
}
