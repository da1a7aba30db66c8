// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondMarketplace} from "./interfaces/IBondMarketplace.sol";
import {IClaimBond} from "./interfaces/IClaimBond.sol";

/// @title Secondary market for claim bonds; see IBondMarketplace.
contract BondMarketplace is IBondMarketplace, ERC1155Holder, Upgradeable, ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// @notice Paid by the seller from the price, and by the buyer on top of it.
    uint256 public constant SELLER_FEE_BPS = 150;
    uint256 public constant BUYER_FEE_BPS = 150;
    uint256 public constant BPS_DENOMINATOR = 10_000;

    IClaimBond public immutable claimBond;
    IERC20 public immutable usdc;
    /// @notice Receives both fees.
    address public twapBurner;
    /// @inheritdoc IBondMarketplace
    uint256 public minPricePerUnit;
    /// @inheritdoc IBondMarketplace
    uint256 public nextListingId;
    mapping(uint256 listingId => Listing) public listings;
    /// @inheritdoc IBondMarketplace
    mapping(address seller => uint256) public pendingWithdrawals;

    constructor(IClaimBond claimBond_, IERC20 usdc_) {
        (claimBond, usdc) = (claimBond_, usdc_);
    }

    function _initialize(address) internal override {
        minPricePerUnit = 1e6;
    }

    function setTwapBurner(address newBurner) external onlyOwner {
        twapBurner = newBurner;
        emit TwapBurnerUpdated(newBurner);
    }

    function setMinPricePerUnit(uint256 newPrice) external onlyOwner {
        emit MinPricePerUnitUpdated(minPricePerUnit, newPrice);
        minPricePerUnit = newPrice;
    }

    /// @inheritdoc IBondMarketplace
    function list(uint256 epochId, uint256 amount, uint256 priceUSDC)
        external
        nonReentrant
        returns (uint256 listingId)
    {
        if (amount == 0 || priceUSDC == 0 || priceUSDC < minPricePerUnit) {
            revert InsufficientListingValue(priceUSDC, minPricePerUnit);
        }
        if (claimBond.balanceOf(msg.sender, epochId) < amount) revert NotBondOwner(msg.sender);
        _requireUnmatured(epochId);
        listingId = nextListingId++;
        listings[listingId] = Listing(msg.sender, epochId, amount, priceUSDC, true, block.timestamp);
        claimBond.safeTransferFrom(msg.sender, address(this), epochId, amount, "");
        emit Listed(listingId, msg.sender, epochId, amount, priceUSDC);
    }

    /// @inheritdoc IBondMarketplace
    function executeBuy(uint256 listingId) external nonReentrant {
        Listing memory listing = _close(listingId);
        _requireUnmatured(listing.epochId);
        (uint256 sellerFee, uint256 buyerFee, uint256 fees) = calculateFees(listing.priceUSDC);
        usdc.safeTransferFrom(msg.sender, address(this), listing.priceUSDC + buyerFee);
        pendingWithdrawals[listing.seller] += listing.priceUSDC - sellerFee;
        emit WithdrawalCredited(listing.seller, listing.priceUSDC - sellerFee);
        usdc.safeTransfer(twapBurner, fees);
        _give(msg.sender, listing);
        emit Bought(listingId, msg.sender, listing.seller, listing.priceUSDC, sellerFee, buyerFee);
    }

    /// @inheritdoc IBondMarketplace
    function cancel(uint256 listingId) external nonReentrant {
        Listing memory listing = _close(listingId);
        if (listing.seller != msg.sender) revert NotBondOwner(msg.sender);
        _give(listing.seller, listing);
        emit Cancelled(listingId, listing.seller);
    }

    /// @inheritdoc IBondMarketplace
    function withdraw() external nonReentrant {
        uint256 amount = pendingWithdrawals[msg.sender];
        require(amount > 0, "Nothing to withdraw");
        pendingWithdrawals[msg.sender] = 0;
        usdc.safeTransfer(msg.sender, amount);
        emit Withdrawn(msg.sender, amount);
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
        sellerFee = priceUSDC * SELLER_FEE_BPS / BPS_DENOMINATOR;
        buyerFee = priceUSDC * BUYER_FEE_BPS / BPS_DENOMINATOR;
        fees = sellerFee + buyerFee;
    }

    function _requireUnmatured(uint256 epochId) private view {
        uint256 maturity = claimBond.maturityDate(epochId);
        if (block.timestamp >= maturity) revert NotMatured(epochId, 0);
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
