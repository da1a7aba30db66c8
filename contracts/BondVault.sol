// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {GloballyPausable} from "./base/GloballyPausable.sol";
import {RedemptionThrottle} from "./base/RedemptionThrottle.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IBondVault} from "./interfaces/IBondVault.sol";
import {IClaimBond} from "./interfaces/IClaimBond.sol";
import {IGlobalPauseRegistry} from "./interfaces/IGlobalPauseRegistry.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";
import {Price} from "./libraries/Price.sol";

/// @title The reserve of protocol tokens that backs the bonds; see IBondVault.
contract BondVault is IBondVault, RedemptionThrottle, GloballyPausable, Upgradeable, ReentrancyGuard {
    using SafeERC20 for IERC20;
    using Price for IPriceFeed;

    /// @notice 0.001 USD. At lower prices a redemption would empty the reserve.
    uint256 public constant MINIMUM_PRICE = 1e15;
    /// @notice A dollar in USDC units (6 decimals).
    uint256 private constant DOLLAR = 1e6;
    /// @notice The most entries paid by one call, to limit its gas.
    uint256 private constant QUEUE_BATCH = 50;

    struct QueueItem {
        address holder;
        uint64 targetEpoch;
        uint256 epochId;
        uint256 usdAmount;
    }

    address public immutable policyManager;
    IClaimBond public immutable claimBond;
    ERC20Burnable public immutable token;
    IPriceFeed public immutable tokenUsdFeed;

    /// @notice Payouts of open policies, 6 decimals.
    uint256 public totalReserved;
    /// @notice Bonds in circulation and redemptions in the queue, in whole dollars.
    uint256 public obligations;
    /// @notice The queue's entries. Those before `queueHead` are paid.
    QueueItem[] public queue;
    uint256 public queueHead;
    mapping(address => bool) public authorizedCallers;

    constructor(
        address policyManager_,
        IClaimBond claimBond_,
        ERC20Burnable token_,
        IPriceFeed tokenUsdFeed_,
        IGlobalPauseRegistry pauseRegistry_
    ) GloballyPausable(pauseRegistry_) {
        (policyManager, claimBond, token, tokenUsdFeed) = (policyManager_, claimBond_, token_, tokenUsdFeed_);
    }

    modifier onlyPolicyManager() {
        require(msg.sender == policyManager, "Only PolicyManager");
        _;
    }

    /// @notice Any account may add tokens to the reserve. Tokens sent without this call do not count.
    function deposit(uint256 amount) external nonReentrant {
        _increaseReserve(amount);
        emit ReserveDeposited(msg.sender, amount, reserve);
        IERC20(token).safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IBondVault
    function burnReserves(uint256 amount) external onlyOwner nonReentrant {
        uint256 free = Math.mulDiv(availableCapacityUSD(), 1e30, tokenUsdFeed.fresh());
        require(amount <= free, "Insufficient reserve");
        _decreaseReserve(amount);
        emit ReservesBurned(msg.sender, amount, reserve);
        token.burn(amount);
    }

    /// @inheritdoc IBondVault
    function reserveCapacity(uint256 amount) external onlyPolicyManager returns (uint256 price) {
        price = tokenUsdFeed.fresh();
        require(amount <= _capacityAt(price), "Exceeds capacity");
        totalReserved += amount;
        emit CapacityReserved(amount, totalReserved);
    }

    /// @inheritdoc IBondVault
    function commitReservation(uint256 amount) external onlyPolicyManager {
        totalReserved -= amount;
        emit ReservationCommitted(amount, totalReserved);
    }

    /// @inheritdoc IBondVault
    function releaseReservation(uint256 amount) external onlyPolicyManager {
        totalReserved -= amount;
        emit ReservationReleased(amount, totalReserved);
    }

    /// @inheritdoc IBondVault
    function issueBond(address to, uint256 payout)
        external
        onlyPolicyManager
        returns (uint256 epochId, uint256 usdAmount)
    {
        usdAmount = payout / DOLLAR;
        require(usdAmount > 0, "Zero payout");
        obligations += usdAmount;
        epochId = claimBond.mint(to, usdAmount);
        emit BondIssued(to, epochId, usdAmount);
    }

    modifier onlyAuthorizedCaller() {
        require(authorizedCallers[msg.sender], "BondVault: caller not authorized");
        _;
    }

    function setAuthorizedCaller(address caller, bool authorized) external onlyOwner {
        authorizedCallers[caller] = authorized;
        emit AuthorizedCallerUpdated(caller, authorized);
    }

    /// @inheritdoc IBondVault
    function decreaseObligations(uint256 usd) external onlyAuthorizedCaller {
        _decreaseObligations(usd / 1e18);
    }

    /// @inheritdoc IBondVault
    function burnFromReserves(uint256 amount) external onlyAuthorizedCaller {
        require(amount <= reserve * 500 / 10_000, "Exceeds 5% per-tx cap");
        _decreaseReserve(amount);
        token.burn(amount);
        emit ReservesBurned(msg.sender, amount, reserve);
    }

    function getStatus() external view returns (uint256, uint256, uint256, uint256, uint256) {
        uint256 price = tokenUsdFeed.fresh();
        return (reserve, Math.mulDiv(reserve, price, 1e36), obligations, availableCapacityUSD() / DOLLAR, price);
    }

    /// @inheritdoc IBondVault
    function redeemBond(uint256 epochId, uint256 usdAmount) external nonReentrant whenNotGloballyPaused {
        uint256 maturity = claimBond.maturityDate(epochId);
        require(maturity != 0 && block.timestamp >= maturity, "Not matured");
        require(usdAmount > 0 && claimBond.balanceOf(msg.sender, epochId) >= usdAmount, "Insufficient bonds");
        uint256 price = _redemptionPrice();
        uint256 tokenAmount = _tokensFor(usdAmount, price);
        require(tokenAmount <= reserve, "Insufficient reserve");
        claimBond.burn(msg.sender, epochId, usdAmount);
        // Due entries of the queue come first.
        if (tokenAmount + _tokensFor(_dueInQueue(), price) > _throttleLeft()) {
            uint256 target = currentEpoch() + 1;
            queue.push(QueueItem(msg.sender, uint64(target), epochId, usdAmount));
            _noteQueued(usdAmount);
            emit BondQueued(queue.length, msg.sender, epochId, usdAmount, target);
        } else {
            _decreaseObligations(usdAmount);
            emit BondRedeemed(msg.sender, epochId, usdAmount, tokenAmount, price);
            _pay(msg.sender, tokenAmount);
        }
    }

    /// @inheritdoc IBondVault
    function processQueue(uint256 epoch) external nonReentrant whenNotGloballyPaused returns (uint256 paid) {
        if (epoch > currentEpoch()) revert EpochNotReached(epoch, currentEpoch());
        uint256 price = _redemptionPrice();
        _roll();
        for (; paid < QUEUE_BATCH && queueHead < queue.length; paid++) {
            QueueItem memory item = queue[queueHead];
            uint256 tokenAmount = _tokensFor(item.usdAmount, price);
            // A week's first payment may exceed the throttle; otherwise an entry above it would never be paid.
            if (item.targetEpoch > epoch || (tokenAmount > _throttleLeft() && paidInEpoch > 0)) break;
            if (tokenAmount > reserve) {
                require(paid > 0, "Insufficient reserve");
                break;
            }
            queueHead++;
            _notePaid(item.usdAmount);
            _decreaseObligations(item.usdAmount);
            // An entry's id is its position in the queue, from 1.
            emit QueueProcessed(queueHead, item.holder, tokenAmount, price);
            _pay(item.holder, tokenAmount);
        }
    }

    /// @inheritdoc IBondVault
    function availableCapacityUSD() public view returns (uint256) {
        return _capacityAt(tokenUsdFeed.latest());
    }

    /// @inheritdoc IBondVault
    function previewRedemption(uint256 usdAmount) external view returns (uint256 tokenAmount, uint256 priceUsed) {
        priceUsed = _redemptionPrice();
        tokenAmount = _tokensFor(usdAmount, priceUsed);
    }

    function queueLength() external view returns (uint256) {
        return queue.length;
    }

    function _capacityAt(uint256 price) private view returns (uint256) {
        uint256 used = totalReserved + obligations * DOLLAR;
        return Math.saturatingSub(Math.mulDiv(reserve, price, 1e30), used);
    }

    function _redemptionPrice() private view returns (uint256 price) {
        price = tokenUsdFeed.fresh();
        require(price >= MINIMUM_PRICE, "Price too low");
    }

    function _tokensFor(uint256 usdAmount, uint256 price) private pure returns (uint256) {
        return Math.mulDiv(usdAmount, 1e36, price);
    }

    function _decreaseObligations(uint256 usdAmount) private {
        obligations -= usdAmount;
        emit ObligationsDecreased(msg.sender, usdAmount, obligations);
    }

    function _pay(address to, uint256 tokenAmount) private {
        _notePayment(tokenAmount);
        IERC20(token).safeTransfer(to, tokenAmount);
    }
}
