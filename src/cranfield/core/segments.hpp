// Sums and running values over the segments of a CSR array. Each segment is computed from its own numbers alone, so
// that no topic's rounding leaks into another's, which a cumulative sum over everything would do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cranfield {

// out[s] = x[offsets[s]] + … + x[offsets[s + 1] - 1]
inline void segment_sum(const std::int64_t* offsets, std::size_t segments, const double* x, double* out) {
    for (std::size_t s = 0; s < segments; ++s) {
        double sum = 0;
        for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) sum += x[i];
        out[s] = sum;
    }
}

// out[i] = combine of x from the start of i's segment to i, or from i to the segment's end if `backwards`.
template <typename Combine>
void segment_scan(const std::int64_t* offsets, std::size_t segments, const double* x, double* out, bool backwards,
                  double start, const Combine& combine) {
    for (std::size_t s = 0; s < segments; ++s) {
        double state = start;
        if (backwards) {
            for (std::int64_t i = offsets[s + 1]; i-- > offsets[s];) out[i] = state = combine(state, x[i]);
        } else {
            for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) out[i] = state = combine(state, x[i]);
        }
    }
}

}  // namespace cranfield
