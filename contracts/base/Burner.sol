// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {Upgradeable} from "./Upgradeable.sol";
import {IBurner} from "../interfaces/IBurner.sol";
import {IPriceFeed} from "../interfaces/IPriceFeed.sol";
import {Price} from "../libraries/Price.sol";

/// @title The base of both burners: spends USDC income on the treasury's tokens at the feed's price, and burns them.
/// @notice The burner holds the treasury's tokens for sale. Tokens sent to the burner add to them.
abstract contract Burner is IBurner, Upgradeable, ReentrancyGuard {
    using SafeERC20 for IERC20;
    using Price for IPriceFeed;

    IERC20 public immutable usdc;
    ERC20Burnable public immutable token;
    IPriceFeed public immutable tokenUsdFeed;
    /// @notice Receives the USDC for its tokens.
    address public immutable treasury;
    /// @notice The contract that pays the income.
    address public immutable source;
    mapping(address => bool) public keepers;

    event KeeperUpdated(address keeper, bool authorized);

    error NotKeeper(address caller);
    error NotSource(address caller);
    error ZeroBurn();

    constructor(
        IERC20 usdc_,
        ERC20Burnable token_,
        IPriceFeed tokenUsdFeed_,
        address treasury_,
        address source_
    ) {
        (usdc, token, tokenUsdFeed, treasury, source) = (usdc_, token_, tokenUsdFeed_, treasury_, source_);
    }

    function setKeeper(address keeper, bool authorized) external onlyOwner {
        keepers[keeper] = authorized;
        emit KeeperUpdated(keeper, authorized);
    }

    /// @inheritdoc IBurner
    function executeBurn(uint256 usdcAmount) external nonReentrant returns (uint256 tokenBurned) {
        if (msg.sender != owner() && !keepers[msg.sender]) revert NotKeeper(msg.sender);
        // USDC has 6 decimals, token and price 18.
        tokenBurned = Math.mulDiv(usdcAmount, 1e30, tokenUsdFeed.fresh());
        if (tokenBurned == 0) revert ZeroBurn();
        uint256 effectivePrice = Math.mulDiv(usdcAmount, 1e30, tokenBurned);
        emit BurnExecuted(usdcAmount, tokenBurned, effectivePrice, block.timestamp);
        usdc.safeTransfer(treasury, usdcAmount);
        token.burn(tokenBurned);
    }

    modifier onlySource() {
        if (msg.sender != source) revert NotSource(msg.sender);
        _;
    }
}
