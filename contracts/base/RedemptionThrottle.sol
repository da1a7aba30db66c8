// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Limits the redemptions of a week, in all and by holder, and keeps those that wait for the next one.
/// @notice A week is floor(timestamp / 7 days). Amounts have 18 decimals, those of queue entries are whole dollars.
abstract contract RedemptionThrottle {
    struct QueuedRedemption {
        address holder;
        uint256 epochIdBond;
        /// @dev Zero once it is paid.
        uint256 usdAmount;
        uint64 queuedAt;
    }

    /// @notice 1.08 % of the reserve's value at the time of the call may be redeemed in a week.
    uint16 public constant MAX_REDEMPTION_PER_EPOCH_BPS = 108;
    /// @notice A tenth of it by one holder.
    uint16 public constant MAX_USER_REDEEM_BPS = 1000;
    uint256 public constant MAX_PROCESS_PER_CALL = 20;
    uint256 public constant MAX_QUEUE_PER_EPOCH = 10_000;

    mapping(uint256 week => uint256) public redeemedInEpoch;
    /// @notice What a holder has redeemed or queued in a week, or was paid from its queue.
    mapping(uint256 week => mapping(address holder => uint256)) public redeemedByUserInEpoch;
    mapping(uint256 week => QueuedRedemption[]) public queueByEpoch;
    /// @notice The first entry that is not known as paid.
    mapping(uint256 week => uint256) public queueProcessedIndex;

    function currentEpoch() public view returns (uint256) {
        return block.timestamp / 7 days;
    }

    function queueLength(uint256 week) external view returns (uint256) {
        return queueByEpoch[week].length;
    }

    function _weekCap(uint256 reserveValue) internal pure returns (uint256) {
        return reserveValue * MAX_REDEMPTION_PER_EPOCH_BPS / 10_000;
    }

    /// @notice Counts a redemption for its holder. @return fits whether it can be paid at once.
    function _admit(address holder, uint256 usd, uint256 cap) internal returns (bool fits) {
        uint256 week = currentEpoch();
        uint256 byHolder = redeemedByUserInEpoch[week][holder] + usd;
        require(byHolder <= cap * MAX_USER_REDEEM_BPS / 10_000, "User epoch limit");
        redeemedByUserInEpoch[week][holder] = byHolder;
        fits = redeemedInEpoch[week] + usd <= cap;
        if (fits) redeemedInEpoch[week] += usd;
    }

    /// @return week the next one, in which the entry can be paid.
    function _enqueue(address holder, uint256 epochId, uint256 usdAmount) internal returns (uint256 week) {
        week = currentEpoch() + 1;
        require(queueByEpoch[week].length < MAX_QUEUE_PER_EPOCH, "Queue full");
        queueByEpoch[week].push(QueuedRedemption(holder, epochId, usdAmount, uint64(block.timestamp)));
    }

    /// @notice Pays what fits of this week's next entries. @return count those that were paid.
    function _payQueue(uint256 cap, uint256 price) internal returns (uint256 count) {
        uint256 week = currentEpoch();
        QueuedRedemption[] storage queue = queueByEpoch[week];
        uint256 first = queueProcessedIndex[week];
        for (uint256 i = first; i < queue.length && i < first + MAX_PROCESS_PER_CALL; i++) {
            QueuedRedemption memory entry = queue[i];
            uint256 usd = entry.usdAmount * 1e18;
            if (usd == 0 || redeemedInEpoch[week] + usd > cap) continue;
            redeemedInEpoch[week] += usd;
            redeemedByUserInEpoch[week][entry.holder] += usd;
            queue[i].usdAmount = 0;
            _payEntry(entry, price);
            count++;
        }
        while (first < queue.length && queue[first].usdAmount == 0) first++;
        queueProcessedIndex[week] = first;
    }

    function _payEntry(QueuedRedemption memory entry, uint256 price) internal virtual;
}
