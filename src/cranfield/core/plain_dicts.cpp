#include "plain_dicts.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "join.hpp"
#include "parallel.hpp"

// Several threads look at the dicts while their caller holds the interpreter lock and waits: nobody can change them. No code of
// Python's runs, nothing is counted or made: what would need that is left to `read_dict`, which is one thread's work.

namespace cranfield {

namespace {

namespace nb = nanobind;

struct Entry {
    PyObject* key;
    PyObject* value;
};

std::size_t size_of(PyObject* dict) { return static_cast<std::size_t>(PyDict_Size(dict)); }

void list_entries(PyObject* dict, std::vector<Entry>& entries) {
    entries.resize(size_of(dict));
    Py_ssize_t at = 0;
    for (Entry& entry : entries) PyDict_Next(dict, &at, &entry.key, &entry.value);
}

// Text as UTF-8, at `to`, which has room for four bytes a character; how many they are, or 0 where it has halves of
// characters, of which some stand for bytes.
template <typename Character>
std::size_t encode(const Character* text, std::size_t length, char* to) {
    char* end = to;
    for (std::size_t i = 0; i < length; ++i) {
        const auto c = static_cast<std::uint32_t>(text[i]);
        const auto rest = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
        if (c < 0x80) {
            *end++ = static_cast<char>(c);
        } else if (c < 0x800) {
            *end++ = static_cast<char>(0xC0 | c >> 6);
            *end++ = rest(0);
        } else if (c < 0x10000) {
            if (c >= 0xD800 && c < 0xE000) return 0;
            *end++ = static_cast<char>(0xE0 | c >> 12);
            *end++ = rest(6);
            *end++ = rest(0);
        } else {
            *end++ = static_cast<char>(0xF0 | c >> 18);
            *end++ = rest(12);
            *end++ = rest(6);
            *end++ = rest(0);
        }
    }
    return static_cast<std::size_t>(end - to);
}

// The id that a str is: its own bytes where it is ASCII, otherwise kept in the arena. Empty for anything else. Texts that
// differ have ids that differ.
Bytes id_of(PyObject* object, Arena& arena, std::vector<char>& room) {
    if (!PyUnicode_CheckExact(object)) return {};
    const auto length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(object));
    if (PyUnicode_IS_COMPACT_ASCII(object)) return {static_cast<const char*>(PyUnicode_DATA(object)), length};
    if (!PyUnicode_IS_COMPACT(object)) return {};
    room.resize(length * 4);
    const void* const text = PyUnicode_DATA(object);
    std::size_t size = 0;
    switch (PyUnicode_KIND(object)) {
        case PyUnicode_1BYTE_KIND: size = encode(static_cast<const Py_UCS1*>(text), length, room.data()); break;
        case PyUnicode_2BYTE_KIND: size = encode(static_cast<const Py_UCS2*>(text), length, room.data()); break;
        default: size = encode(static_cast<const Py_UCS4*>(text), length, room.data()); break;
    }
    return size == 0 ? Bytes() : arena.keep(Bytes(room.data(), size));
}

// The number that a float, an int of 64 bits or a bool is; NaN for anything else.
double number_of(PyObject* object) {
    if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
    if (!PyLong_CheckExact(object) && !PyBool_Check(object)) {
        return PyFloat_Check(object) ? PyFloat_AS_DOUBLE(object) : std::nan("");
    }
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow ? std::nan("") : static_cast<double>(whole);
}

// Reads one topic after another into a block, with working memory of its own: one for each thread.
class TopicReader {
public:
    TopicReader(Block& block, ValueKind kind, const Judging& judging) : block_(block), kind_(kind) {
        if (judging.judgements) joiner_.emplace(*judging.judgements, judging.ties_in_input_order);
    }
    // Whether all of the topic is plain; the block is of no use otherwise.
    bool read(const Entry& topic) {
        const Bytes id = id_of(topic.key, block_.arena, room_);
        if (id.empty()) return false;
        list_entries(topic.value, entries_);
        if (entries_.empty()) return true;
        block_.open(id);
        constexpr std::size_t ahead = 16;  // objects lie scattered: they are fetched while those before them are read
        constexpr std::size_t head = sizeof(PyASCIIObject);  // before the text of a str, which may be in the next line of the cache
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (i + ahead < entries_.size()) {
                const Entry& later = entries_[i + ahead];
                __builtin_prefetch(later.key);
                __builtin_prefetch(reinterpret_cast<const char*>(later.key) + head);
                __builtin_prefetch(later.value);
            }
            if (!add(entries_[i])) return false;
        }
        block_.finish_distinct(scratch_);
        if (joiner_) block_.judge_last(*joiner_);
        return true;
    }

private:
    bool add(const Entry& entry) {
        const Bytes doc = id_of(entry.key, block_.arena, room_);
        const double value = number_of(entry.value);
        if (doc.empty() || std::isnan(value) || (std::isinf(value) && kind_ != ValueKind::score)) return false;
        const char* const kept = joiner_ ? doc.data() : block_.arena.keep(doc.data(), doc.size());
        block_.add(kept, doc.size(), kind_ == ValueKind::rank ? -value : value);
        return true;
    }
    Block& block_;
    const ValueKind kind_;
    std::optional<Joiner> joiner_;
    Scratch scratch_;
    std::vector<Entry> entries_;
    std::vector<char> room_;
};

// Topics one after another that have about so many rows together.
struct Part {
    std::size_t first = 0, end = 0;  // topics
    std::size_t rows = 0;
    std::size_t longest = 0;  // rows of its longest topic
};

std::vector<Part> cut(const std::vector<Entry>& topics) {
    constexpr std::size_t rows_in_part = 1 << 14;
    std::vector<Part> parts;
    for (std::size_t t = 0; t < topics.size(); ++t) {
        if (parts.empty() || parts.back().rows >= rows_in_part) parts.push_back({t, t, 0, 0});
        Part& part = parts.back();
        const std::size_t rows = size_of(topics[t].value);
        part.end = t + 1;
        part.rows += rows;
        part.longest = std::max(part.longest, rows);
    }
    return parts;
}

}  // namespace

std::optional<Table> read_plain_dict(nb::dict outer, ValueKind kind, const Judging& judging, unsigned threads) {
#ifdef Py_GIL_DISABLED
    threads = 1;  // there the functions above take locks, which are those of Python's own threads
#endif
    std::vector<Entry> topics;
    list_entries(outer.ptr(), topics);
    for (const Entry& topic : topics) {
        if (!PyDict_Check(topic.value)) return std::nullopt;
    }
    const std::vector<Part> parts = cut(topics);
    std::vector<Block> blocks;
    for (std::size_t p = 0; p < parts.size(); ++p) blocks.emplace_back(kind != ValueKind::grade);
    std::atomic<bool> plain{true};
    parallel_for(parts.size(), threads, [&](std::size_t p) {
        // Memory that is new costs as much as reading does: none is asked for twice.
        blocks[p].reserve(judging.judgements ? parts[p].longest : parts[p].rows, false);
        TopicReader reader(blocks[p], kind, judging);
        for (std::size_t t = parts[p].first; t < parts[p].end && plain; ++t) {
            if (!reader.read(topics[t])) plain = false;
        }
    });
    if (!plain) return std::nullopt;
    nb::gil_scoped_release release;  // nothing points to Python's objects any more
    Table table(std::move(blocks), threads);
    table.judging = judging;
    return table;
}

}  // namespace cranfield
