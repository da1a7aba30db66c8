// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {GloballyPausable} from "./base/GloballyPausable.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {BuybackEngine} from "./BuybackEngine.sol";
import {IBondMarketplace} from "./interfaces/IBondMarketplace.sol";
import {IClaimBond} from "./interfaces/IClaimBond.sol";
import {IGlobalPauseRegistry} from "./interfaces/IGlobalPauseRegistry.sol";

/// @title Secondary market for claim bonds; see IBondMarketplace.
contract BondMarketplace is IBondMarketplace, GloballyPausable, ERC1155Holder, Upgradeable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @notice Paid by the seller from the price, and by the buyer on top of it.
    uint256 public constant FEE_BPS = 150;
    /// @notice The lowest total price of a listing, one dollar in USDC units, against spam. A bond may be sold below its face.
    uint256 public constant MINIMUM_PRICE = 1e6;
    uint256 public constant MINIMUM_DURATION = 1 days;
    uint256 public constant MAXIMUM_DURATION = 800 days;

    IClaimBond public immutable claimBond;
    IERC20 public immutable usdc;
    BuybackEngine public immutable buybackEngine;
    uint256 public listingCount;
    mapping(uint256 listingId => Listing) public listings;

    constructor(
        IClaimBond claimBond_,
        IERC20 usdc_,
        BuybackEngine buybackEngine_,
        IGlobalPauseRegistry pauseRegistry_
    ) GloballyPausable(pauseRegistry_) {
        (claimBond, usdc, buybackEngine) = (claimBond_, usdc_, buybackEngine_);
    }

    /// @inheritdoc IBondMarketplace
    function list(uint256 epochId, uint256 amount, uint256 priceUSDC)
        external
        nonReentrant
        whenNotGloballyPaused
        returns (uint256 listingId)
    {
        if (amount == 0 || priceUSDC < MINIMUM_PRICE) revert InsufficientListingValue(priceUSDC, MINIMUM_PRICE);
        uint256 maturity = claimBond.maturityDate(epochId);
        uint256 secondsLeft = maturity > block.timestamp ? maturity - block.timestamp : 0;
        if (secondsLeft < MINIMUM_DURATION || secondsLeft > MAXIMUM_DURATION) revert NotMatured(epochId, secondsLeft);
        if (claimBond.balanceOf(msg.sender, epochId) < amount) revert NotBondOwner(msg.sender);
        listingId = ++listingCount;
        listings[listingId] = Listing(msg.sender, epochId, amount, priceUSDC, true, block.timestamp);
        emit Listed(listingId, msg.sender, epochId, amount, priceUSDC);
        claimBond.safeTransferFrom(msg.sender, address(this), epochId, amount, "");
    }

    /// @inheritdoc IBondMarketplace
    function executeBuy(uint256 listingId) external nonReentrant whenNotGloballyPaused {
        Listing memory listing = _close(listingId);
        (uint256 sellerFee, uint256 buyerFee, uint256 fees) = calculateFees(listing.priceUSDC);
        emit Bought(listingId, msg.sender, listing.seller, listing.priceUSDC, sellerFee, buyerFee);
        usdc.safeTransferFrom(msg.sender, listing.seller, listing.priceUSDC - sellerFee);
        usdc.safeTransferFrom(msg.sender, address(buybackEngine), fees);
        buybackEngine.noteFees(msg.sender, fees);
        _give(msg.sender, listing);
    }

    /// @inheritdoc IBondMarketplace
    function cancel(uint256 listingId) external nonReentrant {
        Listing memory listing = _close(listingId);
        if (listing.seller != msg.sender) revert NotBondOwner(msg.sender);
        emit Cancelled(listingId, listing.seller);
        _give(listing.seller, listing);
    }

    /// @inheritdoc IBondMarketplace
    function emergencyCancel(uint256 listingId) external onlyOwner nonReentrant {
        Listing memory listing = _close(listingId);
        emit ListingEmergencyCancelled(listingId, listing.seller, block.timestamp);
        _give(listing.seller, listing);
    }

    /// @inheritdoc IBondMarketplace
    function getListing(uint256 listingId)
        external
        view
        returns (address seller, uint256 epochId, uint256 amount, uint256 priceUSDC, bool active)
    {
        Listing storage listing = listings[listingId];
        return (listing.seller, listing.epochId, listing.amount, listing.priceUSDC, listing.active);
    }

    /// @inheritdoc IBondMarketplace
    function calculateFees(uint256 priceUSDC)
        public
        pure
        returns (uint256 sellerFee, uint256 buyerFee, uint256 fees)
    {
        sellerFee = priceUSDC * FEE_BPS / 10_000;
        return (sellerFee, sellerFee, sellerFee * 2);
    }

    function _close(uint256 listingId) private returns (Listing memory listing) {
        listing = listings[listingId];
        if (!listing.active) revert ListingNotFound(listingId);
        listings[listingId].active = false;
    }

    function _give(address to, Listing memory listing) private {
        claimBond.safeTransferFrom(address(this), to, listing.epochId, listing.amount, "");
    }
}
