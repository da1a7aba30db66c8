// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondMarketplace} from "./interfaces/IBondMarketplace.sol";
import {IBondVault} from "./interfaces/IBondVault.sol";
import {IClaimBond} from "./interfaces/IClaimBond.sol";
import {IPriceOracle} from "./interfaces/IPriceOracle.sol";

/// @title Buys listed bonds with the USDC that it holds and burns them, and with them tokens of the vault's reserve.
contract BuybackEngine is Upgradeable, AccessControl, ERC1155Holder, ReentrancyGuard {
    using SafeERC20 for IERC20;

    bytes32 public constant BUYBACK_OPERATOR_ROLE = keccak256("BUYBACK_OPERATOR_ROLE");
    /// @notice The reserve's value over the obligations, below which no tokens of the reserve are burned.
    uint256 public constant SOLVENCY_THRESHOLD_BPS = 15_000;
    /// @notice Tokens burned, by value, for the face value of the bonds.
    uint256 private constant BURN_BPS = 10_200;
    uint256 private constant BPS = 10_000;

    IERC20 public immutable usdc;
    IBondMarketplace public immutable marketplace;
    IClaimBond public immutable claimBond;
    IBondVault public immutable vault;
    IPriceOracle public immutable priceOracle;

    event OfferExecuted(uint256 indexed listingId, uint256 epochId, uint256 amount, uint256 priceUSDC);
    event DoubleBurnExecuted(uint256 epochId, uint256 obligationsReduced, uint256 tokenBurned);
    event CircuitBreakerTriggered(uint256 solvency, uint256 threshold);
    event DailyBuybackConfigured(uint256 budget, uint256 maxPercent, uint256 hoursInDay);

    constructor(
        IERC20 usdc_,
        IBondMarketplace marketplace_,
        IClaimBond claimBond_,
        IBondVault vault_,
        IPriceOracle priceOracle_
    ) {
        (usdc, marketplace, claimBond, vault, priceOracle) =
            (usdc_, marketplace_, claimBond_, vault_, priceOracle_);
    }

    function _initialize(address owner_) internal override {
        _grantRole(DEFAULT_ADMIN_ROLE, owner_);
        _grantRole(BUYBACK_OPERATOR_ROLE, owner_);
    }

    /// @notice Announces a daily budget; here the operator keeps to it.
    function setDailyBuyback(uint256 budget, uint256 maxPercent, uint256 hoursInDay)
        external
        onlyRole(BUYBACK_OPERATOR_ROLE)
    {
        emit DailyBuybackConfigured(budget, maxPercent, hoursInDay);
    }

    /// @notice Buys a listing, burns its bonds, and burns tokens of the reserve worth 102 % of their face value.
    function executeOffer(uint256 listingId) external onlyRole(BUYBACK_OPERATOR_ROLE) nonReentrant {
        (, uint256 epochId, uint256 amount, uint256 priceUSDC,) = marketplace.getListing(listingId);
        (, uint256 buyerFee,) = marketplace.calculateFees(priceUSDC);
        usdc.forceApprove(address(marketplace), priceUSDC + buyerFee);
        marketplace.executeBuy(listingId);
        usdc.forceApprove(address(marketplace), 0);
        claimBond.burnByHolder(address(this), epochId, amount);
        _burnReserve(epochId, amount);
        emit OfferExecuted(listingId, epochId, amount, priceUSDC);
    }

    function supportsInterface(bytes4 id) public view override(AccessControl, ERC1155Holder) returns (bool) {
        return super.supportsInterface(id);
    }

    function _burnReserve(uint256 epochId, uint256 amount) private {
        (, uint256 reserveValue, uint256 committed,,) = vault.getStatus();
        uint256 solvency = committed == 0 ? type(uint256).max : reserveValue * BPS / committed;
        if (solvency < SOLVENCY_THRESHOLD_BPS) {
            emit CircuitBreakerTriggered(solvency, SOLVENCY_THRESHOLD_BPS);
            return;
        }
        uint256 value = amount * 1e18 * BURN_BPS / BPS;
        uint256 tokenBurned = Math.mulDiv(value, 1e18, priceOracle.getLuminaPrice());
        vault.burnFromReserves(tokenBurned);
        emit DoubleBurnExecuted(epochId, amount * 1e18, tokenBurned);
    }
}
