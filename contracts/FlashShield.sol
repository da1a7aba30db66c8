// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IFlashShield} from "./interfaces/IFlashShield.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";
import {Price} from "./libraries/Price.sol";
import {Sequencer} from "./libraries/Sequencer.sol";

/// @title The slim shield of one adapter; see IFlashShield.
contract FlashShield is IFlashShield, Upgradeable {
    using Price for IPriceFeed;
    using SafeCast for uint256;

    /// @param observedRound the update time of the round of the last observation.
    struct Cover {
        address holder;
        uint64 start;
        bool finalized;
        uint128 coverage;
        uint128 strike;
        uint64 expiresAt;
        uint64 observedAt;
        uint64 observedRound;
        uint48 observedBlock;
        uint8 count;
    }

    uint8 private constant OBSERVATIONS = 3;
    uint256 private constant DWELL = 300;
    uint256 private constant INTERVAL = 60;
    uint256 private constant MAX_SETTLEMENT_AGE = 1 days;
    uint256 private constant PAYOUT_RATIO_BPS = 8000;
    uint256 private constant BPS = 10_000;

    address public immutable router;
    IPriceFeed public immutable priceFeed;
    IPriceFeed public immutable sequencerFeed;
    bytes32 public immutable asset;
    uint256 private immutable window;
    uint256 private immutable triggerDropBps;
    mapping(uint256 policyId => Cover) private _covers;

    /// @param window_ seconds. @param triggerDropBps_ the fall from the strike that triggers.
    constructor(
        address router_,
        IPriceFeed priceFeed_,
        IPriceFeed sequencerFeed_,
        bytes32 asset_,
        uint32 window_,
        uint16 triggerDropBps_
    ) {
        (router, priceFeed, sequencerFeed) = (router_, priceFeed_, sequencerFeed_);
        (asset, window, triggerDropBps) = (asset_, window_, triggerDropBps_);
    }

    modifier onlyRouter() {
        require(msg.sender == router, "ONLY_ROUTER");
        _;
    }

    /// @inheritdoc IFlashShield
    function openPolicy(
        uint256 policyId,
        address holder,
        uint256 coverage,
        bytes32 asset_,
        uint64 startTimestamp,
        uint64 expiresAt
    ) external onlyRouter {
        if (asset_ != asset) revert InvalidAsset(asset_);
        require(Sequencer.isActive(sequencerFeed), "SEQUENCER_DOWN");
        Cover storage cover = _covers[policyId];
        require(cover.holder == address(0), "POLICY_EXISTS");
        require(expiresAt > startTimestamp, "INVALID_WINDOW");
        require(expiresAt - startTimestamp == window, "WINDOW_MISMATCH");
        (uint256 strike,) = priceFeed.fresh();
        (cover.holder, cover.coverage, cover.strike) = (holder, coverage.toUint128(), strike.toUint128());
        (cover.start, cover.expiresAt) = (startTimestamp, expiresAt);
        emit PolicyCreated(policyId, holder, coverage, strike, startTimestamp, expiresAt);
    }

    /// @inheritdoc IFlashShield
    function evaluate(uint256 policyId)
        external
        onlyRouter
        returns (bool triggered, uint256 payout, bytes32 reason)
    {
        Cover storage cover = _covers[policyId];
        require(cover.holder != address(0), "POLICY_NOT_FOUND");
        require(!cover.finalized, "ALREADY_FINALIZED");

        bool ended = block.timestamp > cover.expiresAt;
        require(ended || block.timestamp >= cover.start + DWELL, "DWELL_NOT_ELAPSED");
        require(Sequencer.isActive(sequencerFeed), "SEQUENCER_DOWN");
        (uint256 price, uint256 updatedAt) = priceFeed.newest();
        if (ended) {
            require(block.timestamp - updatedAt <= MAX_SETTLEMENT_AGE, "ORACLE_UNAVAILABLE");
            cover.finalized = true;
            return _verified(policyId, 0, "WINDOW_EXPIRED");
        }

        Price.requireFresh(updatedAt);
        uint256 dropBps = _dropBps(cover, price);
        if (dropBps < triggerDropBps) {
            cover.count = 0;
            return _verified(policyId, dropBps, "RESET");
        }
        _observe(policyId, cover, updatedAt);
        if (cover.count < OBSERVATIONS) return _verified(policyId, dropBps, "ACCRUING");
        cover.finalized = true;
        (triggered, payout, reason) = (true, cover.coverage * PAYOUT_RATIO_BPS / BPS, "TRIGGER_DROP");
        emit PolicyVerified(policyId, triggered, payout, dropBps, reason);
    }

    /// @inheritdoc IFlashShield
    function getPolicyInfo(uint256 policyId) external view returns (address, uint256, uint256, uint64, uint64, bool) {
        Cover storage cover = _covers[policyId];
        return (cover.holder, cover.coverage, cover.strike, cover.start, cover.expiresAt, cover.finalized);
    }

    /// @inheritdoc IFlashShield
    function getConfirmation(uint256 policyId) external view returns (uint8 count, uint64 lastObservation) {
        return (_covers[policyId].count, _covers[policyId].observedAt);
    }

    /// @inheritdoc IFlashShield
    function oracleEvaluable() external view returns (bool) {
        if (!Sequencer.isActive(sequencerFeed)) return false;
        (uint80 roundId, int256 answer,, uint256 updatedAt, uint80 answeredInRound) = priceFeed.latestRoundData();
        return answer > 0 && answeredInRound >= roundId && updatedAt != 0 && updatedAt <= block.timestamp
            && block.timestamp - updatedAt <= Price.MAX_AGE;
    }

    function _observe(uint256 policyId, Cover storage cover, uint256 updatedAt) private {
        if (cover.count > 0) {
            require(block.number != cover.observedBlock, "SAME_BLOCK_OBSERVATION");
            require(updatedAt > cover.observedRound, "STALE_ROUND_OBSERVATION");
            require(block.timestamp >= cover.observedAt + INTERVAL, "CONFIRMATION_TOO_SOON");
        }
        cover.count++;
        (cover.observedBlock, cover.observedAt) = (block.number.toUint48(), block.timestamp.toUint64());
        cover.observedRound = updatedAt.toUint64();
        emit ConfirmationObserved(policyId, cover.count, 0, 0);
    }

    function _verified(uint256 policyId, uint256 dropBps, bytes32 reason) private returns (bool, uint256, bytes32) {
        emit PolicyVerified(policyId, false, 0, dropBps, reason);
        return (false, 0, reason);
    }

    function _dropBps(Cover storage cover, uint256 price) private view returns (uint256) {
        return price < cover.strike ? (cover.strike - price) * BPS / cover.strike : 0;
    }
}
