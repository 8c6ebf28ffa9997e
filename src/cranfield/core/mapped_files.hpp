// Large files that are mapped: how their pages come, and go. What the system cannot do changes nothing but time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bytes.hpp"

namespace cranfield {

// Lets go of pages of a mapped file. Whoever looks at one again gets it back from the file.
void let_go(Bytes text);

// Asks the system for a part of a mapped file that is still on the disk, without waiting for it. Reading would get a little at
// a time, and wait for each.
void fetch(Bytes text);

// While it lives, looking at a mapped file here and there brings no more of it than what is looked at. Else the system
// would read ahead at each place: most of the file, before the first line is parsed.
class LookedAtHereAndThere {
public:
    explicit LookedAtHereAndThere(Bytes text);
    ~LookedAtHereAndThere();
    LookedAtHereAndThere(const LookedAtHereAndThere&) = delete;
    LookedAtHereAndThere& operator=(const LookedAtHereAndThere&) = delete;

private:
    Bytes text_;
};

// The parts of a mapped file that memory could not hold, read from the disk past the system's cache, one after another and
// ahead of those who parse them: to put each page into the cache, only to have it thrown out again, takes longer
// than to judge its lines. A part that is in the cache already stays where it is mapped.
class DiskParts {
    struct Freed {
        void operator()(char* memory) const { std::free(memory); }
    };
    using Memory = std::unique_ptr<char, Freed>;

public:
    class Part {
    public:
        Part(Bytes text, DiskParts* owner, Memory memory) : text_(text), owner_(owner), memory_(std::move(memory)) {}
        Part(Part&&) = default;
        ~Part();
        Bytes text() const { return text_; }
        bool is_mapped() const { return memory_ == nullptr; }

    private:
        Bytes text_;
        DiskParts* owner_;
        Memory memory_;
    };

    // `file` is the descriptor of what is mapped from `start` on; below 0 there is none, and all parts stay where they are.
    DiskParts(int file, const char* start, const std::vector<Bytes>& parts, unsigned threads);
    ~DiskParts();
    DiskParts(const DiskParts&) = delete;
    DiskParts& operator=(const DiskParts&) = delete;
    // Waits for a part. They are taken in about their order, by as many threads as were told, each of which lets go of one
    // before it takes another.
    Part take(std::size_t number);

private:
    void read_ahead();
    Part read(Bytes part);
    bool fill(char* memory, std::size_t from, std::size_t end) const;
    void give_back(Memory memory);

    const char* start_;
    const std::vector<Bytes>& parts_;
    int file_ = -1;
    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<Memory> free_;
    std::vector<std::optional<Part>> ready_;
    std::atomic<bool> stopped_{false};
    std::thread reader_;
};

}  // namespace cranfield
