// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

/// @title Calendar months (UTC) as numbers of the form YYYYMM.
library Months {
    /// @notice The month of a timestamp. Howard Hinnant's civil_from_days.
    function monthOf(uint256 timestamp) internal pure returns (uint256 yyyymm) {
        uint256 z = timestamp / 1 days + 719468;
        uint256 era = z / 146097;
        uint256 dayOfEra = z % 146097;
        uint256 yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
        uint256 dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        uint256 shifted = (5 * dayOfYear + 2) / 153; // months since March
        uint256 month = shifted < 10 ? shifted + 3 : shifted - 9;
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0)) * 100 + month;
    }

    /// @notice The last second of a month. Howard Hinnant's days_from_civil, for the first day of the next month.
    function lastSecondOf(uint256 yyyymm) internal pure returns (uint256 timestamp) {
        uint256 year = yyyymm / 100;
        uint256 month = yyyymm % 100 + 1;
        if (month == 13) (year, month) = (year + 1, 1);
        if (month <= 2) year -= 1;
        uint256 yearOfEra = year % 400;
        uint256 dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
        uint256 dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
        return (year / 400 * 146097 + dayOfEra - 719468) * 1 days - 1;
    }
}
