// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Upgradeable} from "./base/Upgradeable.sol";

/// @title The protocol's token: a supply of 100 million, 18 decimals. A burn is a transfer to the zero address.
contract ProtocolToken is ERC20Burnable, Upgradeable {
    /// @notice Gets 70 million at the start.
    address public immutable vault;
    uint256 public totalBurned;

    // The proxy does not run this constructor, so that the names stand in the code.
    constructor(address vault_) ERC20("", "") {
        vault = vault_;
    }

    function name() public pure override returns (string memory) {
        return "Parametric Cover Token";
    }

    function symbol() public pure override returns (string memory) {
        return "PCT";
    }

    function _initialize(address owner_) internal override {
        _mint(vault, 70_000_000 ether);
        _mint(owner_, 30_000_000 ether);
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (to == address(0)) totalBurned += amount;
        super._update(from, to, amount);
    }
}
