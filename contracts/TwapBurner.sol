// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IPriceOracle} from "./interfaces/IPriceOracle.sol";
import {ITwapBurner} from "./interfaces/ITwapBurner.sol";
import {ChainIds} from "./libraries/ChainIds.sol";

/// @title The burner; see ITwapBurner. Small burns over time average the price.
/// @notice In place of the deployed burner's pool it holds the treasury's tokens, and buys them at the price oracle's price.
contract TwapBurner is ITwapBurner, Upgradeable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    uint256 private constant BPS = 10_000;
    uint256 private constant BUYBACK_BPS = 800;
    uint256 private constant OPS_BPS = 200;
    uint256 private constant MAINTENANCE_BPS = 500;
    uint256 private constant BURN_BPS = 8500;

    IERC20 public immutable usdc;
    ERC20Burnable public immutable token;
    IPriceOracle public immutable priceOracle;
    /// @notice Receives the USDC for its tokens.
    address public immutable treasury;

    uint256 public burnCooldown;
    uint256 public minBurnAmount;
    uint256 public maxBurnAmount;
    uint256 public lastBurnTime;
    /// @notice Whether a part of the USDC goes to the reserves below, and only the rest is burned.
    bool public adaptiveModeEnabled;
    address public buybackReserve;
    address public opsReserve;
    address public maintenanceReserve;

    constructor(IERC20 usdc_, ERC20Burnable token_, IPriceOracle priceOracle_, address treasury_) {
        (usdc, token, priceOracle, treasury) = (usdc_, token_, priceOracle_, treasury_);
    }

    function _initialize(address) internal override {
        (burnCooldown, minBurnAmount, maxBurnAmount) = (900, 1e6, 10_000e6);
    }

    function setBurnCooldown(uint256 value) external onlyOwner {
        burnCooldown = value;
        emit ConfigUpdated("burnCooldown", value);
    }

    function setMinBurnAmount(uint256 value) external onlyOwner {
        minBurnAmount = value;
        emit ConfigUpdated("minBurnAmount", value);
    }

    function setMaxBurnAmount(uint256 value) external onlyOwner {
        maxBurnAmount = value;
        emit ConfigUpdated("maxBurnAmount", value);
    }

    /// @notice A share of the adaptive mode is sent only if its reserve is set; else it stays here.
    function setReserves(address buyback, address ops, address maintenance) external onlyOwner {
        (buybackReserve, opsReserve, maintenanceReserve) = (buyback, ops, maintenance);
        emit ReservesUpdated(buyback, ops, maintenance);
    }

    function setAdaptiveMode(bool enabled) external onlyOwner {
        adaptiveModeEnabled = enabled;
        emit AdaptiveModeUpdated(enabled);
    }

    /// @inheritdoc ITwapBurner
    function receivePremium(uint256 amount) external {
        usdc.safeTransferFrom(msg.sender, address(this), amount);
        emit PremiumReceived(msg.sender, amount);
    }

    /// @inheritdoc ITwapBurner
    function executeBurn() external nonReentrant {
        ChainIds.requireKnown();
        require(block.timestamp >= lastBurnTime + burnCooldown, "Cooldown active");
        require(pendingUSDC() >= minBurnAmount, "Below minimum");
        lastBurnTime = block.timestamp;
        uint256 total = Math.min(pendingUSDC(), maxBurnAmount);
        if (!adaptiveModeEnabled) {
            _burn(total);
            emit LegacyBurnExecuted(total);
            return;
        }
        uint256 burned = total * BURN_BPS / BPS;
        uint256 toBuyback = _share(buybackReserve, total * BUYBACK_BPS / BPS);
        uint256 toOps = _share(opsReserve, total * OPS_BPS / BPS);
        uint256 toMaintenance = _share(maintenanceReserve, total * MAINTENANCE_BPS / BPS);
        _burn(burned);
        emit AdaptiveDistributionExecuted(total, burned, toBuyback, toOps, toMaintenance);
    }

    /// @inheritdoc ITwapBurner
    function pendingUSDC() public view returns (uint256) {
        return usdc.balanceOf(address(this));
    }

    /// @inheritdoc ITwapBurner
    function canBurn() external view returns (bool) {
        return block.timestamp >= lastBurnTime + burnCooldown && pendingUSDC() >= minBurnAmount;
    }

    /// @return amount the share, also when there is no reserve to send it to.
    function _share(address reserve, uint256 share) private returns (uint256 amount) {
        if (reserve != address(0)) usdc.safeTransfer(reserve, share);
        return share;
    }

    function _burn(uint256 spent) private {
        // USDC has 6 decimals, token and price 18.
        uint256 tokenBurned = Math.mulDiv(spent, 1e30, priceOracle.getLuminaPrice());
        usdc.forceApprove(address(this), spent);
        usdc.safeTransferFrom(address(this), treasury, spent);
        token.burn(tokenBurned);
        emit BurnExecuted(spent, tokenBurned, Math.mulDiv(spent, 1e18, tokenBurned), block.timestamp);
    }
}
