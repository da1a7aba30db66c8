// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";

/// @title The protocol's token: a supply of 100 million, 18 decimals. A burn is a transfer to the zero address.
contract ProtocolToken is ERC20Burnable {
    constructor(address holder) ERC20("Parametric Cover Token", "PCT") {
        _mint(holder, 100_000_000 ether);
    }
}
