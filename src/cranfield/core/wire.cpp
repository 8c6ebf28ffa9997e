#include "wire.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faults.hpp"
#include "parallel.hpp"

namespace cranfield {

namespace {

void require(bool right, const char* what) {
    if (!right) throw DataFault(std::string("this is no table as it was pickled: ") + what);
}

// The sum of some numbers, none of them negative; refused where it is not what it must be.
template <typename T>
void require_sum(const Stretch<T>& numbers, std::size_t wanted, const char* what) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < numbers.size; ++i) {
        const T number = numbers[i];
        require(number > 0 && static_cast<std::uint64_t>(number) <= wanted - sum, what);
        sum += static_cast<std::size_t>(number);
    }
    require(sum == wanted, what);
}

void check_sizes(const WireView& wire) {
    const std::size_t topics = wire.counts.size, rows = wire.values.size;
    require(wire.topic_lengths.size == topics && wire.collapsed.size == topics && wire.rank_disagrees.size == topics,
            "what is said of topics differs in length");
    require(wire.id_lengths.size == rows, "there are not as many documents as values");
    require_sum(wire.topic_lengths, wire.topics.size, "the lengths of topic ids are wrong");
    require_sum(wire.id_lengths, wire.ids.size, "the lengths of document ids are wrong");
    require_sum(wire.counts, rows, "topics have not as many rows as there are");
    for (std::size_t t = 0; t < topics; ++t) {
        require(wire.counts[t] <= std::numeric_limits<std::uint32_t>::max(), "a topic has too many rows");
        require(wire.rank_disagrees[t] <= wire.counts[t], "more ranks disagree than there are rows");
    }
}

// Where a topic begins: its id, its rows, and their ids.
struct Start {
    std::size_t topic = 0, row = 0, id = 0;
};

}  // namespace

void check_form(std::int64_t form) {
    if (form != wire_form) {
        throw DataFault("this was pickled by another version of cranfield, in the form " + std::to_string(form) +
                        ", and this version reads the form " + std::to_string(wire_form) +
                        ": pickle it again, with the version that is to read it");
    }
}

Wire to_wire(const Table& table) {
    Wire wire;
    wire.is_run = table.ids_break_ties();
    std::size_t size = 0;
    for (const auto& topic : table.topics()) {
        for (std::size_t i = 0; i < topic.count; ++i) size += topic.rows[i].length;
    }
    wire.ids.resize(size);
    wire.id_lengths.reserve(table.row_count());
    wire.values.reserve(table.row_count());
    std::uint8_t* next = wire.ids.data();
    for (const auto& topic : table.topics()) {
        wire.topics.insert(wire.topics.end(), topic.id.begin(), topic.id.end());
        wire.topic_lengths.push_back(static_cast<std::uint32_t>(topic.id.size()));
        wire.counts.push_back(static_cast<std::int64_t>(topic.count));
        wire.collapsed.push_back(topic.facts.collapsed);
        wire.rank_disagrees.push_back(topic.facts.rank_disagrees);
        for_rows_as_read(topic, [&](const Row& row) {
            next = std::copy_n(reinterpret_cast<const std::uint8_t*>(row.doc), row.length, next);
            wire.id_lengths.push_back(row.length);
            wire.values.push_back(row.value);
        });
    }
    return wire;
}

Table from_wire(const WireView& wire, unsigned threads) {
    check_sizes(wire);
    constexpr std::size_t topics_in_part = 64;
    const std::size_t topics = wire.counts.size;
    std::vector<Start> starts(topics + 1);
    for (std::size_t t = 0; t < topics; ++t) {
        const Start& from = starts[t];
        Start& to = starts[t + 1];
        to = {from.topic + wire.topic_lengths[t], from.row + static_cast<std::size_t>(wire.counts[t]), from.id};
        for (std::size_t i = from.row; i < to.row; ++i) to.id += wire.id_lengths[i];
    }
    std::vector<Block> blocks;
    const std::size_t parts = (topics + topics_in_part - 1) / topics_in_part;
    for (std::size_t p = 0; p < parts; ++p) blocks.emplace_back(wire.is_run);
    try {
        parallel_for(parts, threads, [&](std::size_t p) {
            Scratch scratch;
            Block& block = blocks[p];
            const std::size_t end = std::min(topics, (p + 1) * topics_in_part);
            block.reserve(starts[end].row - starts[p * topics_in_part].row, false);
            for (std::size_t t = p * topics_in_part; t < end; ++t) {
                block.open(wire.topics.bytes(starts[t].topic, wire.topic_lengths[t]));
                std::size_t id = starts[t].id;
                for (std::size_t i = starts[t].row; i < starts[t + 1].row; ++i) {
                    const double value = wire.values[i];
                    require(!std::isnan(value) && (wire.is_run || !std::isinf(value)), "a value is no number");
                    const Bytes document = wire.ids.bytes(id, wire.id_lengths[i]);
                    block.add(document.data(), document.size(), value);
                    id += document.size();
                }
                block.finish_last(scratch);
                block.note_last(wire.collapsed[t], wire.rank_disagrees[t]);
            }
        });
        Table table(std::move(blocks), threads);
        require(table.topics().size() == topics, "a topic stands there twice");
        require(table.row_count() == wire.values.size, "a document stands there twice");
        return table;
    } catch (const ConflictingDuplicate&) {
        require(false, "a document stands there twice");
        throw;
    }
}

std::uint64_t fingerprint(const Table& table) {
    constexpr HashKeys keys{0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u};  // known to all, unlike those of this process
    std::uint64_t state = table.topics().size();
    const auto take = [&](std::uint64_t number) { state = multiply_and_fold(state ^ number ^ keys.first, keys.second); };
    for (const auto& topic : table.topics()) {
        take(hash_bytes(topic.id.data(), topic.id.size(), keys));
        take(topic.count);
        for_rows_as_read(topic, [&](const Row& row) {
            std::uint64_t bits;
            std::memcpy(&bits, &row.value, sizeof bits);
            take(hash_bytes(row.doc, row.length, keys));
            take(bits);
        });
    }
    return state;
}

}  // namespace cranfield
