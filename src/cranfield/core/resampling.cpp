#include "resampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "parallel.hpp"

// A body marked `inlined` is compiled into two functions, for any machine and for one with wider registers.
#if defined(__GNUC__)
#define CRANFIELD_INLINED __attribute__((always_inline)) inline
#else
#define CRANFIELD_INLINED inline
#endif
#if defined(__SSE2__) && defined(__GNUC__)
#define CRANFIELD_WIDE __attribute__((target("avx2")))
#endif

namespace cranfield {

namespace {

constexpr std::size_t lanes = 64;       // resamples done together: a random word has a bit for each
constexpr std::size_t topics_ahead = 64;  // topics whose signs are spread out together: they stay in the nearest cache
constexpr std::size_t blocks_a_task = 16;

bool has_wide_registers() {
#if defined(CRANFIELD_WIDE)
    static const bool wide = __builtin_cpu_supports("avx2");
    return wide;
#else
    return false;
#endif
}

// Calls body() compiled for the widest registers of this machine.
template <typename Body>
CRANFIELD_INLINED void run_narrow(const Body& body) { body(); }
#if defined(CRANFIELD_WIDE)
template <typename Body>
CRANFIELD_WIDE void run_wide(const Body& body) { body(); }
#endif

// SplitMix64 (Steele, Lea and Flood, 2014), started from the seed and the number of the draw.
class Random {
public:
    Random(std::uint64_t seed, std::uint64_t number) : state_(mixed(mixed(seed + step) ^ (number * step + 1))) {}
    std::uint64_t next() { return mixed(state_ += step); }
    // A number below `bound`, which is far below 2^32: the bias is bound / 2^32 at most.
    static std::size_t below(std::uint32_t bound, std::uint32_t word) {
        return static_cast<std::size_t>((std::uint64_t{word} * bound) >> 32);
    }

private:
    static constexpr std::uint64_t step = 0x9E3779B97F4A7C15u;
    static std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};
