// The form in which tables travel between processes, as they are pickled: flat arrays. Rows stand topic by topic, best
// first, and those of equal value as they stood in the input, which is all that is known of its order. Hashes, ties and
// order are made anew where the table arrives, by the code that reads any other input; ids stay in the array they came in.
//
// What is pickled of anything (tables, and the records of Python around them) begins with the number of the form. Whoever
// changes what is written here, or the fields of Run, Qrels, Pool or Judged, raises it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table.hpp"

namespace cranfield {

constexpr int wire_form = 1;

// Refuses what was written in another form.
void check_form(std::int64_t form);

struct Wire {
    bool is_run = true;                      // equal values stand by id; false: judgements, where they stand as in the input
    std::vector<std::uint8_t> topics, ids;   // the bytes of all ids, one after the other
    std::vector<std::uint32_t> topic_lengths, id_lengths;
    std::vector<std::int64_t> counts;        // rows of each topic
    std::vector<std::uint32_t> collapsed, rank_disagrees;  // facts of each topic that can't be told from its rows
    std::vector<double> values;
};

// A run that was judged while it was read has no rows to send, and must not be given.
Wire to_wire(const Table& table);

// The same arrays in the memory of others, which may stand anywhere and say anything.
template <typename T>
struct Stretch {
    const void* data = nullptr;
    std::size_t size = 0;
    T operator[](std::size_t i) const {
        T value;
        std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
        return value;
    }
    Bytes bytes(std::size_t begin, std::size_t count) const { return {static_cast<const char*>(data) + begin, count}; }
};

struct WireView {
    bool is_run = true;
    Stretch<std::uint8_t> topics, ids;
    Stretch<std::uint32_t> topic_lengths, id_lengths;
    Stretch<std::int64_t> counts;
    Stretch<std::uint32_t> collapsed, rank_disagrees;
    Stretch<double> values;
};

// Rows point into `ids`, which must outlive the table. DataFault if this is no table.
Table from_wire(const WireView& wire, unsigned threads);

// A number that tables have in common if they have topics, documents, values and order in common; the same in every process.
std::uint64_t fingerprint(const Table& table);

}  // namespace cranfield
