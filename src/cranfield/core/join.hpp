// The join of a run with judgements: the retrieved documents that are judged, in rank order, topic by topic.
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace cranfield {

// Joins one topic after another, with working memory of its own: one for each thread.
class Joiner {
public:
    Joiner(const Table& qrels, bool ties_in_input_order) : qrels_(qrels), ties_in_input_order_(ties_in_input_order) {}
    // Adds the hits among a topic's rows, which are in canonical order.
    void join(Bytes topic, const Row* rows, std::size_t count, const Facts& facts, Hits& hits);

private:
    void index(const Topic& judged);
    const Row* find(const Row& row) const;
    void join_in_order(const Row* rows, std::size_t count, Hits& hits) const;

    const Table& qrels_;
    const bool ties_in_input_order_;
    const Row* judged_ = nullptr;
    std::vector<std::uint32_t> slots_;
    std::size_t mask_ = 0;
};

struct Joined {
    Hits hits;
    // One entry a topic of the judgements (offsets has one more).
    std::vector<std::int64_t> offsets, retrieved;
};

Joined join(const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads);

}  // namespace cranfield
