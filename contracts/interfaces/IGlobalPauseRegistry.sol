// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The switch that pauses sales; triggers go on.
interface IGlobalPauseRegistry {
    event GlobalPauseToggled(bool indexed paused, address indexed by, uint256 timestamp);

    function isGloballyPaused() external view returns (bool);
}
