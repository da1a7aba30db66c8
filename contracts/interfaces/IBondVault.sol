// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IPriceOracle} from "./IPriceOracle.sol";

/// @title The reserve of protocol tokens that backs the bonds.
/// @notice Amounts in USD have 18 decimals; those of bonds and the capacity are whole dollars. A week is
/// floor(timestamp / 7 days), unlike a bond's epoch, the month of its maturity.
interface IBondVault {
    event BondIssued(address indexed to, uint256 indexed epochId, uint256 usdAmount);
    event BondRedeemed(
        address indexed holder, uint256 indexed epochId, uint256 usdAmount, uint256 luminaAmount, uint256 priceUsed
    );
    event BondQueued(
        address indexed holder,
        uint256 indexed epochIdBond,
        uint256 usdAmount,
        uint256 indexed targetThrottleEpoch
    );
    event QueueProcessed(uint256 indexed throttleEpoch, uint256 count);
    event CapacityReserved(uint256 amount, uint256 newTotalReserved);
    event ReservationCommitted(uint256 amount, uint256 newTotalReserved);
    event ReservationReleased(uint256 amount, uint256 newTotalReserved);
    event ObligationsDecreased(address indexed caller, uint256 amount, uint256 newTotal);
    event ReservesBurned(address indexed caller, uint256 amount, uint256 newBalance);
    event FloorPriceBreached(uint256 price);
    event PoliciesPausedSet(bool paused);
    /// @notice Of the deployed vault alone: its CEX reserve has sent tokens.
    event AutoInjectionTriggered(uint256 availableCapacityBps, uint256 amount);
    event AuthorizedCallerUpdated(address indexed caller, bool authorized);
    event BondMaturityUpdated(uint256 oldSeconds, uint256 newSeconds);
    /// @notice Of the deployed vault alone.
    event CexReserveSet(address indexed oldReserve, address indexed newReserve);

    error ORACLE_UNAVAILABLE();

    /// @notice Reserves the payout of a new policy. @param usd 18 decimals.
    function reserveCapacity(uint256 usd) external;
    /// @notice A policy was triggered: its reservation ends, and its bond follows. @param usd 18 decimals.
    function commitReservation(uint256 usd) external;
    /// @notice A policy ended without a payout. @param usd 18 decimals.
    function releaseReservation(uint256 usd) external;
    /// @param usdAmount whole dollars.
    function issueBond(address to, uint256 usdAmount) external returns (uint256 epochId);

    function priceOracle() external view returns (IPriceOracle);
    function authorizedCallers(address caller) external view returns (bool);
    /// @notice Bonds were burned without payment. @param usd 18 decimals.
    function decreaseObligations(uint256 usd) external;
    /// @notice Burns tokens of the reserve, at most 5 % of it.
    function burnFromReserves(uint256 amount) external;

    /// @notice Pays at once, or burns the bonds and queues the whole amount for the next week.
    function redeemBond(uint256 epochId, uint256 usdAmount) external;
    /// @notice Looks at 20 entries of this week's queue, pays those that fit into its cap and skips the others.
    function processQueue() external;

    /// @notice Whole dollars available to new payouts.
    function availableCapacityUSD() external view returns (uint256);
    /// @return reserve tokens. @return reserveValue @return committed @return available whole dollars. @return price 18 decimals.
    function getStatus()
        external
        view
        returns (uint256 reserve, uint256 reserveValue, uint256 committed, uint256 available, uint256 price);
    /// @param usdAmount whole dollars. @return tokenAmount 18 decimals.
    function previewRedemption(uint256 usdAmount) external view returns (uint256 tokenAmount);
    /// @notice Seconds from a bond's issue, after which it matures with its month.
    function bondMaturitySeconds() external view returns (uint256);
}
