// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Upgradeable} from "./base/Upgradeable.sol";
import {IFlashShield} from "./interfaces/IFlashShield.sol";
import {IPriceFeed} from "./interfaces/IPriceFeed.sol";
import {Price} from "./libraries/Price.sol";
import {Sequencer} from "./libraries/Sequencer.sol";

/// @title The trigger of one product; see IFlashShield.
contract FlashShield is IFlashShield, Upgradeable {
    using Price for IPriceFeed;
    using SafeCast for uint256;

    /// @param strike the asset's price at purchase, 18 decimals.
    /// @param coverFrom end of the waiting period.
    struct Window {
        uint128 strike;
        uint48 coverFrom;
        uint48 endsAt;
        bool finalized;
    }

    bytes32 private constant PRICE_FALL = "PRICE_FALL";
    uint256 private constant CONFIRMATIONS = 3;

    /// @notice The adapter. The router calls the shield only through it.
    address public immutable adapter;
    IPriceFeed public immutable feed;
    IPriceFeed public immutable sequencerFeed;
    bytes32 public immutable productId;
    bytes32 public immutable asset;
    uint32 public immutable durationSeconds;
    uint16 public immutable triggerDropBps;
    mapping(uint256 policyId => Window) public windows;

    constructor(
        address adapter_,
        IPriceFeed feed_,
        IPriceFeed sequencerFeed_,
        string memory name,
        bytes32 asset_,
        uint32 durationSeconds_,
        uint16 triggerDropBps_
    ) {
        (adapter, feed, sequencerFeed) = (adapter_, feed_, sequencerFeed_);
        (productId, asset) = (keccak256(bytes(name)), asset_);
        (durationSeconds, triggerDropBps) = (durationSeconds_, triggerDropBps_);
    }

    modifier onlyAdapter() {
        require(msg.sender == adapter, "NOT_ROUTER");
        _;
    }

    /// @inheritdoc IFlashShield
    function openPolicy(uint256 policyId, bytes32 asset_, uint256 startsAt, uint256 coverFrom, uint256 endsAt)
        external
        onlyAdapter
    {
        if (asset_ != asset) revert InvalidAsset(asset_);
        require(windows[policyId].endsAt == 0, "POLICY_EXISTS");
        require(startsAt <= coverFrom && coverFrom < endsAt, "INVALID_WINDOW");
        require(endsAt - startsAt == durationSeconds, "WINDOW_MISMATCH");
        windows[policyId] = Window(feed.fresh().toUint128(), coverFrom.toUint48(), endsAt.toUint48(), false);
    }

    /// @inheritdoc IFlashShield
    function evaluateTrigger(uint256 policyId, bytes calldata oracleProof)
        external
        onlyAdapter
        returns (bytes32 reason)
    {
        require(Sequencer.isActive(sequencerFeed), "SEQUENCER_DOWN");
        Window storage window = windows[policyId];
        require(window.endsAt != 0, "POLICY_NOT_FOUND");
        require(!window.finalized, "ALREADY_FINALIZED");
        require(block.timestamp <= window.endsAt, "WINDOW_EXPIRED");
        _requireFallen(window, oracleProof);
        window.finalized = true;
        return PRICE_FALL;
    }

    /// @notice The highest price, 18 decimals, that triggers the policy, rounded down.
    function triggerPrice(uint256 policyId) public view returns (uint256) {
        return _triggerPrice(windows[policyId]);
    }

    function _requireFallen(Window storage window, bytes calldata oracleProof) private view {
        require(oracleProof.length == CONFIRMATIONS * 32, "ORACLE_INVALID");
        uint256[CONFIRMATIONS] memory rounds = abi.decode(oracleProof, (uint256[3]));
        uint256 limit = _triggerPrice(window);
        uint256 newest;
        bool met = true;
        for (uint256 i = 0; i < CONFIRMATIONS; i++) {
            (uint256 price, uint256 updatedAt) = feed.atRound(rounds[i]);
            bool rising = i == 0 || rounds[i] > rounds[i - 1];
            bool covered = updatedAt >= window.coverFrom && updatedAt <= window.endsAt;
            met = met && rising && covered && price <= limit;
            if (updatedAt > newest) newest = updatedAt;
        }
        Price.requireFresh(newest);
        require(met, "TRIGGER_NOT_MET");
    }

    function _triggerPrice(Window storage window) private view returns (uint256) {
        return uint256(window.strike) * (10_000 - triggerDropBps) / 10_000;
    }
}
