// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Burner} from "./base/Burner.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";

/// @title The burner that spends premiums. Its keeper spends them in small steps over time, which averages the price.
contract TwapBurner is Burner {
    constructor(
        IERC20 usdc_,
        ERC20Burnable token_,
        IPriceFeed tokenUsdFeed_,
        address treasury_,
        address router_
    ) Burner(usdc_, token_, tokenUsdFeed_, treasury_, router_) {}

    /// @notice The router reports a premium that it has transferred here.
    function notePremium(address from, uint256 usdcAmount) external onlySource {
        emit PremiumReceived(from, usdcAmount);
    }
}
