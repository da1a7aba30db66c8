// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The reserve of protocol tokens that backs the bonds.
/// @notice Amounts in USD: capacity and reservations have 6 decimals, a bond unit is a whole dollar.
interface IBondVault {
    event BondIssued(address indexed to, uint256 indexed epochId, uint256 usdAmount);
    event BondRedeemed(
        address indexed holder, uint256 indexed epochId, uint256 usdAmount, uint256 tokenAmount, uint256 priceUsed
    );
    event BondQueued(
        uint256 indexed queueId,
        address indexed holder,
        uint256 indexed epochId,
        uint256 usdAmount,
        uint256 targetEpoch
    );
    event QueueProcessed(uint256 indexed queueId, address indexed holder, uint256 tokenAmount, uint256 priceUsed);
    event CapacityReserved(uint256 amount, uint256 newTotalReserved);
    event ReservationCommitted(uint256 amount, uint256 newTotalReserved);
    event ReservationReleased(uint256 amount, uint256 newTotalReserved);
    event ObligationsDecreased(address indexed caller, uint256 amount, uint256 newTotal);
    event ReservesBurned(address indexed caller, uint256 amount, uint256 newBalance);

    event AuthorizedCallerUpdated(address indexed caller, bool authorized);

    event ReserveDeposited(address indexed from, uint256 amount, uint256 newBalance);

    error EpochNotReached(uint256 epoch, uint256 currentEpoch);

    /// @notice Reserves the payout of a new policy. @return price the token's price, 18 decimals.
    function reserveCapacity(uint256 amount) external returns (uint256 price);
    /// @notice A policy was triggered: its reservation becomes an obligation.
    function commitReservation(uint256 amount) external;
    /// @notice A policy ended without a payout.
    function releaseReservation(uint256 amount) external;
    /// @param payout 6 decimals, rounded down to whole dollars.
    function issueBond(address to, uint256 payout) external returns (uint256 epochId, uint256 usdAmount);
    function authorizedCallers(address caller) external view returns (bool);
    /// @param usd 18 decimals. A holder has surrendered bonds.
    function decreaseObligations(uint256 usd) external;
    /// @notice Burns tokens of the reserve.
    function burnFromReserves(uint256 amount) external;
    /// @return reserve tokens. @return reserveValue @return committed @return available whole dollars. @return price 18 decimals.
    function getStatus()
        external
        view
        returns (uint256 reserve, uint256 reserveValue, uint256 committed, uint256 available, uint256 price);
    /// @notice The owner burns tokens beyond those that reservations and obligations need today.
    function burnReserves(uint256 amount) external;

    /// @notice Dollars (6 decimals) available to new payouts, at the token's newest price.
    function availableCapacityUSD() external view returns (uint256);

    /// @param usdAmount whole dollars. @return tokenAmount 18 decimals. @return priceUsed USD per token, 18 decimals.
    function previewRedemption(uint256 usdAmount) external view returns (uint256 tokenAmount, uint256 priceUsed);

    /// @notice Above the week's throttle the bond is burned and the redemption queued for the next week.
    function redeemBond(uint256 epochId, uint256 usdAmount) external;

    /// @param epoch a redemption epoch, floor(timestamp / 7 days). Pays the queue up to it, in order.
    function processQueue(uint256 epoch) external returns (uint256 paid);
}
