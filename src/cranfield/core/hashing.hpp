// The hash of ids. Files come from strangers, who might choose ids that fall into one place of every table: its keys are
// drawn anew for each process. Nothing that leaves the core may depend on it.
#pragma once

#include "bytes.hpp"

namespace cranfield {

struct HashKeys {
    std::uint64_t first, second;
};

// Those of this process. CRANFIELD_HASH_SEED, any text, decides them for tests.
const HashKeys& hash_keys();

inline std::uint64_t multiply_and_fold(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A 32-bit hash. Every table that uses it confirms a match by comparing the bytes, so a collision
// costs time and never a wrong answer. Reads no byte outside [p, p + n).
inline std::uint32_t hash_bytes(const char* p, std::size_t n, const HashKeys keys) {
    std::uint64_t state = keys.first + n * keys.second;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (n > 16) {
        std::size_t i = 0;
        for (; i + 16 < n; i += 16) {
            state = multiply_and_fold(load8(p + i) ^ state, load8(p + i + 8) ^ keys.second);
        }
        a = load8(p + n - 16);
        b = load8(p + n - 8);
    } else if (n >= 8) {
        a = load8(p);
        b = load8(p + n - 8);
    } else if (n >= 4) {
        a = load4(p);
        b = load4(p + n - 4);
    } else if (n > 0) {
        const auto at = [p](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])); };
        a = at(0) << 16 | at(n / 2) << 8 | at(n - 1);
    }
    state = multiply_and_fold(a ^ state, b ^ keys.second);
    return static_cast<std::uint32_t>(state ^ state >> 32);
}

// For the containers of the standard library.
struct HashOfBytes {
    std::size_t operator()(Bytes id) const { return hash_bytes(id.data(), id.size(), hash_keys()); }
};

// Which of so many shares of the topics this one belongs to. Not by the hash of ids, whose keys are drawn: which fault is
// found first would depend on them.
inline std::uint32_t share_of(Bytes topic, std::uint32_t shares) {
    std::uint32_t hash = 2166136261u;
    for (const char c : topic) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash % shares;
}

}  // namespace cranfield
