// Documents as rows of weights, most of which are 0 and not stored: products with a vector, and rows that are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cranfield {

// Row i has its weights, and the column of each, from starts[i] to starts[i + 1].
struct SparseRows {
    const std::int64_t* starts;
    std::size_t count;
    const std::int32_t* columns;
    const float* weights;
    std::size_t stored, width;

    // Where row i begins and ends; out_of_range where that is not within what is stored, as in a damaged file.
    std::pair<std::size_t, std::size_t> row(std::size_t i) const;
    std::size_t column(std::size_t place) const;
};

// The product of rows with a vector of `width` numbers, added up in the order of the row in the type of the vector:
// of the rows named, or where `named` is null of all.
template <typename Number>
std::vector<Number> row_products(const SparseRows& rows, const Number* vector, const std::int64_t* named, std::size_t count,
                                 unsigned threads);

// Of each row the `each` others with the largest products, best first and of equal ones the first, by the columns that
// `shared` marks; itself with 0 where there are fewer. Both have `each` numbers a row.
struct Nearest {
    std::vector<std::int32_t> numbers;
    std::vector<float> products;
};
Nearest nearest_rows(const SparseRows& rows, const bool* shared, std::size_t each, unsigned threads);

}  // namespace cranfield
