// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IGlobalPauseRegistry} from "./interfaces/IGlobalPauseRegistry.sol";

/// @title The switch that pauses the whole protocol.
contract GlobalPauseRegistry is IGlobalPauseRegistry, Ownable {
    bool public isGloballyPaused;

    constructor(address owner_) Ownable(owner_) {}

    function setGlobalPause(bool paused) external onlyOwner {
        isGloballyPaused = paused;
        emit GlobalPauseToggled(paused, msg.sender, block.timestamp);
    }
}
