#include "join.hpp"

#include <algorithm>
#include <string>

#include "faults.hpp"
#include "parallel.hpp"

namespace cranfield {

namespace {

// That a run without rows was judged as it is to be judged now.
void check_judging(const Judging& done, const Table& qrels, bool ties_in_input_order) {
    if (done.judgements.get() != &qrels) {
        throw UsageFault("the run was read to be judged against other judgements, and its rows were not kept: read it again, "
                         "without judging= or for these judgements");
    }
    if (done.ties_in_input_order != ties_in_input_order) {
        const std::string by_id = "by document id", as_read = "as in the file";
        throw UsageFault("the run was read to be judged with ties " + (ties_in_input_order ? by_id : as_read) +
                         ", and its rows were not kept: to judge it with ties " + (ties_in_input_order ? as_read : by_id) +
                         " read it again, without judging= or with judging=Judging(…, \"" +
                         (ties_in_input_order ? "file" : "docid") + "\")");
    }
}

// A thread costs more than it gains on fewer rows.
constexpr std::size_t rows_for_threads = 200000;
constexpr std::size_t topics_in_part = 64;

}  // namespace

void fill_slots(const Row* rows, std::size_t count, Slots& slots) {
    std::size_t size = 64;  // few judgements in many slots: a document that is not judged is dismissed at once
    while (size < count * 2) size *= 2;
    slots.assign(size, 0);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t slot = rows[i].hash & (size - 1);
        while (slots[slot] != 0) slot = (slot + 1) & (size - 1);
        slots[slot] = static_cast<std::uint32_t>(i + 1);
    }
}

void Joiner::index(const Topic& judged) {
    judged_ = judged.rows;
    const Slots* const kept = kept_ ? &(*kept_)[static_cast<std::size_t>(&judged - qrels_.topics().data())] : nullptr;
    const bool is_kept = kept && !kept->empty();
    if (!is_kept) fill_slots(judged.rows, judged.count, own_slots_);
    const Slots& slots = is_kept ? *kept : own_slots_;
    slots_ = slots.data();
    mask_ = slots.size() - 1;
}

const Row* Joiner::find(const Row& row) const {
    for (std::size_t slot = row.hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
        const Row& judged = judged_[slots_[slot] - 1];
        if (judged.hash == row.hash && same_bytes(judged.id(), row.id())) return &judged;
    }
    return nullptr;
}

void Joiner::join_in_order(const Row* rows, std::size_t count, Hits& hits) const {
    std::size_t group_first = 0;           // row at which the current tie group starts
    std::size_t group_hits = hits.size();  // its hits start here
    const auto close_group = [&](std::size_t end) {
        for (; group_hits < hits.size(); ++group_hits) {
            hits[group_hits].tie_size = static_cast<std::uint32_t>(end - group_first);
        }
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (rows[i].value != rows[group_first].value) {
            close_group(i);
            group_first = i;
        }
        if (const Row* judged = find(rows[i])) {
            hits.push_back({static_cast<std::uint32_t>(i + 1), static_cast<std::uint32_t>(judged - judged_),
                            static_cast<std::uint32_t>(group_first + 1), 0});
        }
    }
    close_group(count);
}

void Joiner::join(Bytes topic, const Row* rows, std::size_t count, const Facts& facts, Hits& hits) {
    const Topic* const judged = qrels_.find(topic);
    if (!judged) return;
    index(*judged);
    if (ties_in_input_order_ && facts.input_order) {
        join_in_order(ties_as_in_input(rows, count, *facts.input_order).data(), count, hits);
    } else {
        join_in_order(rows, count, hits);
    }
}

Joined join(const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads) {
    if (run.judging.judgements) check_judging(run.judging, qrels, ties_in_input_order);
    const auto& topics = qrels.topics();
    Joined joined;
    joined.topics.resize(topics.size());
    joined.made.resize((topics.size() + topics_in_part - 1) / topics_in_part);
    const unsigned useful = run.row_count() + qrels.row_count() < rows_for_threads ? 1 : threads;
    parallel_for(joined.made.size(), useful, [&](std::size_t p) {
        Hits& made = joined.made[p];
        Joiner joiner(qrels, ties_in_input_order);
        const std::size_t begin = p * topics_in_part, end = std::min(topics.size(), begin + topics_in_part);
        std::vector<std::size_t> ends;  // of those made: they move while more are made
        for (std::size_t t = begin; t < end; ++t) {
            const Topic* const answered = run.find(topics[t].id);
            if (answered && answered->hits) {
                joined.topics[t].begin = answered->hits->data() + answered->first_hit;
                joined.topics[t].end = answered->hits->data() + answered->end_hit;
            } else if (answered) {
                joiner.join(topics[t].id, answered->rows, answered->count, answered->facts, made);
            }
            joined.topics[t].retrieved = answered ? answered->count : 0;
            ends.push_back(made.size());
        }
        for (std::size_t t = begin, from = 0; t < end; from = ends[t - begin], ++t) {
            if (joined.topics[t].begin) continue;
            joined.topics[t].begin = made.data() + from;
            joined.topics[t].end = made.data() + ends[t - begin];
        }
    });
    return joined;
}

std::size_t Joined::hit_count() const {
    std::size_t hits = 0;
    for (const JoinedTopic& topic : topics) hits += static_cast<std::size_t>(topic.end - topic.begin);
    return hits;
}

HitColumns columns_of(const Joined& joined, const Table& qrels, unsigned threads) {
    HitColumns columns;
    std::vector<std::int64_t> first_row;  // of each topic of the judgements
    std::int64_t hits = 0, rows = 0;
    columns.offsets.push_back(0);
    for (std::size_t t = 0; t < joined.topics.size(); ++t) {
        hits += joined.topics[t].end - joined.topics[t].begin;
        columns.offsets.push_back(hits);
        columns.retrieved.push_back(static_cast<std::int64_t>(joined.topics[t].retrieved));
        first_row.push_back(rows);
        rows += static_cast<std::int64_t>(qrels.topics()[t].count);
    }
    const auto count = static_cast<std::size_t>(hits);
    const bool tied = std::any_of(joined.topics.begin(), joined.topics.end(), [](const JoinedTopic& topic) {
        return std::any_of(topic.begin, topic.end, [](const Hit& hit) { return hit.tie_size > 1; });
    });
    columns.rank = Unfilled<std::int64_t>(count);
    columns.row = Unfilled<std::int64_t>(count);
    columns.tie_first = Unfilled<std::int64_t>(tied ? count : 0);
    columns.tie_size = Unfilled<std::int64_t>(tied ? count : 0);
    const unsigned useful = count < rows_for_threads ? 1 : threads;
    parallel_for((joined.topics.size() + topics_in_part - 1) / topics_in_part, useful, [&](std::size_t p) {
        const std::size_t begin = p * topics_in_part, end = std::min(joined.topics.size(), begin + topics_in_part);
        for (std::size_t t = begin; t < end; ++t) {
            auto at = static_cast<std::size_t>(columns.offsets[t]);
            for (const Hit* hit = joined.topics[t].begin; hit != joined.topics[t].end; ++hit, ++at) {
                columns.rank[at] = hit->rank;
                columns.row[at] = first_row[t] + hit->judgement;
                if (!tied) continue;
                columns.tie_first[at] = hit->tie_first;
                columns.tie_size[at] = hit->tie_size;
            }
        }
    });
    return columns;
}

}  // namespace cranfield
