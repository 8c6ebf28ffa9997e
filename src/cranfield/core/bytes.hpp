// Ids are opaque bytes. This file has the little that is done with them: hash, compare, keep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace cranfield {

using Bytes = std::string_view;

inline std::uint64_t load8(const char* p) {
    std::uint64_t value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

inline std::uint64_t load4(const char* p) {
    std::uint32_t value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

inline std::uint64_t multiply_and_fold(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A 32-bit hash. Every table that uses it confirms a match by comparing the bytes, so a collision
// costs time and never a wrong answer. Reads no byte outside [p, p + n).
inline std::uint32_t hash_bytes(const char* p, std::size_t n) {
    constexpr std::uint64_t first_key = 0x9E3779B97F4A7C15u;
    constexpr std::uint64_t second_key = 0xD6E8FEB86659FD93u;
    std::uint64_t state = n * first_key;
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (n > 16) {
        std::size_t i = 0;
        for (; i + 16 < n; i += 16) {
            state = multiply_and_fold(load8(p + i) ^ state ^ first_key, load8(p + i + 8) ^ second_key);
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
    state = multiply_and_fold(a ^ state ^ first_key, b ^ second_key);
    return static_cast<std::uint32_t>(state ^ state >> 32);
}

// memcmp is a call; ids are mostly short, and equal ids are the common case where this is used.
inline bool same_bytes(const char* a, const char* b, std::size_t n) {
    if (n >= 8) {
        std::size_t i = 0;
        for (; i + 8 < n; i += 8) {
            if (load8(a + i) != load8(b + i)) return false;
        }
        return load8(a + n - 8) == load8(b + n - 8);
    }
    if (n >= 4) return load4(a) == load4(b) && load4(a + n - 4) == load4(b + n - 4);
    for (std::size_t i = 0; i < n; ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

inline bool same_bytes(Bytes a, Bytes b) { return a.size() == b.size() && same_bytes(a.data(), b.data(), a.size()); }

// Keeps copies of ids at addresses that never move.
class Arena {
public:
    const char* keep(const char* p, std::size_t n) {
        if (n > room_) grow(n);
        char* const kept = next_;
        copy(kept, p, n);
        next_ += n;
        room_ -= n;
        return kept;
    }
    Bytes keep(Bytes text) { return {keep(text.data(), text.size()), text.size()}; }

private:
    // Like memcpy, which is a call: two overlapping moves do for almost every id.
    static void copy(char* to, const char* from, std::size_t n) {
        if (n > 16) {
            std::memcpy(to, from, n);
        } else if (n >= 8) {
            std::memcpy(to, from, 8);
            std::memcpy(to + n - 8, from + n - 8, 8);
        } else if (n >= 4) {
            std::memcpy(to, from, 4);
            std::memcpy(to + n - 4, from + n - 4, 4);
        } else {
            for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
        }
    }
    void grow(std::size_t n) {
        constexpr std::size_t block = std::size_t{1} << 18;
        room_ = std::max(block, n);
        blocks_.push_back(std::unique_ptr<char[]>(new char[room_]));  // make_unique would clear it first
        next_ = blocks_.back().get();
    }
    std::vector<std::unique_ptr<char[]>> blocks_;
    char* next_ = nullptr;
    std::size_t room_ = 0;
};

}  // namespace cranfield
