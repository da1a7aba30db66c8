// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Upgradeable} from "./base/Upgradeable.sol";

/// @title The protocol's token: a supply of 100 million, 18 decimals. A burn is a transfer to the zero address.
contract ProtocolToken is ERC20Burnable, Upgradeable {
    // The proxy does not run this constructor, so that the names stand in the code.
    constructor() ERC20("", "") {}

    function name() public pure override returns (string memory) {
        return "Parametric Cover Token";
    }

    function symbol() public pure override returns (string memory) {
        return "PCT";
    }

    function _initialize(address owner_) internal override {
        _mint(owner_, 100_000_000 ether);
    }
}
