// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title The chains on which the protocol works: Base and Base Sepolia.
library ChainIds {
    uint256 private constant BASE = 8453;
    uint256 private constant BASE_SEPOLIA = 84532;

    error InvalidChainId(uint256 actual, uint256 expected);

    function requireKnown() internal view {
        if (block.chainid != BASE && block.chainid != BASE_SEPOLIA) revert InvalidChainId(block.chainid, BASE);
    }
}
