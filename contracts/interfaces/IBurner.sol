// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title A burner: receives USDC income, buys protocol tokens with it and burns them.
interface IBurner {
    /// @param effectivePrice USDC paid per token, as USD with 18 decimals.
    event BurnExecuted(uint256 usdcSpent, uint256 tokenBurned, uint256 effectivePrice, uint256 timestamp);
    event PremiumReceived(address indexed from, uint256 usdcAmount);
    event MarketplaceFeeReceived(address indexed from, uint256 usdcAmount);

    function executeBurn(uint256 usdcAmount) external returns (uint256 tokenBurned);
}
