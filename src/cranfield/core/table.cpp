#include "table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "join.hpp"
#include "numbers.hpp"
#include "parallel.hpp"

namespace cranfield {

namespace {

// Value descending; in a run then document id descending as bytes (trec_eval's rule).
bool is_ordered(const Row* rows, std::size_t count, bool ids_break_ties) {
    for (std::size_t i = 1; i < count; ++i) {
        const Row &a = rows[i - 1], &b = rows[i];
        if (a.value > b.value) continue;
        if (a.value < b.value || (ids_break_ties && a.id() < b.id())) return false;
    }
    return true;
}

// Orders as the bytes do: if two prefixes differ, the ids compare as they do.
std::uint64_t prefix_of(Bytes id) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        prefix = prefix << 8 | (i < id.size() ? static_cast<unsigned char>(id[i]) : 0u);
    }
    return prefix;
}

// Leaves out identical duplicates, stably, and returns how many rows remain. Slots hold row numbers + 1; there are so
// many that almost every row finds its own empty.
std::size_t drop_duplicates(Bytes topic, Row* rows, std::int32_t* ranks, std::uint32_t* positions, std::size_t count,
                            std::vector<std::uint32_t>& slots, Facts& facts) {
    std::size_t size = 16;
    while (size < count * 4) size *= 2;
    slots.assign(size, 0);
    const std::size_t mask = size - 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Row row = rows[i];
        bool repeated = false;
        std::size_t slot = row.hash & mask;
        for (; slots[slot] != 0; slot = (slot + 1) & mask) {
            const Row& earlier = rows[slots[slot] - 1];
            if (earlier.hash != row.hash || !same_bytes(earlier.id(), row.id())) continue;
            if (earlier.value != row.value) throw ConflictingDuplicate(topic, row.id(), earlier.value, row.value);
            repeated = true;
            break;
        }
        if (repeated) {
            if (facts.repeated.empty()) facts.repeated = row.id();
            continue;
        }
        if (kept != i) {
            rows[kept] = row;
            if (ranks) ranks[kept] = ranks[i];
            if (positions) positions[kept] = positions[i];
        }
        ++kept;
        slots[slot] = static_cast<std::uint32_t>(kept);
    }
    return kept;
}

// Sorts by value descending, keeping input order among equals, where there are only a few different values, as
// grades have: counting, without the branches that make comparing slow. False if there are more.
bool sort_few_values(const Row* rows, std::size_t count, Scratch& scratch) {
    constexpr std::size_t most = 16;
    std::array<double, most> values{};  // in the order in which they are met
    std::array<std::uint32_t, most> counts{};
    std::size_t known = 0;
    scratch.levels.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t level = known;
        for (std::size_t k = 0; k < known; ++k) level = values[k] == rows[i].value ? k : level;
        if (level == known) {
            if (known == most) return false;
            values[known++] = rows[i].value;
        }
        scratch.levels[i] = static_cast<std::uint8_t>(level);
        ++counts[level];
    }
    std::array<std::uint32_t, most> next{};  // where the next row of a value goes
    for (std::size_t k = 0; k < known; ++k) {
        for (std::size_t other = 0; other < known; ++other) next[k] += values[other] > values[k] ? counts[other] : 0;
    }
    for (std::size_t i = 0; i < count; ++i) scratch.keys[next[scratch.levels[i]]++].row = static_cast<std::uint32_t>(i);
    return true;
}

// Puts rows (and with them ranks and positions) into canonical order.
void sort_rows(Row* rows, std::int32_t* ranks, std::vector<std::uint32_t>& positions, std::size_t count,
               bool ids_break_ties, Scratch& scratch) {
    auto& keys = scratch.keys;
    keys.resize(count);
    if (ids_break_ties || !sort_few_values(rows, count, scratch)) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t prefix = ids_break_ties ? prefix_of(rows[i].id()) : 0;
            keys[i] = {rows[i].value, prefix, static_cast<std::uint32_t>(i)};
        }
        std::sort(keys.begin(), keys.end(), [rows, ids_break_ties](const Scratch::Key& a, const Scratch::Key& b) {
            if (a.value != b.value) return a.value > b.value;
            if (a.prefix != b.prefix) return a.prefix > b.prefix;
            return ids_break_ties ? rows[a.row].id() > rows[b.row].id() : a.row < b.row;
        });
    }
    scratch.rows.assign(rows, rows + count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = scratch.rows[keys[i].row];
    if (ranks) {
        scratch.ranks.assign(ranks, ranks + count);
        for (std::size_t i = 0; i < count; ++i) ranks[i] = scratch.ranks[keys[i].row];
    }
    if (!ids_break_ties) return;  // equal values stand as before: nobody asks where
    std::vector<std::uint32_t> moved(count);
    for (std::size_t i = 0; i < count; ++i) moved[i] = positions.empty() ? keys[i].row : positions[keys[i].row];
    positions = std::move(moved);
}

// Rows are in order: counts ties, ranks that contradict the values, and notes where the input order of ties differs.
void describe(const Row* rows, const std::int32_t* ranks, const std::vector<std::uint32_t>& positions,
              std::size_t count, Facts& facts) {
    bool ties_moved = false;
    bool ranks_differ = false;
    std::int64_t highest_of_better = std::numeric_limits<std::int64_t>::min();
    std::int64_t highest = highest_of_better;
    std::uint32_t disagrees = 0;
    std::uint32_t tied = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const bool as_before = i > 0 && rows[i].value == rows[i - 1].value;
        const bool as_next = i + 1 < count && rows[i].value == rows[i + 1].value;
        tied += as_before || as_next;
        if (as_before && !positions.empty() && positions[i] < positions[i - 1]) ties_moved = true;
        if (ranks) {
            if (!as_before) highest_of_better = highest;
            disagrees += ranks[i] <= highest_of_better;
            highest = std::max<std::int64_t>(highest, ranks[i]);
            ranks_differ |= ranks[i] != ranks[0];
        }
    }
    facts.tied = tied;
    facts.rank_disagrees = ranks_differ ? disagrees : 0;  // one rank for all is a filler, not a claim
    facts.input_order.reset();
    if (ties_moved) facts.input_order = std::make_unique<std::vector<std::uint32_t>>(positions);
}

// Rows of one topic, no document twice: puts them in order and notes what is odd. `positions` may be empty, meaning rows
// stand in input order.
void order_and_describe(Row* rows, std::int32_t* ranks, std::vector<std::uint32_t>& positions, std::size_t count,
                        bool ids_break_ties, Scratch& scratch, Facts& facts) {
    if (!is_ordered(rows, count, ids_break_ties)) sort_rows(rows, ranks, positions, count, ids_break_ties, scratch);
    describe(rows, ranks, positions, count, facts);
}

// All of the above for one topic.
std::size_t put_in_order(Bytes topic, Row* rows, std::int32_t* ranks, std::vector<std::uint32_t>& positions,
                         std::size_t count, bool ids_break_ties, Scratch& scratch, Facts& facts) {
    const std::size_t kept = drop_duplicates(topic, rows, ranks, positions.empty() ? nullptr : positions.data(), count,
                                             scratch.slots, facts);
    facts.collapsed += static_cast<std::uint32_t>(count - kept);
    if (!positions.empty()) positions.resize(kept);
    order_and_describe(rows, ranks, positions, kept, ids_break_ties, scratch, facts);
    return kept;
}

// "2" before "10" where every topic is a number, otherwise as bytes.
bool natural_less(Bytes a, Bytes b) {
    const Bytes whole_a = a, whole_b = b;
    while (a.size() > 1 && a.front() == '0') a.remove_prefix(1);
    while (b.size() > 1 && b.front() == '0') b.remove_prefix(1);
    if (a.size() != b.size()) return a.size() < b.size();
    if (a != b) return a < b;
    return whole_a < whole_b;
}

bool all_digits(Bytes id) { return std::all_of(id.begin(), id.end(), is_digit); }

}  // namespace

std::uint32_t Block::number_of(Bytes topic) {
    auto found = topic_numbers_.find(topic);
    if (found == topic_numbers_.end()) {
        topics_.push_back(arena.keep(topic));
        found = topic_numbers_.emplace(topics_.back(), static_cast<std::uint32_t>(topics_.size() - 1)).first;
    }
    return found->second;
}

void Block::open(Bytes topic) {
    const std::uint32_t number = number_of(topic);
    segments_.emplace_back();
    segments_.back().topic = number;
    segments_.back().begin = rows_.size();
}

void Block::resume(Bytes topic) {
    resumed_ = number_of(topic);
    if (resumed_ == segments_.size()) {  // one segment a topic
        segments_.emplace_back();
        segments_.back().topic = resumed_;
    }
}

void Block::gather(Scratch& scratch) {
    std::vector<std::size_t> next(segments_.size());
    std::size_t begin = 0;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
        segments_[s].begin = next[s] = begin;
        begin += segments_[s].count;
    }
    std::vector<Row> rows(rows_.size());
    std::vector<std::int32_t> ranks(ranks_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t place = next[row_topics_[i]]++;
        rows[place] = rows_[i];
        if (!ranks.empty()) ranks[place] = ranks_[i];
    }
    rows_ = std::move(rows);
    ranks_ = std::move(ranks);
    std::vector<std::uint32_t>().swap(row_topics_);
    for (std::size_t s = 0; s < segments_.size(); ++s) finish(s, scratch);
}

void Block::finish(std::size_t index, bool distinct, Scratch& scratch) {
    auto& segment = segments_[index];
    Row* const rows = rows_.data() + segment.begin;
    const HashKeys keys = hash_keys();
    for (std::size_t i = 0; i < segment.count; ++i) rows[i].hash = hash_bytes(rows[i].doc, rows[i].length, keys);
    scratch.positions.clear();
    std::int32_t* const ranks = ranks_.empty() ? nullptr : ranks_.data() + segment.begin;
    if (distinct) {
        order_and_describe(rows, ranks, scratch.positions, segment.count, ids_break_ties_, scratch, segment.facts);
        return;
    }
    segment.count = static_cast<std::uint32_t>(put_in_order(topics_[segment.topic], rows, ranks, scratch.positions,
                                                            segment.count, ids_break_ties_, scratch, segment.facts));
}

void Block::judge_last(Joiner& joiner) {
    auto& segment = segments_.back();
    segment.first_hit = hits_.size();
    joiner.join(topics_[segment.topic], rows_.data() + segment.begin, segment.count, segment.facts, hits_);
    segment.end_hit = hits_.size();
    segment.judged = true;
    segment.facts.input_order.reset();
    rows_.resize(segment.begin);
    owned_ = std::min(owned_, rows_.size());
    if (!ranks_.empty()) ranks_.resize(segment.begin);
}

Table::Table(std::vector<Block> blocks, unsigned threads) : blocks_(std::move(blocks)) {
    struct Place {
        std::uint32_t block, segment;
    };
    std::vector<std::vector<Place>> places;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
        auto& block = blocks_[b];
        std::vector<std::size_t> numbers(block.topics_.size());
        for (std::size_t t = 0; t < numbers.size(); ++t) {
            const auto [found, fresh] = by_id_.emplace(block.topics_[t], places.size());
            if (fresh) {
                places.emplace_back();
                topics_.emplace_back();
                topics_.back().id = block.topics_[t];
            }
            numbers[t] = found->second;
        }
        for (std::uint32_t s = 0; s < block.segments_.size(); ++s) {
            places[numbers[block.segments_[s].topic]].push_back({b, s});
        }
    }

    gathered_.resize(topics_.size());
    parallel_for(topics_.size(), threads, [&](std::size_t t) {
        auto& topic = topics_[t];
        if (places[t].size() == 1) {
            auto& block = blocks_[places[t][0].block];
            auto& segment = block.segments_[places[t][0].segment];
            topic.rows = block.rows_.data() + segment.begin;
            topic.count = segment.count;
            topic.facts = std::move(segment.facts);
            if (segment.judged) {
                topic.rows = nullptr;
                topic.hits = &block.hits_;
                topic.first_hit = segment.first_hit;
                topic.end_hit = segment.end_hit;
            }
            return;
        }
        for (const auto& place : places[t]) {
            if (blocks_[place.block].segments_[place.segment].judged) throw ScatteredTopic();
        }
        // The topic stands in several places of the input: bring its rows together and order them once more.
        auto& rows = gathered_[t];
        std::vector<std::int32_t> ranks;
        std::vector<std::uint32_t> positions;
        for (const auto& place : places[t]) {
            auto& block = blocks_[place.block];
            auto& segment = block.segments_[place.segment];
            const auto base = static_cast<std::uint32_t>(rows.size());
            const auto from = static_cast<std::ptrdiff_t>(segment.begin);
            const auto to = from + segment.count;
            rows.insert(rows.end(), block.rows_.begin() + from, block.rows_.begin() + to);
            if (!block.ranks_.empty()) ranks.insert(ranks.end(), block.ranks_.begin() + from, block.ranks_.begin() + to);
            const auto* order = segment.facts.input_order.get();
            for (std::uint32_t i = 0; i < segment.count; ++i) positions.push_back(base + (order ? (*order)[i] : i));
            topic.facts.collapsed += segment.facts.collapsed;
            if (topic.facts.repeated.empty()) topic.facts.repeated = segment.facts.repeated;
        }
        Scratch scratch;
        topic.count = put_in_order(topic.id, rows.data(), ranks.empty() ? nullptr : ranks.data(), positions, rows.size(),
                                   blocks_[0].ids_break_ties_, scratch, topic.facts);
        topic.rows = rows.data();
    });

    std::vector<bool> is_needed(blocks_.size());  // the rows of a block, after those of scattered topics were copied
    for (std::size_t t = 0; t < topics_.size(); ++t) {
        if (places[t].size() == 1 && topics_[t].rows) is_needed[places[t][0].block] = true;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        auto& block = blocks_[b];
        if (!is_needed[b]) std::vector<Row>().swap(block.rows_);
        std::vector<std::int32_t>().swap(block.ranks_);
        std::vector<Segment>().swap(block.segments_);
        block.topic_numbers_.clear();
    }
    complete();
}

void Table::add_judged(const Table& part, const Judging& how, unsigned threads) {
    const Joined joined = join(part, *how.judgements, how.ties_in_input_order, threads);
    judged_.push_back(std::make_unique<Hits>());
    Hits& kept = *judged_.back();
    kept.reserve(joined.hit_count());
    for (const Topic& from : part.topics()) {
        Topic topic;
        topic.id = names_.keep(from.id);
        topic.count = from.count;
        topic.facts.tied = from.facts.tied;
        topic.facts.rank_disagrees = from.facts.rank_disagrees;
        topic.facts.collapsed = from.facts.collapsed;
        topic.facts.repeated = from.facts.repeated;
        topic.hits = &kept;
        topic.first_hit = kept.size();
        if (const Topic* const judged = how.judgements->find(from.id)) {
            const JoinedTopic& hits = joined.topics[static_cast<std::size_t>(judged - how.judgements->topics().data())];
            kept.insert(kept.end(), hits.begin, hits.end);
        }
        topic.end_hit = kept.size();
        topics_.push_back(std::move(topic));
    }
    judging = how;
}

void Table::complete() {
    row_count_ = 0;
    const bool numeric = std::all_of(topics_.begin(), topics_.end(), [](const Topic& t) { return all_digits(t.id); });
    std::sort(topics_.begin(), topics_.end(), [numeric](const Topic& a, const Topic& b) {
        return numeric ? natural_less(a.id, b.id) : a.id < b.id;
    });
    for (std::size_t t = 0; t < topics_.size(); ++t) {
        by_id_[topics_[t].id] = t;
        row_count_ += topics_[t].count;
    }
}

std::vector<Row> ties_as_in_input(const Row* sorted, std::size_t count, const std::vector<std::uint32_t>& place) {
    std::vector<Row> rows(sorted, sorted + count);
    std::vector<std::uint32_t> order;
    for (std::size_t first = 0; first < count;) {
        std::size_t last = first + 1;
        while (last < count && sorted[last].value == sorted[first].value) ++last;
        order.resize(last - first);
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(first + i);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return place[a] < place[b]; });
        for (std::size_t i = 0; i < order.size(); ++i) rows[first + i] = sorted[order[i]];
        first = last;
    }
    return rows;
}

void Table::keep_slots(unsigned threads) const {
    constexpr std::size_t many = 64;  // judgements: the slots of fewer are made as quickly as they are fetched
    if (slots()) return;
    auto made = std::make_shared<std::vector<Slots>>(topics_.size());
    parallel_for(topics_.size(), threads, [&](std::size_t t) {
        if (topics_[t].count >= many) fill_slots(topics_[t].rows, topics_[t].count, (*made)[t]);
    });
    std::atomic_store(&slots_, std::shared_ptr<const std::vector<Slots>>(std::move(made)));
}

void Table::note(const std::vector<std::uint32_t>& collapsed, const std::vector<std::uint32_t>& rank_disagrees) {
    for (std::size_t t = 0; t < topics_.size(); ++t) {
        topics_[t].facts.collapsed = collapsed.at(t);
        topics_[t].facts.rank_disagrees = rank_disagrees.at(t);
    }
}

const Topic* Table::find(Bytes id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &topics_[found->second];
}

}  // namespace cranfield
