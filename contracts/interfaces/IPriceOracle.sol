// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The price of the protocol's token. A revert is its only sign of staleness.
interface IPriceOracle {
    error OracleStale(uint256 age, uint256 maxAge);
    error OracleInsufficientCardinality(uint256 cardinality, uint256 required);
    error PriceDeviationTooHigh(uint256 price, uint256 reference_, uint256 maxDeviation);

    /// @notice USD per token, 18 decimals.
    function getLuminaPrice() external view returns (uint256);
    /// @notice The fixed price that counts while there is no pool.
    function emergencyPrice() external view returns (uint256);
    /// @notice The pool that the price is averaged from; zero for none.
    function pool() external view returns (address);
}
