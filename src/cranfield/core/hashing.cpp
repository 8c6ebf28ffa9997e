#include "hashing.hpp"

#include <cstdlib>
#include <random>

namespace cranfield {

namespace {

std::uint64_t random_number() {
    std::random_device device;  // of the system: 32 bits at a time
    return static_cast<std::uint64_t>(device()) << 32 | device();
}

HashKeys make_keys() {
    const char* const seed = std::getenv("CRANFIELD_HASH_SEED");
    if (!seed) return {random_number(), random_number()};
    constexpr HashKeys fixed{0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u};
    std::uint64_t state = fixed.first;
    for (const char c : Bytes(seed)) state = multiply_and_fold(state ^ static_cast<unsigned char>(c), fixed.second);
    return {multiply_and_fold(state, fixed.first), multiply_and_fold(state ^ fixed.second, fixed.first)};
}

}  // namespace

const HashKeys& hash_keys() {
    static const HashKeys keys = make_keys();
    return keys;
}

}  // namespace cranfield
