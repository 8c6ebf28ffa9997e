#include "join.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace cranfield {

namespace {

// Finds a document's grade among the judgements of one topic.
class Grades {
public:
    void index(const Topic& judged) {
        rows_ = judged.rows;
        std::size_t size = 64;  // few judgements in many slots: a document that is not judged is dismissed at once
        while (size < judged.count * 2) size *= 2;
        slots_.assign(size, 0);
        mask_ = size - 1;
        for (std::size_t i = 0; i < judged.count; ++i) {
            std::size_t slot = rows_[i].hash & mask_;
            while (slots_[slot] != 0) slot = (slot + 1) & mask_;
            slots_[slot] = static_cast<std::uint32_t>(i + 1);
        }
    }
    const Row* find(const Row& row) const {
        for (std::size_t slot = row.hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
            const Row& judged = rows_[slots_[slot] - 1];
            if (judged.hash == row.hash && same_bytes(judged.id(), row.id())) return &judged;
        }
        return nullptr;
    }

private:
    const Row* rows_ = nullptr;
    std::vector<std::uint32_t> slots_;
    std::size_t mask_ = 0;
};

// Rows in canonical order, but those of equal value as they stood in the input.
std::vector<Row> ties_as_in_input(const Topic& topic) {
    std::vector<Row> rows(topic.rows, topic.rows + topic.count);
    const auto& place = *topic.facts.input_order;
    std::vector<std::uint32_t> order;
    for (std::size_t first = 0; first < topic.count;) {
        std::size_t last = first + 1;
        while (last < topic.count && topic.rows[last].value == topic.rows[first].value) ++last;
        order.resize(last - first);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(first + i);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return place[a] < place[b]; });
        for (std::size_t i = 0; i < order.size(); ++i) rows[first + i] = topic.rows[order[i]];
        first = last;
    }
    return rows;
}

void join_topic(const Row* rows, std::size_t count, const Grades& grades, Hits& hits) {
    std::size_t group_first = 0;     // row at which the current tie group starts
    std::size_t group_hits = hits.rank.size();  // its hits start here
    const auto close_group = [&](std::size_t end) {
        for (; group_hits < hits.rank.size(); ++group_hits) {
            hits.tie_first.push_back(static_cast<std::int64_t>(group_first + 1));
            hits.tie_size.push_back(static_cast<std::int64_t>(end - group_first));
        }
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (rows[i].value != rows[group_first].value) {
            close_group(i);
            group_first = i;
        }
        if (const Row* judged = grades.find(rows[i])) {
            hits.rank.push_back(static_cast<std::int64_t>(i + 1));
            hits.grade.push_back(judged->value);
        }
    }
    close_group(count);
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Hits join(const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads) {
    const auto& judged_topics = qrels.topics();
    constexpr std::size_t topics_in_part = 64;
    const std::size_t parts = (judged_topics.size() + topics_in_part - 1) / topics_in_part;
    std::vector<Hits> found(parts);
    // A thread costs more than a small join gains.
    const unsigned useful = run.row_count() + qrels.row_count() < 200000 ? 1 : threads;
    parallel_for(parts, useful, [&](std::size_t part) {
        Hits& hits = found[part];
        Grades grades;
        const std::size_t end = std::min(judged_topics.size(), (part + 1) * topics_in_part);
        for (std::size_t t = part * topics_in_part; t < end; ++t) {
            hits.offsets.push_back(static_cast<std::int64_t>(hits.rank.size()));
            const Topic* const answered = run.find(judged_topics[t].id);
            hits.retrieved.push_back(answered ? static_cast<std::int64_t>(answered->count) : 0);
            if (!answered) continue;
            grades.index(judged_topics[t]);
            if (ties_in_input_order && answered->facts.input_order) {
                join_topic(ties_as_in_input(*answered).data(), answered->count, grades, hits);
            } else {
                join_topic(answered->rows, answered->count, grades, hits);
            }
        }
    });
    Hits all;
    for (const auto& part : found) {
        const auto base = static_cast<std::int64_t>(all.rank.size());
        for (const auto offset : part.offsets) all.offsets.push_back(base + offset);
        append(all.rank, part.rank);
        append(all.tie_first, part.tie_first);
        append(all.tie_size, part.tie_size);
        append(all.grade, part.grade);
        append(all.retrieved, part.retrieved);
    }
    all.offsets.push_back(static_cast<std::int64_t>(all.rank.size()));
    return all;
}

}  // namespace cranfield
