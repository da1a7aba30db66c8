// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Burner} from "./base/Burner.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";

/// @title The burner that spends the marketplace's fees.
contract BuybackEngine is Burner {
    constructor(
        IERC20 usdc_,
        ERC20Burnable token_,
        IPriceFeed tokenUsdFeed_,
        address treasury_,
        address marketplace_
    ) Burner(usdc_, token_, tokenUsdFeed_, treasury_, marketplace_) {}

    /// @notice The marketplace reports fees that it has transferred here.
    function noteFees(address from, uint256 usdcAmount) external onlySource {
        emit MarketplaceFeeReceived(from, usdcAmount);
    }
}
