// Sums and running values over the segments of a CSR array. Each segment is computed from its own numbers alone, so
// that no topic's rounding leaks into another's, which a cumulative sum over everything would do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "faults.hpp"

namespace cranfield {

// What follows reads as far as the offsets say. A measure may be anybody's, so they are held against the length of what
// is read: they begin at 0, never fall, and end there. `what` the values belong to is for the message.
inline void check_segments(const std::int64_t* offsets, std::size_t count, std::size_t values, const char* what) {
    if (count == 0 || offsets[0] != 0) throw UsageFault("offsets of segments begin at 0");
    bool falls = false;
    for (std::size_t s = 1; s < count; ++s) falls |= offsets[s] < offsets[s - 1];
    if (falls) throw UsageFault("offsets of segments never fall");
    const auto entries = static_cast<std::size_t>(offsets[count - 1]);
    if (entries != values) {
        throw UsageFault(std::to_string(values) + " values where there must be one for each of " + std::to_string(entries) +
                         " " + what);
    }
}

// Numbers are summed, marks are counted.
template <typename T>
using Sum = std::conditional_t<std::is_same_v<T, bool>, std::int64_t, double>;

// out[s] = x[offsets[s]] + … + x[offsets[s + 1] - 1]
template <typename T>
void segment_sum(const std::int64_t* offsets, std::size_t segments, const T* x, double* out) {
    for (std::size_t s = 0; s < segments; ++s) {
        Sum<T> sum = 0;
        for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) sum += x[i];
        out[s] = static_cast<double>(sum);
    }
}

// out[i] = sum of x from the start of i's segment to i.
template <typename T>
void segment_running_sum(const std::int64_t* offsets, std::size_t segments, const T* x, double* out) {
    for (std::size_t s = 0; s < segments; ++s) {
        Sum<T> sum = 0;
        for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) out[i] = static_cast<double>(sum += x[i]);
    }
}

// out[i] = largest x from i to the end of i's segment.
inline void segment_best_from_here(const std::int64_t* offsets, std::size_t segments, const double* x, double* out) {
    for (std::size_t s = 0; s < segments; ++s) {
        double best = -std::numeric_limits<double>::infinity();
        for (std::int64_t i = offsets[s + 1]; i-- > offsets[s];) out[i] = best = std::max(best, x[i]);
    }
}

// out[i] = product of x from the start of i's segment to the element before i.
inline void segment_product_above(const std::int64_t* offsets, std::size_t segments, const double* x, double* out) {
    for (std::size_t s = 0; s < segments; ++s) {
        double product = 1;
        for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) {
            out[i] = product;
            product *= x[i];
        }
    }
}

}  // namespace cranfield
