// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Secondary market: a listing holds bonds in escrow and is bought as a whole, for USDC. The seller withdraws the proceeds.
interface IBondMarketplace {
    struct Listing {
        address seller;
        uint256 epochId;
        uint256 amount;
        uint256 priceUSDC;
        bool active;
        uint256 listedAt;
    }

    event Listed(
        uint256 indexed listingId, address indexed seller, uint256 indexed epochId, uint256 amount, uint256 priceUSDC
    );
    event Cancelled(uint256 indexed listingId, address indexed seller);
    event Bought(
        uint256 indexed listingId,
        address indexed buyer,
        address indexed seller,
        uint256 priceUSDC,
        uint256 sellerFee,
        uint256 buyerFee
    );
    event WithdrawalCredited(address indexed seller, uint256 amount);
    event Withdrawn(address indexed seller, uint256 amount);
    event MinPricePerUnitUpdated(uint256 oldPrice, uint256 newPrice);
    event TwapBurnerUpdated(address indexed newBurner);

    error InsufficientListingValue(uint256 priceUSDC, uint256 floor);
    error NotMatured(uint256 epochId, uint256 secondsToMaturity);
    error NotBondOwner(address caller);
    error ListingNotFound(uint256 listingId);

    /// @param priceUSDC the total price, 6 decimals. @return listingId counts from 0.
    function list(uint256 epochId, uint256 amount, uint256 priceUSDC) external returns (uint256 listingId);
    /// @notice The buyer pays price and buyer's fee; the seller is credited the price without the seller's fee.
    function executeBuy(uint256 listingId) external;
    function cancel(uint256 listingId) external;
    /// @notice Pays the sender all that he is credited.
    function withdraw() external;
    /// @notice USDC that the seller may withdraw.
    function pendingWithdrawals(address seller) external view returns (uint256);
    /// @notice The next listing's id.
    function nextListingId() external view returns (uint256);
    /// @notice The lowest total price of a listing, despite its name.
    function minPricePerUnit() external view returns (uint256);
    /// @notice All zero for a listing that never was. `active` is false once it is sold or cancelled.
    function getListing(uint256 listingId)
        external
        view
        returns (address seller, uint256 epochId, uint256 amount, uint256 priceUSDC, bool active);
    /// @notice The fees of a sale: from the seller's proceeds, on top of the buyer's price, and both together.
    function calculateFees(uint256 priceUSDC)
        external
        pure
        returns (uint256 sellerFee, uint256 buyerFee, uint256 fees);
}
