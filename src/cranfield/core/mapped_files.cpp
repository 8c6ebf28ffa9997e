#include "mapped_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#ifdef __unix__
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace cranfield {

namespace {

// What a disk reads past the cache begins and ends at such places, of the file and of memory; and no page is smaller.
constexpr std::size_t block = 4096;

std::size_t down(std::size_t place) { return place / block * block; }
std::size_t up(std::size_t place) { return down(place + block - 1); }

#ifdef __linux__
std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void advise(Bytes text, int how) {
    const auto begin = reinterpret_cast<std::uintptr_t>(text.data()) / page_size() * page_size();
    const auto end = reinterpret_cast<std::uintptr_t>(text.data() + text.size());
    madvise(reinterpret_cast<void*>(begin), end - begin, how);
}

bool is_there(const char* place) {
    const auto page = reinterpret_cast<std::uintptr_t>(place) / page_size() * page_size();
    unsigned char in_core = 0;
    return mincore(reinterpret_cast<void*>(page), page_size(), &in_core) != 0 || (in_core & 1) != 0;
}

#else
bool is_there(const char*) { return true; }
#endif

// Where parts begin and end the file has been looked at, so that these pages tell nothing.
bool is_there(Bytes text) {
    const char* const begin = text.data();
    const std::size_t quarter = text.size() / 4;
    return is_there(begin + quarter) && is_there(begin + 2 * quarter) && is_there(begin + 3 * quarter);
}

}  // namespace

void let_go([[maybe_unused]] Bytes text) {
#ifdef __unix__
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(text.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(text.data() + text.size()) / page * page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

void fetch([[maybe_unused]] Bytes text) {
#ifdef __linux__
    constexpr std::size_t request = std::size_t{1} << 19;  // the system takes no larger ones
    if (is_there(text)) return;
    for (std::size_t at = 0; at < text.size(); at += request) advise(text.substr(at, request), MADV_WILLNEED);
#endif
}

LookedAtHereAndThere::LookedAtHereAndThere(Bytes text) : text_(text) {
#ifdef __linux__
    if (!text_.empty()) advise(text_, MADV_RANDOM);
#endif
}

LookedAtHereAndThere::~LookedAtHereAndThere() {
#ifdef __linux__
    if (!text_.empty()) advise(text_, MADV_NORMAL);
#endif
}

DiskParts::Part::~Part() {
    if (memory_) owner_->give_back(std::move(memory_));
}

DiskParts::DiskParts([[maybe_unused]] int file, const char* start, const std::vector<Bytes>& parts,
                     [[maybe_unused]] unsigned threads)
    : start_(start), parts_(parts), ready_(parts.size()) {
#ifdef __linux__
    if (file < 0) return;
    // Another way into the same file, whatever its name has become.
    const std::string same = "/proc/self/fd/" + std::to_string(file);
    file_ = open(same.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (file_ < 0) return;
    std::size_t longest = 0;
    for (const Bytes part : parts) longest = std::max(longest, part.size());
    const std::size_t ahead = 2;  // parts that wait for a thread
    free_.reserve(threads + ahead);
    try {
        while (free_.size() < threads + ahead) {
            free_.emplace_back(static_cast<char*>(std::aligned_alloc(block, up(longest) + block)));
            if (!free_.back()) return;
        }
        reader_ = std::thread([this] { read_ahead(); });
    } catch (const std::system_error&) {  // there are threads enough already
    }
#endif
}

DiskParts::~DiskParts() {
    {
        const std::lock_guard<std::mutex> locked(lock_);
        stopped_ = true;
    }
    changed_.notify_all();
    if (reader_.joinable()) reader_.join();
    ready_.clear();  // while there is still where to give back
#ifdef __linux__
    if (file_ >= 0) close(file_);
#endif
}

DiskParts::Part DiskParts::take(std::size_t number) {
    if (!reader_.joinable()) return {parts_[number], nullptr, nullptr};
    std::unique_lock<std::mutex> locked(lock_);
    changed_.wait(locked, [&] { return ready_[number].has_value(); });
    Part part = std::move(*ready_[number]);
    ready_[number].reset();
    return part;
}

void DiskParts::give_back(Memory memory) {
    {
        const std::lock_guard<std::mutex> locked(lock_);
        free_.push_back(std::move(memory));
    }
    changed_.notify_all();
}

void DiskParts::read_ahead() {
    for (std::size_t number = 0; number < parts_.size() && !stopped_; ++number) {
        Part part = read(parts_[number]);
        {
            const std::lock_guard<std::mutex> locked(lock_);
            ready_[number].emplace(std::move(part));
        }
        changed_.notify_all();
    }
}

// A part from the disk; where it is mapped, if it is in the cache already or cannot be read so.
DiskParts::Part DiskParts::read(Bytes part) {
    if (is_there(part)) return {part, nullptr, nullptr};
    Memory memory;
    {
        std::unique_lock<std::mutex> locked(lock_);
        changed_.wait(locked, [this] { return stopped_ || !free_.empty(); });
        if (stopped_) return {part, nullptr, nullptr};
        memory = std::move(free_.back());
        free_.pop_back();
    }
    const auto begin = static_cast<std::size_t>(part.data() - start_);
    const std::size_t from = down(begin);
    if (fill(memory.get(), from, begin + part.size())) {
        return {{memory.get() + (begin - from), part.size()}, this, std::move(memory)};
    }
    give_back(std::move(memory));
    return {part, nullptr, nullptr};
}

bool DiskParts::fill([[maybe_unused]] char* memory, [[maybe_unused]] std::size_t from, [[maybe_unused]] std::size_t end) const {
#ifdef __linux__
    for (std::size_t got = 0; from + got < end;) {
        const auto read = pread(file_, memory + got, up(end) - from - got, static_cast<off_t>(from + got));
        if (read < 0 && errno == EINTR) continue;
        if (read <= 0) return false;
        got += static_cast<std::size_t>(read);
    }
    return true;
#else
    return false;
#endif
}

}  // namespace cranfield
