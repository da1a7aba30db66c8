// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The burner: receives premiums and the marketplace's fees, buys protocol tokens with the USDC and burns them.
interface ITwapBurner {
    event PremiumReceived(address indexed from, uint256 amount);
    /// @param effectivePrice USDC per token, with 6 decimals.
    event BurnExecuted(uint256 usdcSpent, uint256 tokenBurned, uint256 effectivePrice, uint256 timestamp);
    event LegacyBurnExecuted(uint256 usdcSpent);
    event AdaptiveDistributionExecuted(
        uint256 total, uint256 burned, uint256 toBuyback, uint256 toOps, uint256 toMaintenance
    );
    event ConfigUpdated(string name, uint256 value);
    event ReservesUpdated(address indexed buyback, address indexed ops, address indexed maintenance);
    event AdaptiveModeUpdated(bool enabled);

    /// @notice Pulls USDC from the sender.
    function receivePremium(uint256 amount) external;
    /// @notice Spends the waiting USDC, at most `maxBurnAmount`. Anybody may call it, once in a cooldown.
    function executeBurn() external;
    /// @notice The USDC that waits to be spent.
    function pendingUSDC() external view returns (uint256);
    function canBurn() external view returns (bool);
}
