#include "resampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <type_traits>

#include "parallel.hpp"

namespace cranfield {

namespace {

// Runs body(), which must be inlined, as compiled for the widest registers this machine has.
#if defined(__SSE2__)
template <typename Body>
__attribute__((target("avx2"))) void run_wide(const Body& body) {
    body();
}
#endif
template <typename Body>
void run(const Body& body) {
#if defined(__SSE2__)
    static const bool wide = __builtin_cpu_supports("avx2");
    if (wide) return run_wide(body);
#endif
    body();
}
#define INLINED __attribute__((always_inline))

// SplitMix64 (Steele, Lea and Flood, 2014), started from the seed and the number of a resample or block of them.
class Random {
public:
    Random(std::uint64_t seed, std::uint64_t number) : state_(mixed(mixed(seed + step) ^ (number * step + 1))) {}
    std::uint64_t next() { return mixed(state_ += step); }

private:
    static constexpr std::uint64_t step = 0x9E3779B97F4A7C15u;
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

// A whole number below `bound`, from 32 random bits; its bias is below bound / 2^32.
std::uint32_t below(std::uint32_t bound, std::uint32_t bits) {
    return static_cast<std::uint32_t>((std::uint64_t{bits} * bound) >> 32);
}

// Calls work(first, last, counts) for stretches of the resamples and adds up what they count.
template <typename Work>
std::vector<std::int64_t> counted(std::size_t size, std::size_t stretch, const Draws& draws, const Work& work) {
    std::vector<std::int64_t> total(size);
    std::mutex adding;
    parallel_for((draws.resamples + stretch - 1) / stretch, draws.threads, [&](std::size_t task) {
        std::vector<std::int64_t> counts(size);
        work(task * stretch, std::min((task + 1) * stretch, draws.resamples), counts.data());
        const std::lock_guard<std::mutex> lock(adding);
        for (std::size_t i = 0; i < size; ++i) total[i] += counts[i];
    });
    return total;
}

constexpr std::size_t lanes = 64;          // resamples done together: one random word has a sign for each
constexpr std::size_t systems_at_once = 4;  // systems whose sums are held in registers together

// Sums of every system under random signs, `lanes` resamples at a time. Cell is int32 for whole numbers that fit, or double.
template <typename Cell>
class FlippedSums {
    using Word = std::conditional_t<sizeof(Cell) == 4, std::int32_t, std::int64_t>;
    typedef Cell Cells __attribute__((vector_size(32)));
    typedef Word Words __attribute__((vector_size(32)));
    static constexpr std::size_t width = 32 / sizeof(Cell);
    static constexpr std::size_t topics_at_once = 16384 / (lanes * sizeof(Cell));  // their signs stay in the nearest cache

public:
    explicit FlippedSums(const Matrix& scores)
        : topics_(scores.topics), systems_((scores.systems + systems_at_once - 1) / systems_at_once * systems_at_once),
          values_(topics_ * systems_), total_(systems_) {
        for (std::size_t system = 0; system < scores.systems; ++system) {
            for (std::size_t topic = 0; topic < topics_; ++topic) {
                const Cell value = static_cast<Cell>(scores.row(system)[topic]);
                std::memcpy(&values_[topic * systems_ + system], &value, sizeof value);
                total_[system] += value;
            }
        }
    }

    std::size_t cells() const { return systems_ * lanes; }

    // sums[system * lanes + lane] for the resamples of a block.
    INLINED void block(std::uint64_t seed, std::uint64_t number, Cell* sums) const {
        Random random(seed, number);
        alignas(32) Word signs[topics_at_once * lanes];
        std::fill(sums, sums + cells(), Cell{0});
        for (std::size_t first = 0; first < topics_; first += topics_at_once) {
            const std::size_t count = std::min(topics_at_once, topics_ - first);
            for (std::size_t topic = 0; topic < count; ++topic) spread(random.next(), signs + topic * lanes);
            for (std::size_t system = 0; system < systems_; system += systems_at_once) {
                for (std::size_t lane = 0; lane < lanes; lane += 2 * width) {
                    add(&values_[first * systems_ + system], signs + lane, count, sums + system * lanes + lane);
                }
            }
        }
        // What was added up are the topics that keep their sign; the others are subtracted.
        for (std::size_t system = 0; system < systems_; ++system) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                Cell& sum = sums[system * lanes + lane];
                sum = sum + sum - total_[system];
            }
        }
    }

private:
    // A word of all ones for each bit that is set, and of zeros for the others.
    static INLINED void spread(std::uint64_t bits, Word* signs) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Word part = static_cast<Word>(static_cast<std::uint32_t>(bits >> (lane & 32)));
            const Word bit = static_cast<Word>(Word{1} << (lane & 31));
            signs[lane] = (part & bit) == bit ? Word{-1} : Word{0};
        }
    }

    INLINED void add(const Word* values, const Word* signs, std::size_t topics, Cell* sums) const {
        Cells sum[systems_at_once][2];
        for (std::size_t s = 0; s < systems_at_once; ++s) std::memcpy(sum[s], sums + s * lanes, sizeof sum[s]);
        for (std::size_t topic = 0; topic < topics; ++topic) {
            Words sign[2];
            std::memcpy(sign, signs + topic * lanes, sizeof sign);
            for (std::size_t s = 0; s < systems_at_once; ++s) {
                const Word value = values[topic * systems_ + s];
                sum[s][0] += (Cells)(sign[0] & value);
                sum[s][1] += (Cells)(sign[1] & value);
            }
        }
        for (std::size_t s = 0; s < systems_at_once; ++s) std::memcpy(sums + s * lanes, sum[s], sizeof sum[s]);
    }

    std::size_t topics_, systems_;  // systems: filled up with zeros to a multiple of systems_at_once
    std::vector<Word> values_;      // the bits of values[topic][system]
    std::vector<Cell> total_;
};

template <typename Cell, Side side>
std::vector<std::int64_t> count_flipped_sums(const Matrix& scores, const std::vector<Pair>& pairs, const double* threshold,
                                             const Draws& draws) {
    using Count = std::conditional_t<sizeof(Cell) == 4, std::int32_t, std::int64_t>;  // as wide as a cell: it stays in its lane
    const FlippedSums<Cell> flipped(scores);
    std::vector<Cell> least(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        least[i] = static_cast<Cell>(std::is_integral_v<Cell> ? std::ceil(threshold[i]) : threshold[i]);
    }
    return counted(pairs.size(), 16 * lanes, draws, [&](std::size_t from, std::size_t to, std::int64_t* counts) {
        std::vector<Cell> sums(flipped.cells());
        run([&]() INLINED {
            const auto count_block = [&](std::size_t used) INLINED {
                for (std::size_t i = 0; i < pairs.size(); ++i) {
                    const Cell* const a = sums.data() + static_cast<std::size_t>(pairs[i].first) * lanes;
                    const Cell* const b = sums.data() + static_cast<std::size_t>(pairs[i].second) * lanes;
                    const Cell limit = least[i];
                    Count count = 0;
                    for (std::size_t lane = 0; lane < used; ++lane) {
                        const Cell sum = a[lane] - b[lane];
                        count += (side == Side::both ? std::abs(sum) : sum) >= limit;
                    }
                    counts[i] += count;
                }
            };
            for (std::size_t first = from; first < to; first += lanes) {
                flipped.block(draws.seed, first / lanes, sums.data());
                if (to - first >= lanes) {
                    count_block(lanes);  // a constant, for the compiler to unroll
                } else {
                    count_block(to - first);
                }
            }
        });
    });
}

bool whole_and_small(const Matrix& scores) {
    double most = 0;
    for (std::size_t topic = 0; topic < scores.topics; ++topic) {
        double largest = 0;
        for (std::size_t system = 0; system < scores.systems; ++system) {
            const double value = scores.row(system)[topic];
            if (value != std::rint(value)) return false;
            largest = std::max(largest, std::abs(value));
        }
        most += largest;
    }
    return most < 1 << 28;  // four times that, the difference of two doubled sums, still fits into 32 bits
}

template <Side side>
std::vector<std::int64_t> count_sums_of(const Matrix& scores, const std::vector<Pair>& pairs, const double* threshold, const Draws& draws) {
    if (whole_and_small(scores)) return count_flipped_sums<std::int32_t, side>(scores, pairs, threshold, draws);
    return count_flipped_sums<double, side>(scores, pairs, threshold, draws);
}

}  // namespace

std::vector<std::int64_t> flipped_sums(const Matrix& scores, const std::vector<Pair>& pairs, const double* threshold, const Draws& draws,
                                       Side side) {
    return side == Side::both ? count_sums_of<Side::both>(scores, pairs, threshold, draws)
                              : count_sums_of<Side::above>(scores, pairs, threshold, draws);
}

std::vector<std::int64_t> flipped_maxima(const Matrix& scores, const std::vector<Pair>& pairs, const double* weight,
                                         const double* threshold, const Draws& draws) {
    const FlippedSums<double> flipped(scores);
    return counted(pairs.size(), 16 * lanes, draws, [&](std::size_t from, std::size_t to, std::int64_t* counts) {
        std::vector<double> sums(flipped.cells());
        std::array<double, lanes> largest;
        run([&]() INLINED {
            for (std::size_t first = from; first < to; first += lanes) {
                flipped.block(draws.seed, first / lanes, sums.data());
                // Resamples past the last one never reach a threshold.
                largest.fill(0);
                std::fill(largest.begin() + static_cast<std::ptrdiff_t>(std::min(lanes, to - first)), largest.end(),
                          std::numeric_limits<double>::quiet_NaN());
                for (std::size_t i = 0; i < pairs.size(); ++i) {
                    const double* const a = sums.data() + static_cast<std::size_t>(pairs[i].first) * lanes;
                    const double* const b = sums.data() + static_cast<std::size_t>(pairs[i].second) * lanes;
                    std::int64_t count = 0;
                    for (std::size_t lane = 0; lane < lanes; ++lane) {
                        const double value = std::abs(a[lane] - b[lane]) * weight[i];
                        largest[lane] = value > largest[lane] ? value : largest[lane];
                        count += largest[lane] >= threshold[i];
                    }
                    counts[i] += count;
                }
            }
        });
    });
}

std::vector<double> permuted_ranges(const Matrix& scores, const Draws& draws) {
    const std::size_t systems = scores.systems;
    std::vector<double> by_topic(scores.topics * systems);
    for (std::size_t system = 0; system < systems; ++system) {
        for (std::size_t topic = 0; topic < scores.topics; ++topic) by_topic[topic * systems + system] = scores.row(system)[topic];
    }
    std::vector<double> ranges(draws.resamples);
    constexpr std::size_t stretch = 256;
    parallel_for((draws.resamples + stretch - 1) / stretch, draws.threads, [&](std::size_t task) {
        std::vector<double> sums(systems), dealt(systems);
        for (std::size_t resample = task * stretch; resample < std::min((task + 1) * stretch, draws.resamples); ++resample) {
            Random random(draws.seed, resample);
            std::fill(sums.begin(), sums.end(), 0);
            for (std::size_t topic = 0; topic < scores.topics; ++topic) {
                std::copy_n(by_topic.begin() + static_cast<std::ptrdiff_t>(topic * systems), systems, dealt.begin());
                std::uint64_t bits = 0;
                for (std::size_t left = systems; left > 0; --left) {
                    bits = left % 2 == systems % 2 ? random.next() : bits >> 32;
                    const std::size_t chosen = below(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(bits));
                    sums[left - 1] += dealt[chosen];
                    dealt[chosen] = dealt[left - 1];
                }
            }
            const auto [smallest, largest] = std::minmax_element(sums.begin(), sums.end());
            ranges[resample] = *largest - *smallest;
        }
    });
    return ranges;
}

namespace {

// Everything about one pair's differences that flips leave alone. With W the sum of the sizes that turn negative, the
// flipped sum is T - 2W: as far up as the observed one if W is at most `reach`, and as far down as often.
struct Sizes {
    std::vector<double> sorted;  // without zeros, which no flip changes
    double reach = 0;
    bool certain = false;  // every sum is as far out as the observed one
    bool whole = false;

    Sizes(const double* differences, std::size_t topics, double tolerance, Side side) : whole(tolerance == 0) {
        double sum = 0, total = 0;
        for (std::size_t topic = 0; topic < topics; ++topic) {
            const double size = std::abs(differences[topic]);
            sum += differences[topic];
            total += size;
            if (size > 0) sorted.push_back(size);
        }
        std::sort(sorted.begin(), sorted.end());
        certain = sorted.empty() || (side == Side::both && std::abs(sum) <= tolerance);
        reach = (total - (side == Side::both ? std::abs(sum) : sum) + tolerance) / 2;
        if (whole) reduce();
    }

    // The sizes dealt to two hands: chances of each hand's sums are had with far less work than those of all.
    std::array<std::vector<double>, 2> hands() const {
        std::array<std::vector<double>, 2> dealt;
        for (std::size_t i = 0; i < sorted.size(); ++i) dealt[i % 2].push_back(sorted[i]);
        return dealt;
    }

private:
    void reduce() {
        std::int64_t divisor = 0;
        for (const double size : sorted) divisor = std::gcd(divisor, static_cast<std::int64_t>(size));
        if (divisor <= 1) return;
        for (double& size : sorted) size /= static_cast<double>(divisor);
        reach = std::floor(reach / static_cast<double>(divisor));
    }
};

// Chances of sums are held as multiples of 2^-scale, so that those of thousands of flips do not fall out of a double.
constexpr int scale = 900;
constexpr double negligible = 1e-290;  // of 2^scale: nothing next to any chance a double can hold

// How many cells `chances_of_sums` goes over.
double cells_to_fill(const std::vector<double>& sizes, double reach) {
    const double highest = std::min(std::accumulate(sizes.begin(), sizes.end(), 0.0) / 2, reach);
    double sum = 0, cells = 0;
    for (const double size : sizes) {
        sum += size;
        cells += std::min(sum, highest) + 1;
    }
    return cells;
}

// For w up to reach, the chance that the sizes which turn negative add up to w (Pagano and Tritchler, 1983). Its memory
// serves one list of sizes after the other: to ask the system for it each time would take longer than to fill it.
class ChancesOfSums {
public:
    void fill(const std::vector<double>& sizes, std::size_t reach) {
        const std::size_t total = static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0.0));
        const std::size_t highest = std::min(total / 2, reach);  // chances are symmetric: the upper half is copied
        // Sums below zero have cells too, which stay zero, so that nothing has to ask whether a sum can be had.
        const double largest = sizes.empty() ? 0 : sizes.back();
        below_zero_ = 2 * static_cast<std::size_t>(std::min(largest, static_cast<double>(highest + 1))) + width;
        cells_.assign(below_zero_ + reach + 1, 0);
        begin()[0] = std::ldexp(1, scale);
        run([&]() INLINED { mix(sizes, highest); });
        for (std::size_t w = highest + 1; w <= std::min(total, reach); ++w) begin()[w] = begin()[total - w];
    }

    double* begin() { return cells_.data() + below_zero_; }

private:
    typedef double Cells __attribute__((vector_size(32)));
    static constexpr std::size_t width = 4;

    // Two sizes at a time, which halves the way to memory; from the top down, so that only what is not yet written is read.
    INLINED void mix(const std::vector<double>& sizes, std::size_t highest) {
        double* const chances = begin();
        const double limit = static_cast<double>(highest + 1);
        std::size_t lowest = 0, sum = 0;
        for (std::size_t i = 0; i < sizes.size(); i += 2) {
            const std::size_t one = static_cast<std::size_t>(std::min(sizes[i], limit));
            const std::size_t two = i + 1 < sizes.size() ? static_cast<std::size_t>(std::min(sizes[i + 1], limit)) : 0;
            sum = std::min(sum + one + two, highest);
            for (double* cell = chances + sum + 1; cell > chances + lowest;) {
                cell -= width;
                Cells neither, first, second, both;
                std::memcpy(&neither, cell, sizeof neither);
                std::memcpy(&first, cell - one, sizeof first);
                std::memcpy(&second, cell - two, sizeof second);
                std::memcpy(&both, cell - one - two, sizeof both);
                neither = ((neither + first) + (second + both)) * 0.25;
                std::memcpy(cell, &neither, sizeof neither);
            }
            while (lowest < sum && chances[lowest] < negligible) chances[lowest++] = 0;
        }
    }

    std::vector<double> cells_;
    std::size_t below_zero_ = 0;
};

// The chance that the sizes of both hands which turn negative add up to `reach` at most.
double chance_by_counting(const Sizes& sizes, ChancesOfSums& one, ChancesOfSums& other) {
    const std::size_t reach = static_cast<std::size_t>(sizes.reach);
    const auto [left, right] = sizes.hands();
    one.fill(left, reach);
    other.fill(right, reach);
    const double unit = std::ldexp(1, -scale);
    const double* const f = one.begin();
    const double* const g = other.begin();
    // Sum of f[reach - w] (g[0] + … + g[w]); four terms at a time, so that additions need not wait for each other.
    double chance = 0, below = 0;
    std::size_t w = 0;
    for (; w + 4 <= reach + 1; w += 4) {
        const double a = g[w] * unit, b = a + g[w + 1] * unit, c = b + g[w + 2] * unit, d = c + g[w + 3] * unit;
        const double* const from = f + (reach - w);
        chance += (from[0] * (below + a) + from[-1] * (below + b)) + (from[-2] * (below + c) + from[-3] * (below + d));
        below += d;
    }
    for (; w <= reach; ++w) chance += f[reach - w] * (below += g[w] * unit);
    return chance * unit;
}

// All sums of the sizes up to reach, sorted: each size doubles the list by merging it with itself moved up. Its memory
// serves one list of sizes after the other, as that of `ChancesOfSums` does.
class SumsInOrder {
public:
    void fill(const std::vector<double>& sizes, double reach) {
        const std::size_t most = (std::size_t{1} << sizes.size()) + 2;  // with what is less, and what is more, than all
        if (sums_.size() < most) {
            for (std::vector<double>* list : {&sums_, &moved_, &merged_}) list->resize(most);
        }
        count_ = 1;
        sums_[1] = 0;
        enclose(sums_.data() + 1, count_);
        for (const double size : sizes) {
            double* const sums = sums_.data() + 1;
            double* const moved = moved_.data() + 1;
            const std::size_t kept = static_cast<std::size_t>(std::upper_bound(sums, sums + count_, reach - size) - sums);
            for (std::size_t i = 0; i < kept; ++i) moved[i] = sums[i] + size;
            enclose(moved, kept);
            merge(sums, count_, moved, kept, merged_.data() + 1);
            count_ += kept;
            sums_.swap(merged_);
            enclose(sums_.data() + 1, count_);
        }
    }

    // Before the first stands what is less than every sum, after the last what is more.
    const double* begin() const { return sums_.data() + 1; }
    std::size_t size() const { return count_; }

private:
    static void enclose(double* list, std::size_t count) {
        list[-1] = -std::numeric_limits<double>::infinity();
        list[count] = std::numeric_limits<double>::infinity();
    }

    // From both ends at once, where neither has to wait for the other; and without a branch, which would be a guess each
    // time.
    static void merge(const double* one, std::size_t ones, const double* other, std::size_t others, double* merged) {
        const double *low_one = one, *low_other = other, *high_one = one + ones - 1, *high_other = other + others - 1;
        double *low = merged, *high = merged + ones + others - 1;
        while (low < high) {
            const double a = *low_one, b = *low_other, c = *high_one, d = *high_other;
            const bool first = a <= b, last = c > d;
            *low++ = first ? a : b;
            low_one += first;
            low_other += !first;
            *high-- = last ? c : d;
            high_one -= last;
            high_other -= !last;
        }
        if (low == high) *low = std::min(*low_one, *low_other);
    }

    std::vector<double> sums_, moved_, merged_;
    std::size_t count_ = 0;
};

// The memory that one exact test after the other uses.
struct Workspace {
    ChancesOfSums chances, other_chances;
    SumsInOrder sums, other_sums;
};

// The same chance where sizes are any numbers: a sum of one hand meets those of the other that leave it within reach
// (Horowitz and Sahni, 1974).
double chance_by_meeting(const Sizes& sizes, SumsInOrder& one, SumsInOrder& other) {
    const auto [left, right] = sizes.hands();
    one.fill(left, sizes.reach);
    other.fill(right, sizes.reach);
    // From both ends at once and without a branch, as above: the least sums meet many, the largest few. A step goes on
    // either to the next sum or to the next that it may meet.
    const double* const sums = other.begin();
    const double *low = one.begin(), *high = low + one.size();
    const double* const middle = low + one.size() / 2;
    std::uint64_t many = other.size(), few = 0, count = 0;
    const auto next_low = [&]() INLINED {
        const bool meets = *low + sums[static_cast<std::ptrdiff_t>(many) - 1] <= sizes.reach;
        count += meets ? many : 0;
        many -= !meets;
        low += meets;
    };
    const auto next_high = [&]() INLINED {
        const bool meets = high[-1] + sums[few] <= sizes.reach;
        count += meets ? 0 : few;
        few += meets;
        high -= !meets;
    };
    while (low < middle && high > middle) {
        next_low();
        next_high();
    }
    while (low < middle) next_low();
    while (high > middle) next_high();
    return std::ldexp(static_cast<double>(count), -static_cast<int>(sizes.sorted.size()));
}

constexpr double cells_a_sum = 64;  // what it takes to list and meet a sum, measured in cells filled

double exact_flip(const Sizes& sizes, Side side, double budget, Workspace& space) {
    if (sizes.certain) return 1;
    const auto [left, right] = sizes.hands();
    const double meeting = cells_a_sum * std::ldexp(1, static_cast<int>(left.size()));
    const double counting = sizes.whole ? cells_to_fill(left, sizes.reach) + cells_to_fill(right, sizes.reach)
                                        : std::numeric_limits<double>::infinity();
    if (std::min(meeting, counting) > budget) return std::numeric_limits<double>::quiet_NaN();
    const double above = counting <= meeting ? chance_by_counting(sizes, space.chances, space.other_chances)
                                             : chance_by_meeting(sizes, space.sums, space.other_sums);
    const double chance = side == Side::both ? 2 * above : above;
    return std::min(1.0, std::max(chance, std::numeric_limits<double>::min()));
}

}  // namespace

std::vector<double> exact_flips(const Matrix& differences, const double* tolerance, std::size_t budget, unsigned threads, Side side) {
    std::vector<double> chances(differences.systems);
    constexpr std::size_t rows_a_task = 32;
    parallel_for((differences.systems + rows_a_task - 1) / rows_a_task, threads, [&](std::size_t task) {
        Workspace space;
        for (std::size_t row = task * rows_a_task; row < std::min((task + 1) * rows_a_task, differences.systems); ++row) {
            const Sizes sizes(differences.row(row), differences.topics, tolerance[row], side);
            chances[row] = exact_flip(sizes, side, static_cast<double>(budget), space);
        }
    });
    return chances;
}

}  // namespace cranfield
