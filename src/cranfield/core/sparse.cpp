#include "sparse.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "parallel.hpp"

namespace cranfield {

namespace {

constexpr std::size_t rows_at_once = 512;

// The entries of the columns that are shared, by column: which rows have it, and with what weight.
struct ByColumn {
    struct Entry {
        std::int32_t row;
        float weight;
    };
    std::vector<std::int32_t> place;  // of each column among those shared, -1 for others
    std::vector<std::size_t> starts;
    std::vector<Entry> entries;
};

ByColumn by_column(const SparseRows& rows, const bool* shared) {
    ByColumn made;
    made.place.resize(rows.width);
    std::int32_t count = 0;
    for (std::size_t c = 0; c < rows.width; ++c) made.place[c] = shared[c] ? count++ : -1;
    made.starts.assign(static_cast<std::size_t>(count) + 2, 0);
    const auto for_each = [&](const auto& visit) {
        for (std::size_t i = 0; i < rows.count; ++i) {
            const auto [first, last] = rows.row(i);
            for (std::size_t at = first; at < last; ++at) {
                const std::int32_t place = made.place[rows.column(at)];
                if (place >= 0) visit(i, static_cast<std::size_t>(place), rows.weights[at]);
            }
        }
    };
    // Counted two places ahead, so that filling moves every start to where it belongs.
    for_each([&](std::size_t, std::size_t place, float) { ++made.starts[place + 2]; });
    for (std::size_t p = 2; p < made.starts.size(); ++p) made.starts[p] += made.starts[p - 1];
    made.entries.resize(made.starts.back());
    for_each([&](std::size_t i, std::size_t place, float weight) {
        made.entries[made.starts[place + 1]++] = {static_cast<std::int32_t>(i), weight};
    });
    return made;
}

// The best of what it is shown, best first, of equal ones the one with the lower number.
class Best {
public:
    explicit Best(std::size_t most) : most_(most) { kept_.reserve(most + 1); }
    void clear() { kept_.clear(); }
    void show(std::int32_t number, float product) {
        if (kept_.size() == most_ && !is_before({number, product}, kept_.back())) return;
        const Found one{number, product};
        kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), one, is_before), one);
        if (kept_.size() > most_) kept_.pop_back();
    }
    void write(std::int32_t* numbers, float* products) const {
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            numbers[i] = kept_[i].number;
            products[i] = kept_[i].product;
        }
    }

private:
    struct Found {
        std::int32_t number;
        float product;
    };
    static bool is_before(const Found& a, const Found& b) {
        return a.product != b.product ? a.product > b.product : a.number < b.number;
    }
    std::size_t most_;
    std::vector<Found> kept_;
};

}  // namespace

std::pair<std::size_t, std::size_t> SparseRows::row(std::size_t i) const {
    if (i >= count) throw std::out_of_range("no such row");
    const auto first = static_cast<std::size_t>(starts[i]), last = static_cast<std::size_t>(starts[i + 1]);
    if (first > last || last > stored) throw std::out_of_range("a row that ends before it begins, or after all that is stored");
    return {first, last};
}

std::size_t SparseRows::column(std::size_t place) const {
    const auto column = static_cast<std::size_t>(columns[place]);
    if (column >= width) throw std::out_of_range("no such column");
    return column;
}

template <typename Number>
std::vector<Number> row_products(const SparseRows& rows, const Number* vector, const std::int64_t* named, std::size_t count,
                                 unsigned threads) {
    std::vector<Number> products(named ? count : rows.count);
    const std::size_t tasks = (products.size() + rows_at_once - 1) / rows_at_once;
    parallel_for(tasks, threads, [&](std::size_t task) {
        const std::size_t end = std::min(products.size(), (task + 1) * rows_at_once);
        for (std::size_t i = task * rows_at_once; i < end; ++i) {
            const auto [first, last] = rows.row(named ? static_cast<std::size_t>(named[i]) : i);
            Number sum = 0;
            for (std::size_t at = first; at < last; ++at) sum += static_cast<Number>(rows.weights[at]) * vector[rows.column(at)];
            products[i] = sum;
        }
    });
    return products;
}

template std::vector<float> row_products(const SparseRows&, const float*, const std::int64_t*, std::size_t, unsigned);
template std::vector<double> row_products(const SparseRows&, const double*, const std::int64_t*, std::size_t, unsigned);

Nearest nearest_rows(const SparseRows& rows, const bool* shared, std::size_t each, unsigned threads) {
    const ByColumn columns = by_column(rows, shared);
    Nearest made;
    made.numbers.resize(rows.count * each);
    made.products.resize(rows.count * each);
    std::atomic<std::size_t> next{0};
    parallel_for(std::max(threads, 1u), threads, [&](std::size_t) {
        std::vector<float> sums(rows.count);
        std::vector<std::int32_t> met;
        Best best(each);
        for (std::size_t begin; each > 0 && (begin = next.fetch_add(rows_at_once)) < rows.count;) {
            for (std::size_t i = begin; i < std::min(rows.count, begin + rows_at_once); ++i) {
                const auto [first, last] = rows.row(i);
                for (std::size_t at = first; at < last; ++at) {
                    const std::int32_t place = columns.place[rows.column(at)];
                    if (place < 0) continue;
                    const float weight = rows.weights[at];
                    const auto of = static_cast<std::size_t>(place);
                    for (std::size_t e = columns.starts[of]; e < columns.starts[of + 1]; ++e) {
                        float& sum = sums[static_cast<std::size_t>(columns.entries[e].row)];
                        if (sum == 0) met.push_back(columns.entries[e].row);
                        sum += weight * columns.entries[e].weight;
                    }
                }
                best.clear();
                for (const std::int32_t other : met) {
                    float& sum = sums[static_cast<std::size_t>(other)];
                    // A sum that came to 0 on the way is met twice: the second time there is nothing left of it.
                    if (sum != 0 && static_cast<std::size_t>(other) != i) best.show(other, sum);
                    sum = 0;
                }
                met.clear();
                std::fill_n(made.numbers.data() + i * each, each, static_cast<std::int32_t>(i));
                best.write(made.numbers.data() + i * each, made.products.data() + i * each);
            }
        }
    });
    return made;
}

}  // namespace cranfield
