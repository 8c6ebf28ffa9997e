#include "fusion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace cranfield {

namespace {

// Finds the numbers of the documents of one topic.
class Numbering {
public:
    void start(std::size_t rows, std::size_t first_number) {
        std::size_t size = 64;
        while (size < rows * 2) size *= 2;
        slots_.assign(size, {});
        mask_ = size - 1;
        first_ = first_number;
    }
    // The number of the row's document; a new one is added to `ids`.
    std::size_t number(const Row& row, std::vector<const Row*>& ids) {
        std::size_t slot = row.hash & mask_;
        for (; slots_[slot].place != 0; slot = (slot + 1) & mask_) {
            const std::size_t known = first_ + slots_[slot].place - 1;
            if (slots_[slot].hash == row.hash && same_bytes(ids[known]->id(), row.id())) return known;
        }
        ids.push_back(&row);
        slots_[slot] = {row.hash, static_cast<std::uint32_t>(ids.size() - first_)};
        return ids.size() - 1;
    }

private:
    struct Slot {
        std::uint32_t hash = 0, place = 0;  // place among the topic's documents, from 1; 0 is empty
    };
    std::vector<Slot> slots_;
    std::size_t mask_ = 0, first_ = 0;
};

constexpr double rounding = 1e-12;  // 0.1 + 0.2 against 0.3 is no majority

void check_document(std::int64_t document, std::size_t documents) {
    if (static_cast<std::uint64_t>(document) >= documents) throw std::out_of_range("no such document");
}

template <typename Combine>
std::vector<double> combined(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents,
                             double start, const Combine& combine) {
    std::vector<double> out(documents, start);
    for (std::size_t i = 0; i < rows; ++i) {
        check_document(document[i], documents);
        double& value = out[static_cast<std::size_t>(document[i])];
        value = combine(value, x[i]);
    }
    return out;
}

}  // namespace

Gathered gather(const std::vector<const Table*>& runs, const std::vector<Bytes>& topics) {
    Gathered all;
    all.topics = topics;
    all.list_offsets.push_back(0);
    all.document_offsets.push_back(0);
    Numbering numbering;
    std::vector<const Topic*> answers(runs.size());
    for (std::size_t t = 0; t < topics.size(); ++t) {
        std::size_t rows = 0;
        for (std::size_t r = 0; r < runs.size(); ++r) {
            answers[r] = runs[r]->find(topics[t]);
            rows += answers[r] ? answers[r]->count : 0;
        }
        numbering.start(rows, all.ids.size());
        for (std::size_t r = 0; r < runs.size(); ++r) {
            if (!answers[r] || answers[r]->count == 0) continue;
            const std::size_t begin = all.score.size(), count = answers[r]->count;
            all.score.resize(begin + count);
            all.document.resize(begin + count);
            for (std::size_t i = 0; i < count; ++i) {
                const Row& row = answers[r]->rows[i];
                const std::size_t number = numbering.number(row, all.ids);
                all.score[begin + i] = row.value;
                all.document[begin + i] = static_cast<std::int64_t>(number);
                if (number == all.found.size()) all.found.push_back(0);
                ++all.found[number];
            }
            all.list_run.push_back(static_cast<std::int64_t>(r));
            all.list_topic.push_back(static_cast<std::int64_t>(t));
            all.list_offsets.push_back(static_cast<std::int64_t>(begin + count));
        }
        all.document_offsets.push_back(static_cast<std::int64_t>(all.ids.size()));
    }
    return all;
}

Block ranked(const Gathered& gathered, const double* fused, std::size_t depth) {
    Block block;
    Scratch scratch;
    std::vector<std::size_t> best;
    for (std::size_t t = 0; t < gathered.topics.size(); ++t) {
        const auto begin = static_cast<std::size_t>(gathered.document_offsets[t]);
        const auto end = static_cast<std::size_t>(gathered.document_offsets[t + 1]);
        if (begin == end) continue;
        best.resize(end - begin);
        std::iota(best.begin(), best.end(), begin);
        if (best.size() > depth) {
            std::nth_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(depth), best.end(),
                             [&](std::size_t a, std::size_t b) {
                                 if (fused[a] != fused[b]) return fused[a] > fused[b];
                                 return gathered.ids[a]->id() > gathered.ids[b]->id();
                             });
            best.resize(depth);
        }
        block.open(gathered.topics[t]);
        for (const std::size_t d : best) block.add_copy(gathered.ids[d]->doc, gathered.ids[d]->length, fused[d]);
        block.finish_last(scratch);
    }
    return block;
}

std::vector<double> document_sums(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents) {
    std::vector<double> out(documents, 0.0), lost(documents, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
        check_document(document[i], documents);
        const auto d = static_cast<std::size_t>(document[i]);
        const double before = out[d], sum = before + x[i], added = sum - before;
        lost[d] += (before - (sum - added)) + (x[i] - added);
        out[d] = sum;
    }
    for (std::size_t d = 0; d < documents; ++d) {
        if (std::isfinite(out[d])) out[d] += lost[d];
    }
    return out;
}

std::vector<double> document_minima(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents) {
    constexpr double start = std::numeric_limits<double>::infinity();
    return combined(document, x, rows, documents, start, [](double a, double b) { return std::min(a, b); });
}

std::vector<double> document_maxima(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents) {
    constexpr double start = -std::numeric_limits<double>::infinity();
    return combined(document, x, rows, documents, start, [](double a, double b) { return std::max(a, b); });
}

std::vector<double> document_medians(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents) {
    std::vector<std::size_t> next(documents + 1, 0);
    for (std::size_t i = 0; i < rows; ++i) {
        check_document(document[i], documents);
        ++next[static_cast<std::size_t>(document[i]) + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<double> sorted(rows);
    std::vector<std::size_t> ends(next.begin(), next.end() - 1);
    for (std::size_t i = 0; i < rows; ++i) sorted[ends[static_cast<std::size_t>(document[i])]++] = x[i];
    std::vector<double> out(documents, 0.0);
    for (std::size_t d = 0; d < documents; ++d) {
        const std::size_t count = ends[d] - next[d];
        if (count == 0) continue;
        double* const values = sorted.data() + next[d];
        std::sort(values, values + count);
        out[d] = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    }
    return out;
}

std::vector<std::int64_t> majority_places(const Gathered& gathered, const double* start, const double* list_weights) {
    std::vector<std::int64_t> place(gathered.ids.size());
    std::vector<std::uint32_t> ranks;  // of each document of the topic in each of its lists
    std::vector<std::uint32_t> order, merged;
    std::size_t list = 0;
    for (std::size_t t = 0; t < gathered.topics.size(); ++t) {
        const auto first = static_cast<std::size_t>(gathered.document_offsets[t]);
        const std::size_t count = static_cast<std::size_t>(gathered.document_offsets[t + 1]) - first;
        const std::size_t first_list = list;
        while (list < gathered.list_topic.size() && gathered.list_topic[list] == static_cast<std::int64_t>(t)) ++list;
        const std::size_t lists = list - first_list;
        ranks.assign(count * lists, std::numeric_limits<std::uint32_t>::max());
        for (std::size_t l = 0; l < lists; ++l) {
            const std::int64_t begin = gathered.list_offsets[first_list + l], end = gathered.list_offsets[first_list + l + 1];
            for (std::int64_t i = begin; i < end; ++i) {
                const auto document = static_cast<std::size_t>(gathered.document[static_cast<std::size_t>(i)]) - first;
                ranks[document * lists + l] = static_cast<std::uint32_t>(i - begin);
            }
        }
        const auto beats = [&](std::uint32_t a, std::uint32_t b) {
            double lead = 0, weight = 0;
            for (std::size_t l = 0; l < lists; ++l) {
                const std::uint32_t of_a = ranks[a * lists + l], of_b = ranks[b * lists + l];
                if (of_a == of_b) continue;
                weight += list_weights[first_list + l];
                lead += of_a < of_b ? list_weights[first_list + l] : -list_weights[first_list + l];
            }
            return lead > rounding * weight;
        };
        order.resize(count);
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (start[first + a] != start[first + b]) return start[first + a] > start[first + b];
            return gathered.ids[first + a]->id() > gathered.ids[first + b]->id();
        });
        // Majorities are not transitive, which std::stable_sort must be promised; merging needs no promise.
        merged.resize(count);
        for (std::size_t width = 1; width < count; width *= 2) {
            for (std::size_t left = 0; left < count; left += 2 * width) {
                const std::size_t middle = std::min(left + width, count), right_end = std::min(left + 2 * width, count);
                std::size_t a = left, b = middle;
                for (std::size_t out = left; out < right_end; ++out) {
                    const bool take_right = a == middle || (b < right_end && beats(order[b], order[a]));
                    merged[out] = take_right ? order[b++] : order[a++];
                }
            }
            order.swap(merged);
        }
        for (std::size_t i = 0; i < count; ++i) place[first + order[i]] = static_cast<std::int64_t>(i + 1);
    }
    return place;
}

}  // namespace cranfield
