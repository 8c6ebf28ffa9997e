// The join of a run with judgements: the retrieved documents that are judged, in rank order, topic by topic.
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace cranfield {

struct Hits {
    // One entry a hit. A tie group is the ranks that documents of equal score share.
    std::vector<std::int64_t> rank, tie_first, tie_size;
    std::vector<double> grade;
    // One entry a topic of the judgements (offsets has one more).
    std::vector<std::int64_t> offsets, retrieved;
};

Hits join(const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads);

}  // namespace cranfield
