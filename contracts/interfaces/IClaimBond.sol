// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC1155} from "@openzeppelin/contracts/token/ERC1155/IERC1155.sol";

/// @title Claim bonds: one ERC-1155 id per maturity month (YYYYMM), one unit per dollar of face value.
interface IClaimBond is IERC1155 {
    event BondsMinted(uint256 indexed epochId, address indexed to, uint256 usdAmount);
    event BondsBurned(uint256 indexed epochId, address indexed from, uint256 usdAmount);
    event BondsBurnedByHolder(address indexed holder, uint256 indexed epochId, uint256 amount);
    event EpochCreated(uint256 indexed epochId, uint256 maturityDate);
    /// @notice Bonds were burned, but the vault does not let this contract lower its obligations.
    event ObligationsSyncSkipped(address indexed holder, uint256 indexed epochId, uint256 amount);
    event OperatorAuthorized(address indexed operator, bool authorized);

    function mint(address to, uint256 usdAmount) external returns (uint256 epochId);
    function burn(address holder, uint256 epochId, uint256 usdAmount) external;

    /// @notice The last second of the epoch's month, so that no bond can be redeemed before the vault's time to maturity has passed.
    function maturityDate(uint256 epochId) external view returns (uint256);
    /// @notice Whether bonds of the epoch can be redeemed now; false for an epoch without bonds.
    function isMatured(uint256 epochId) external view returns (bool);
    /// @param supply bonds of the epoch in circulation, in whole dollars.
    function getEpochInfo(uint256 epochId)
        external
        view
        returns (bool exists, uint256 maturity, uint256 supply, bool matured);

    /// @notice The holder, or an account that he approved, surrenders bonds. The vault's obligations fall by the same amount.
    function burnByHolder(address account, uint256 epochId, uint256 amount) external;
}
