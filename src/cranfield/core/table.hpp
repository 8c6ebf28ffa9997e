// A table is a run or a set of judgements: for each topic its documents, each with a value (score or grade),
// best value first, no document twice. In a run equal scores stand by document id descending; in judgements, where
// order among equal grades means nothing, as in the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "hashing.hpp"

namespace cranfield {

struct Row {
    const char* doc;
    double value;
    std::uint32_t length;
    std::uint32_t hash;
    Bytes id() const { return {doc, length}; }
};

// A retrieved document that is judged; those of a topic stand in rank order. A tie group is the ranks that documents of
// equal score share.
struct Hit {
    std::uint32_t rank;
    std::uint32_t judgement;  // the number of its judgement among those of the topic, best first
    std::uint32_t tie_first, tie_size;
};
using Hits = std::vector<Hit>;

class Joiner;
class Table;

// Against what a run is judged while it is read, and whether its tied rows stand as in the input then. The rows are
// forgotten, so that it can't be judged otherwise later; what it was judged against lives as long as it does.
struct Judging {
    std::shared_ptr<const Table> judgements;  // none: the rows are kept
    bool ties_in_input_order = false;
};

// What was odd about a topic's rows, found while they were put in order.
struct Facts {
    std::uint32_t tied = 0;              // rows that share their value with another
    std::uint32_t rank_disagrees = 0;    // rows whose rank is not below that of every better row
    std::uint32_t collapsed = 0;         // identical duplicates left out
    std::string repeated;                // the document of the first of them
    // For each row its place in the input; kept only where tied rows stood in another order there.
    std::unique_ptr<std::vector<std::uint32_t>> input_order;
};

// The same document twice for one topic, with different values.
struct ConflictingDuplicate : std::runtime_error {
    ConflictingDuplicate(Bytes topic_id, Bytes doc_id, double first_value, double second_value)
        : std::runtime_error("conflicting duplicate"), topic(topic_id), doc(doc_id), first(first_value),
          second(second_value) {}
    std::string topic, doc;
    double first, second;
};

// Consecutive input rows of one topic; once judged, only its hits are left of them.
struct Segment {
    std::uint32_t topic = 0;
    std::uint32_t count = 0;
    std::size_t begin = 0;
    Facts facts;
    bool judged = false;
    std::size_t first_hit = 0, end_hit = 0;
};

// Working memory of `Block::finish`, reused from topic to topic.
struct Scratch {
    std::vector<std::uint32_t> slots;
    struct Key {
        double value;
        std::uint64_t prefix;  // the first bytes of the id, comparable as a number
        std::uint32_t row;
    };
    std::vector<Key> keys;
    std::vector<std::uint8_t> levels;
    std::vector<Row> rows;
    std::vector<std::int32_t> ranks;
    std::vector<std::uint32_t> positions;
};

// A part of the input, filled by one thread.
class Block {
public:
    explicit Block(bool ids_break_ties = true) : ids_break_ties_(ids_break_ties) {}
    void reserve(std::size_t rows, bool with_ranks) {
        rows_.reserve(rows);
        if (with_ranks) ranks_.reserve(rows);
    }
    // The rows that follow belong to this topic.
    void open(Bytes topic);
    void add(const char* kept_doc, std::size_t length, double value) {
        Row& row = rows_.emplace_back();  // field by field: a row put together elsewhere waits there to be fetched as a whole
        row.doc = kept_doc;
        row.value = value;
        row.length = static_cast<std::uint32_t>(length);
        ++segments_.back().count;
    }
    void add_copy(const char* doc, std::size_t length, double value) { add(arena.keep(doc, length), length, value); }
    void add_rank(std::int32_t rank) { ranks_.push_back(rank); }

    // Hashes, orders and checks the rows of a segment. Readers finish a topic as soon as it ends, while its rows
    // are still in the cache, or all segments later, side by side.
    void finish(std::size_t index, Scratch& scratch) { finish(index, false, scratch); }
    void finish_last(Scratch& scratch) {
        if (!segments_.empty()) finish(segments_.size() - 1, scratch);
    }
    // The same where no document stands twice among the rows of the last segment.
    void finish_distinct(Scratch& scratch) { finish(segments_.size() - 1, true, scratch); }
    // Facts of the last segment, which is finished, that its rows can't tell.
    void note_last(std::uint32_t collapsed, std::uint32_t rank_disagrees) {
        segments_.back().facts.collapsed += collapsed;
        segments_.back().facts.rank_disagrees = rank_disagrees;
    }
    // Joins the last segment with the judgements and forgets its rows. The first and the last segment of a block stay
    // as they are: they may go on in the neighbouring ones.
    void judge_last(Joiner& joiner);
    // Rows that are left point into the arena, so that the text may go.
    void own_ids() {
        for (; owned_ < rows_.size(); ++owned_) rows_[owned_].doc = arena.keep(rows_[owned_].doc, rows_[owned_].length);
    }
    // Rows that are left take no more room than they need: nothing is added any more.
    void shrink() {
        rows_.shrink_to_fit();
        ranks_.shrink_to_fit();
    }
    Bytes last_topic() const { return segments_.empty() ? Bytes() : topics_[segments_.back().topic]; }
    bool has(Bytes topic) const { return topic_numbers_.find(topic) != topic_numbers_.end(); }

    // For a text in which topics stand scattered: the rows that follow belong to this topic, wherever it stood before.
    // `gather` then brings the rows of each topic together, in input order, and finishes them. A segment for each
    // place of a topic would cost more than the rows.
    void resume(Bytes topic);
    void add_scattered(const char* kept_doc, std::size_t length, double value) {
        rows_.push_back({kept_doc, value, static_cast<std::uint32_t>(length), 0});
        row_topics_.push_back(resumed_);
        ++segments_[resumed_].count;
    }
    void gather(Scratch& scratch);

    Arena arena;

private:
    friend class Table;
    std::uint32_t number_of(Bytes topic);
    void finish(std::size_t index, bool distinct, Scratch& scratch);

    bool ids_break_ties_;
    std::uint32_t resumed_ = 0;
    std::vector<std::uint32_t> row_topics_;  // of scattered rows, until they are gathered
    std::vector<Row> rows_;
    std::size_t owned_ = 0;  // of them the first so many point into the arena
    std::vector<std::int32_t> ranks_;
    Hits hits_;
    std::vector<Segment> segments_;
    std::vector<Bytes> topics_;
    std::unordered_map<Bytes, std::uint32_t, HashOfBytes> topic_numbers_;

public:
    const std::vector<Segment>& segments() const { return segments_; }
};

struct Topic {
    Bytes id;
    const Row* rows = nullptr;  // none once judged
    std::size_t count = 0;
    Facts facts;
    const Hits* hits = nullptr;  // of a topic judged while it was read
    std::size_t first_hit = 0, end_hit = 0;
};

// Where the rows of a topic are found by the hash of their document: row numbers + 1, and 0 where there is none.
using Slots = std::vector<std::uint32_t>;

// Rows in canonical order, but those of equal value as they stood in the input: at the places given.
std::vector<Row> ties_as_in_input(const Row* sorted, std::size_t count, const std::vector<std::uint32_t>& place);

// Calls visit(row) for the rows of a topic, best first, those of equal value as they stood in the input.
template <typename Visit>
void for_rows_as_read(const Topic& topic, const Visit& visit) {
    if (topic.facts.input_order) {
        for (const Row& row : ties_as_in_input(topic.rows, topic.count, *topic.facts.input_order)) visit(row);
    } else {
        for (std::size_t i = 0; i < topic.count; ++i) visit(topic.rows[i]);
    }
}

// A topic stands in several places of the input, and was judged at one of them before the others were seen.
struct ScatteredTopic : std::runtime_error {
    ScatteredTopic() : std::runtime_error("scattered topic") {}
};

class Table {
public:
    Table() = default;
    Table(Table&&) noexcept = default;
    Table& operator=(Table&&) noexcept = default;
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    // Blocks in input order, every segment finished.
    Table(std::vector<Block> blocks, unsigned threads);

    const std::vector<Topic>& topics() const { return topics_; }
    const Topic* find(Bytes id) const;
    std::size_t row_count() const { return row_count_; }
    bool ids_break_ties() const { return blocks_.empty() || blocks_[0].ids_break_ties_; }
    // Judges all topics of another table and takes in what comes of them: their rows are forgotten. This table has none of
    // those topics yet, and is whole when `complete` is called.
    void add_judged(const Table& part, const Judging& how, unsigned threads);
    void complete();
    // Keeps the slots of topics with many rows for the joins to come: worth its memory where many runs are joined with this
    // table. Others may join theirs meanwhile.
    void keep_slots(unsigned threads) const;
    // Those of each topic, empty where a topic has few rows; nothing where none were kept.
    std::shared_ptr<const std::vector<Slots>> slots() const { return std::atomic_load(&slots_); }
    // Facts of each topic, in their order, that the rows can't tell; as many as there are topics.
    void note(const std::vector<std::uint32_t>& collapsed, const std::vector<std::uint32_t>& rank_disagrees);
    // How some topics were joined as they were read; their rows are gone.
    Judging judging;
    // Keeps alive what rows point into when ids were not copied (Arrow buffers).
    std::vector<std::shared_ptr<void>> owners;

private:
    std::vector<Block> blocks_;
    std::vector<std::vector<Row>> gathered_;  // rows of topics that stood in several places
    std::vector<std::unique_ptr<Hits>> judged_;  // hits of the tables that were taken in
    Arena names_;                                // and the names of their topics
    std::vector<Topic> topics_;
    std::unordered_map<Bytes, std::size_t, HashOfBytes> by_id_;
    std::size_t row_count_ = 0;
    mutable std::shared_ptr<const std::vector<Slots>> slots_;
};

}  // namespace cranfield
