// Ids are opaque bytes. This file has the little that is done with them: compare, keep; hashing.hpp has their hash.
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
        // Each twice as large as the one before, up to a limit: of many a part of the input only a few ids are kept.
        constexpr std::size_t least = std::size_t{1} << 12, most = std::size_t{1} << 18;
        size_ = std::min(std::max(2 * size_, least), most);
        room_ = std::max(size_, n);
        blocks_.push_back(std::unique_ptr<char[]>(new char[room_]));  // make_unique would clear it first
        next_ = blocks_.back().get();
    }
    std::vector<std::unique_ptr<char[]>> blocks_;
    char* next_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace cranfield
