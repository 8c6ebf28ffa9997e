// The join of a run with judgements: the retrieved documents that are judged, in rank order, topic by topic.
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"
#include "unfilled.hpp"

namespace cranfield {

void fill_slots(const Row* rows, std::size_t count, Slots& slots);

// Joins one topic after another, with working memory of its own: one for each thread.
class Joiner {
public:
    Joiner(const Table& qrels, bool ties_in_input_order)
        : qrels_(qrels), kept_(qrels.slots()), ties_in_input_order_(ties_in_input_order) {}
    // Adds the hits among a topic's rows, which are in canonical order.
    void join(Bytes topic, const Row* rows, std::size_t count, const Facts& facts, Hits& hits);

private:
    void index(const Topic& judged);
    const Row* find(const Row& row) const;
    void join_in_order(const Row* rows, std::size_t count, Hits& hits) const;

    const Table& qrels_;
    const std::shared_ptr<const std::vector<Slots>> kept_;
    const bool ties_in_input_order_;
    const Row* judged_ = nullptr;
    const std::uint32_t* slots_ = nullptr;
    std::size_t mask_ = 0;
    Slots own_slots_;
};

// The hits of a topic, wherever they lie, and how many documents were retrieved for it.
struct JoinedTopic {
    const Hit* begin = nullptr;
    const Hit* end = nullptr;
    std::size_t retrieved = 0;
};

// A run seen through judgements: their topics, in their order. The hits of a run that was judged while it was read lie in
// its table, which must outlive this.
struct Joined {
    std::vector<JoinedTopic> topics;
    std::vector<Hits> made;  // those that were found now
    std::size_t hit_count() const;
};

Joined join(const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads);

// The same as columns, an entry a hit; `offsets` cut them into topics. A `row` is the number of a judgement among all. Where
// no hit is tied, the columns of ties are empty: most runs have none, and writing them takes as long as writing the others.
struct HitColumns {
    std::vector<std::int64_t> offsets, retrieved;
    Unfilled<std::int64_t> rank, row, tie_first, tie_size;
};

HitColumns columns_of(const Joined& joined, const Table& qrels, unsigned threads);

}  // namespace cranfield
