// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";

/// @title A contract behind an ERC-1967 proxy that its owner can upgrade, as all of release V5.4.
/// @notice The implementation's constructor sets what is immutable, `initialize` what the proxy stores.
abstract contract Upgradeable is Initializable, UUPSUpgradeable, Ownable {
    /// @dev The implementation itself has an owner that can do nothing.
    constructor() Ownable(address(0xdead)) {
        _disableInitializers();
    }

    function initialize(address owner_) external initializer {
        _transferOwnership(owner_);
        _initialize(owner_);
    }

    /// @dev First values of the proxy's storage.
    function _initialize(address owner_) internal virtual {}

    function _authorizeUpgrade(address) internal override onlyOwner {}
}
