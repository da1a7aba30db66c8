// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {RedemptionThrottle} from "./base/RedemptionThrottle.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondVault} from "./interfaces/IBondVault.sol";
import {IClaimBond} from "./interfaces/IClaimBond.sol";
import {IPriceOracle} from "./interfaces/IPriceOracle.sol";
import {ChainIds} from "./libraries/ChainIds.sol";

/// @title The reserve of protocol tokens that backs the bonds; see IBondVault. The reserve is this contract's balance.
contract BondVault is IBondVault, RedemptionThrottle, Upgradeable, ReentrancyGuard {
    /// @notice 0.001 USD. At lower prices a redemption would empty the reserve.
    uint256 public constant MIN_REDEEM_PRICE = 1e15;
    /// @notice The part of the reserve's value that may be owed.
    uint256 public constant SAFETY_FACTOR_BPS = 5000;
    /// @notice At or below it `policiesPaused` is set, and cleared at 120 % of it.
    uint256 private constant FLOOR_PRICE = 5e15;
    uint256 private constant RECOVERED_PRICE = FLOOR_PRICE * 12 / 10;
    /// @notice A dollar.
    uint256 private constant DOLLAR = 1e18;

    address public immutable policyManager;
    IClaimBond public immutable claimBond;
    ERC20Burnable public immutable lumina;
    IPriceOracle public immutable priceOracle;

    /// @notice Bonds in circulation.
    uint256 public totalCommittedUSD;
    /// @notice Payouts of open policies.
    uint256 public totalReservedUSD;
    /// @notice Redemptions in the queue. Entries that nobody paid in their week stay in it.
    uint256 public totalQueuedUSD;
    mapping(address => bool) public authorizedCallers;
    /// @inheritdoc IBondVault
    uint256 public bondMaturitySeconds;
    /// @notice Set by a low price. It stops nothing.
    bool public policiesPaused;

    constructor(address policyManager_, IClaimBond claimBond_, ERC20Burnable lumina_, IPriceOracle priceOracle_) {
        (policyManager, claimBond, lumina, priceOracle) = (policyManager_, claimBond_, lumina_, priceOracle_);
    }

    function _initialize(address) internal override {
        bondMaturitySeconds = 730 days;
    }

    modifier onlyPolicyManager() {
        require(msg.sender == policyManager, "Only PolicyManager");
        _;
    }

    modifier onlyAuthorizedCaller() {
        require(authorizedCallers[msg.sender], "BondVault: caller not authorized");
        _;
    }

    function setAuthorizedCaller(address caller, bool authorized) external onlyOwner {
        require(caller != address(0), "Zero address");
        authorizedCallers[caller] = authorized;
        emit AuthorizedCallerUpdated(caller, authorized);
    }

    function setBondMaturitySeconds(uint256 newSeconds) external onlyOwner {
        require(newSeconds >= 1 minutes, "Below min maturity");
        require(newSeconds <= 3650 days, "Above max maturity");
        emit BondMaturityUpdated(bondMaturitySeconds, newSeconds);
        bondMaturitySeconds = newSeconds;
    }

    /// @inheritdoc IBondVault
    function reserveCapacity(uint256 usd) external onlyPolicyManager {
        totalReservedUSD += usd;
        emit CapacityReserved(usd, totalReservedUSD);
    }

    /// @inheritdoc IBondVault
    function commitReservation(uint256 usd) external onlyPolicyManager {
        totalReservedUSD -= usd;
        emit ReservationCommitted(usd, totalReservedUSD);
    }

    /// @inheritdoc IBondVault
    function releaseReservation(uint256 usd) external onlyPolicyManager {
        totalReservedUSD -= usd;
        emit ReservationReleased(usd, totalReservedUSD);
    }

    /// @inheritdoc IBondVault
    function issueBond(address to, uint256 usdAmount)
        external
        onlyPolicyManager
        nonReentrant
        returns (uint256 epochId)
    {
        ChainIds.requireKnown();
        require(to != address(0), "Zero address");
        require(usdAmount > 0, "Zero payout");
        uint256 price = priceOracle.getLuminaPrice();
        totalCommittedUSD += usdAmount * DOLLAR;
        require(totalCommittedUSD <= _limitAt(price), "Exceeds capacity");
        epochId = claimBond.mint(to, usdAmount);
        emit BondIssued(to, epochId, usdAmount);
        _compareWithFloor(price);
    }

    /// @inheritdoc IBondVault
    function decreaseObligations(uint256 usd) external onlyAuthorizedCaller {
        require(usd <= totalCommittedUSD, "Amount exceeds committed");
        totalCommittedUSD -= usd;
        emit ObligationsDecreased(msg.sender, usd, totalCommittedUSD);
    }

    /// @inheritdoc IBondVault
    function burnFromReserves(uint256 amount) external onlyAuthorizedCaller {
        require(amount <= _reserve(), "Insufficient reserves");
        require(amount <= _reserve() * 5 / 100, "Exceeds 5% per-tx cap");
        lumina.burn(amount);
        emit ReservesBurned(msg.sender, amount, _reserve());
    }

    /// @inheritdoc IBondVault
    function redeemBond(uint256 epochId, uint256 usdAmount) external nonReentrant {
        ChainIds.requireKnown();
        require(usdAmount > 0, "Zero amount");
        require(claimBond.isMatured(epochId), "Not matured");
        require(claimBond.balanceOf(msg.sender, epochId) >= usdAmount, "Insufficient bonds");
        uint256 price = _settlementPrice();
        uint256 usd = usdAmount * DOLLAR;
        bool fits = _admit(msg.sender, usd, _weekCap(_valueAt(price)));
        uint256 committed = Math.min(usd, totalCommittedUSD);
        totalCommittedUSD -= committed;
        if (fits) {
            uint256 tokenAmount = _tokensFor(usdAmount, price);
            require(tokenAmount <= _reserve(), "Insufficient reserve");
            claimBond.burn(msg.sender, epochId, usdAmount);
            _pay(msg.sender, epochId, usdAmount, tokenAmount, price);
            _compareWithFloor(price);
        } else {
            uint256 week = _enqueue(msg.sender, epochId, usdAmount);
            totalQueuedUSD += committed;
            claimBond.burn(msg.sender, epochId, usdAmount);
            emit BondQueued(msg.sender, epochId, usdAmount, week);
        }
    }

    /// @inheritdoc IBondVault
    function processQueue() external nonReentrant {
        uint256 price = _settlementPrice();
        emit QueueProcessed(currentEpoch(), _payQueue(_weekCap(_valueAt(price)), price));
        _compareWithFloor(price);
    }

    /// @inheritdoc IBondVault
    function availableCapacityUSD() public view returns (uint256) {
        uint256 owed = totalCommittedUSD + totalReservedUSD + totalQueuedUSD;
        return Math.saturatingSub(_limitAt(_viewPrice()), owed) / DOLLAR;
    }

    /// @inheritdoc IBondVault
    function getStatus() external view returns (uint256, uint256, uint256, uint256, uint256) {
        uint256 price = _viewPrice();
        return
            (_reserve(), _valueAt(price) / DOLLAR, totalCommittedUSD / DOLLAR, availableCapacityUSD(), price);
    }

    /// @inheritdoc IBondVault
    function previewRedemption(uint256 usdAmount) external view returns (uint256 tokenAmount) {
        return _tokensFor(usdAmount, _viewPrice());
    }

    /// @notice Whole dollars that may be redeemed this week, in all.
    function maxRedeemThisEpoch() external view returns (uint256) {
        return _weekCap(_valueAt(_viewPrice())) / DOLLAR;
    }

    function _payEntry(QueuedRedemption memory entry, uint256 price) internal override {
        uint256 tokenAmount = _tokensFor(entry.usdAmount, price);
        require(tokenAmount <= _reserve(), "Insufficient reserve");
        totalQueuedUSD = Math.saturatingSub(totalQueuedUSD, entry.usdAmount * DOLLAR);
        _pay(entry.holder, entry.epochIdBond, entry.usdAmount, tokenAmount, price);
    }

    function _pay(address holder, uint256 epochId, uint256 usdAmount, uint256 tokenAmount, uint256 price) private {
        require(lumina.transfer(holder, tokenAmount), "Transfer failed");
        emit BondRedeemed(holder, epochId, usdAmount, tokenAmount, price);
    }

    function _compareWithFloor(uint256 price) private {
        if (!policiesPaused && price <= FLOOR_PRICE) {
            policiesPaused = true;
            emit FloorPriceBreached(price);
            emit PoliciesPausedSet(true);
        } else if (policiesPaused && price >= RECOVERED_PRICE) {
            policiesPaused = false;
            emit PoliciesPausedSet(false);
        }
    }

    /// @notice For payments: reverts where the views fall back.
    function _settlementPrice() private view returns (uint256 price) {
        try priceOracle.getLuminaPrice() returns (uint256 answer) {
            price = answer;
        } catch {
            revert ORACLE_UNAVAILABLE();
        }
        require(price >= MIN_REDEEM_PRICE, "Price too low");
    }

    /// @notice For views, which never revert.
    function _viewPrice() private view returns (uint256) {
        try priceOracle.getLuminaPrice() returns (uint256 answer) {
            return answer > 0 ? answer : MIN_REDEEM_PRICE;
        } catch {
            return MIN_REDEEM_PRICE;
        }
    }

    function _reserve() private view returns (uint256) {
        return lumina.balanceOf(address(this));
    }

    function _valueAt(uint256 price) private view returns (uint256) {
        return _reserve() * price / 1e18;
    }

    function _limitAt(uint256 price) private view returns (uint256) {
        return _valueAt(price) * SAFETY_FACTOR_BPS / 10_000;
    }

    function _tokensFor(uint256 usdAmount, uint256 price) private pure returns (uint256) {
        return Math.mulDiv(usdAmount, 1e36, price);
    }
}
