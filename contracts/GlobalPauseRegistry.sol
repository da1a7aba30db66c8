// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Upgradeable} from "./base/Upgradeable.sol";
import {IGlobalPauseRegistry} from "./interfaces/IGlobalPauseRegistry.sol";

/// @title The switch that pauses sales.
contract GlobalPauseRegistry is IGlobalPauseRegistry, Upgradeable {
    bool public isGloballyPaused;

    function setGlobalPause(bool paused) external onlyOwner {
        isGloballyPaused = paused;
        emit GlobalPauseToggled(paused, msg.sender, block.timestamp);
    }
}
