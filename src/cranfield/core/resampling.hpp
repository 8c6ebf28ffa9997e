// Randomisation tests: how often chance alone would part systems as far as they are apart. What resample r draws depends
// on the seed and on r alone, so the counts are the same for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield {

// Scores of systems, a row each, on the same topics.
struct Matrix {
    const double* values;
    std::size_t systems, topics;
    const double* row(std::size_t system) const { return values + system * topics; }
};

struct Pair {
    std::int64_t first, second;
};

struct Draws {
    std::uint64_t seed;
    std::size_t resamples;
    unsigned threads;
};

// Which sums count as far out: those on either side of zero, or those above it alone.
enum class Side { both, above };

// For each pair the number of resamples in which the signs of its differences, flipped topic by topic, give a sum of at
// least threshold[pair], on either side of zero or above it. A topic's sign is shared by all pairs. Sums are exact where scores are
// whole numbers.
std::vector<std::int64_t> flipped_sums(const Matrix& scores, const std::vector<Pair>& pairs, const double* threshold, const Draws& draws,
                                       Side side);

// The same, on either side, where a pair's sum is multiplied by its weight, and compared is the largest among the pairs up to its own in
// the order given: successive maxima, as step-down tests need.
std::vector<std::int64_t> flipped_maxima(const Matrix& scores, const std::vector<Pair>& pairs, const double* weight,
                                         const double* threshold, const Draws& draws);

// For each resample, in which every topic's scores are dealt to the systems anew: largest minus smallest sum of a system.
std::vector<double> permuted_ranges(const Matrix& scores, const Draws& draws);

// For each row of differences the exact chance that their sum, with signs flipped at random, is as far from zero as it is;
// or, for one side, at least as large as it is.
// Sums closer together than tolerance[row] count as equal; tolerance 0 says that the row has whole numbers.
// NaN where that takes more than `budget` steps.
std::vector<double> exact_flips(const Matrix& differences, const double* tolerance, std::size_t budget, unsigned threads, Side side);

}  // namespace cranfield
