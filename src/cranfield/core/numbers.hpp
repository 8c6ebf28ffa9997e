// Decimal numbers from text: all of the field or nothing, correctly rounded, whatever the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

#include "bytes.hpp"

namespace cranfield {

enum class NumberFault { none, not_a_number, nan, overflow };

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

namespace detail {

// Of a decimal number that is out of range: positive if it is too large, negative if it is too small.
inline std::int64_t magnitude(const char* p, const char* end) {
    std::int64_t places = 0;  // of the first digit that is not 0, counted from the point
    bool after_point = false, significant = false;
    for (; p < end && *p != 'e' && *p != 'E'; ++p) {
        if (*p == '.') {
            after_point = true;
        } else if (is_digit(*p)) {
            significant |= *p != '0';
            if (!after_point && significant) ++places;
            if (after_point && !significant) --places;
        }
    }
    if (p == end) return places;
    const bool negative = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    std::int64_t exponent = 0;
    for (; p < end && exponent < (std::int64_t{1} << 40); ++p) exponent = exponent * 10 + (*p - '0');
    return places + (negative ? -exponent : exponent);
}

inline NumberFault parse_any_decimal(const char* begin, const char* end, double& out) {
    const char* p = begin;
    if (p < end && *p == '+') {
        ++p;
        if (p < end && *p == '-') return NumberFault::not_a_number;
    }
    const auto [stop, fault] = std::from_chars(p, end, out, std::chars_format::general);
    if (fault == std::errc::invalid_argument || stop != end) return NumberFault::not_a_number;
    if (fault == std::errc::result_out_of_range) {
        if (magnitude(p, end) > 0) return NumberFault::overflow;
        out = *p == '-' ? -0.0 : 0.0;  // too small for a double is zero
        return NumberFault::none;
    }
    if (std::isnan(out)) return NumberFault::nan;
    if (std::isinf(out)) {
        const char last = static_cast<char>(*(end - 1) | 0x20);
        if (last != 'f' && last != 'y') return NumberFault::overflow;  // digits, not the word "inf"
    }
    return NumberFault::none;
}

}  // namespace detail

// Up to eight decimal digits at once, in one register, without a branch a digit: the text's first character is the
// lowest byte of `text`, and its first `length` bytes (1 to 8) are digits, or the result is false.
inline bool parse_digits(std::uint64_t text, std::size_t length, std::uint64_t& out) {
    constexpr std::uint64_t zeros = 0x3030303030303030u;
    constexpr std::uint64_t high_halves = 0xF0F0F0F0F0F0F0F0u;
    const auto unused = 8 * static_cast<unsigned>(8 - length);
    std::uint64_t x = (text ^ zeros) << unused;  // digits against the top, zero in front of them
    if (((x | (x + 0x0606060606060606u)) & high_halves) != 0) return false;
    x = x * 10 + (x >> 8);  // pairs of digits, in every other byte
    constexpr std::uint64_t pairs = 0x000000FF000000FFu;
    out = ((x & pairs) * 0x000F424000000064u + ((x >> 16) & pairs) * 0x0000271000000001u) >> 32;
    return true;
}

// [+-]digits[.digits][e[+-]digits], or inf. Up to eight digits take a path that is exact because both the digits and
// the power of ten are exact doubles (Clinger 1990); the rest goes to std::from_chars. `limit` ends the readable text.
inline NumberFault parse_decimal(const char* begin, const char* end, const char* limit, double& out) {
    static constexpr double powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    const bool negative = begin < end && *begin == '-';
    const char* const p = begin + negative;
    const auto length = static_cast<std::size_t>(end - p);
    if (length >= 1 && length <= 9 && limit - p >= 9) {
        std::uint64_t text = load8(p);
        const std::uint64_t dots = text ^ 0x2E2E2E2E2E2E2E2Eu;
        const std::uint64_t found = (dots - 0x0101010101010101u) & ~dots & 0x8080808080808080u;
        const std::size_t dot = found ? static_cast<std::size_t>(__builtin_ctzll(found)) / 8 : 9;
        std::size_t digits = length, decimals = 0;
        if (dot < length) {  // close the gap at the point
            const std::uint64_t before = (std::uint64_t{1} << (8 * dot)) - 1;
            text = (text & before) | (load8(p + 1) & ~before);
            digits = length - 1;
            decimals = digits - dot;
        }
        std::uint64_t whole;
        if (digits >= 1 && digits <= 8 && parse_digits(text, digits, whole)) {
            const double value = static_cast<double>(static_cast<std::int64_t>(whole)) / powers_of_ten[decimals];
            out = negative ? -value : value;
            return NumberFault::none;
        }
    }
    return detail::parse_any_decimal(begin, end, out);
}

// A rank: a whole number, perhaps written as 3.0. Far ranks saturate, for ranks are only compared.
inline bool parse_rank(const char* begin, const char* end, const char* limit, std::int32_t& out) {
    const auto length = static_cast<std::size_t>(end - begin);
    std::uint64_t value;
    if (length >= 1 && length <= 8 && limit - begin >= 8 && parse_digits(load8(begin), length, value)) {
        out = static_cast<std::int32_t>(value);
        return true;
    }
    double wide;
    if (parse_decimal(begin, end, limit, wide) != NumberFault::none || wide != std::floor(wide) || std::isinf(wide)) return false;
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    out = static_cast<std::int32_t>(std::min(std::max(wide, -most), most));
    return true;
}

}  // namespace cranfield
