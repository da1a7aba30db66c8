// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IGlobalPauseRegistry} from "../interfaces/IGlobalPauseRegistry.sol";

/// @title A contract that the global pause can pause.
abstract contract GloballyPausable {
    IGlobalPauseRegistry public immutable pauseRegistry;

    error ContractPaused();

    constructor(IGlobalPauseRegistry pauseRegistry_) {
        pauseRegistry = pauseRegistry_;
    }

    modifier whenNotGloballyPaused() {
        if (pauseRegistry.isGloballyPaused()) revert ContractPaused();
        _;
    }
}
