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

// How many hits there are of topics that were judged while they were read.
std::size_t hits_of(const Table& run) {
    std::size_t hits = 0;
    for (const Topic& topic : run.topics()) hits += topic.end_hit - topic.first_hit;
    return hits;
}

}  // namespace

void Joiner::index(const Topic& judged) {
    judged_ = judged.rows;
    std::size_t size = 64;  // few judgements in many slots: a document that is not judged is dismissed at once
    while (size < judged.count * 2) size *= 2;
    slots_.assign(size, 0);
    mask_ = size - 1;
    for (std::size_t i = 0; i < judged.count; ++i) {
        std::size_t slot = judged_[i].hash & mask_;
        while (slots_[slot] != 0) slot = (slot + 1) & mask_;
        slots_[slot] = static_cast<std::uint32_t>(i + 1);
    }
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
            hits.tie_first.push_back(static_cast<std::int64_t>(group_first + 1));
            hits.tie_size.push_back(static_cast<std::int64_t>(end - group_first));
        }
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (rows[i].value != rows[group_first].value) {
            close_group(i);
            group_first = i;
        }
        if (const Row* judged = find(rows[i])) {
            hits.rank.push_back(static_cast<std::int64_t>(i + 1));
            hits.judgement.push_back(judged - judged_);
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
    const bool judged = run.judging.judgements != nullptr;
    if (judged) check_judging(run.judging, qrels, ties_in_input_order);
    struct Part {
        Hits hits;
        std::vector<std::size_t> ends;
        std::vector<std::int64_t> retrieved;
    };
    const auto& topics = qrels.topics();
    // Of a run that was judged while it was read, hits are only copied: in one go.
    const std::size_t topics_in_part = judged ? std::max<std::size_t>(topics.size(), 1) : 64;
    std::vector<Part> parts((topics.size() + topics_in_part - 1) / topics_in_part);
    // A thread costs more than a small join gains.
    const unsigned useful = run.row_count() + qrels.row_count() < 200000 ? 1 : threads;
    parallel_for(parts.size(), useful, [&](std::size_t p) {
        Part& part = parts[p];
        Joiner joiner(qrels, ties_in_input_order);
        const std::size_t end = std::min(topics.size(), (p + 1) * topics_in_part);
        if (judged) part.hits.reserve(hits_of(run));
        for (std::size_t t = p * topics_in_part; t < end; ++t) {
            const Topic* const answered = run.find(topics[t].id);
            if (answered && answered->hits) {
                part.hits.append(*answered->hits, answered->first_hit, answered->end_hit);
            } else if (answered) {
                joiner.join(topics[t].id, answered->rows, answered->count, answered->facts, part.hits);
            }
            part.retrieved.push_back(answered ? static_cast<std::int64_t>(answered->count) : 0);
            part.ends.push_back(part.hits.size());
        }
    });
    Joined all;
    all.offsets.push_back(0);
    for (auto& part : parts) {
        const std::size_t base = all.hits.size();
        for (const auto end : part.ends) all.offsets.push_back(static_cast<std::int64_t>(base + end));
        all.retrieved.insert(all.retrieved.end(), part.retrieved.begin(), part.retrieved.end());
        if (base == 0) {
            all.hits = std::move(part.hits);
        } else {
            all.hits.append(part.hits, 0, part.hits.size());
        }
    }
    return all;
}

}  // namespace cranfield
