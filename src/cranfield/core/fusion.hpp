// The join of several runs, topic by topic: which documents any of them gives, and where each run has them. What a
// document is worth is a formula over these rows, and is none of the core's business.
#pragma once

#include <cstdint>
#include <vector>

#include "table.hpp"

namespace cranfield {

// A list is what one run gave for one topic, best first. Lists stand by topic, then by run; a run without the topic
// has none. Documents are numbered through all topics, those of a topic in the order in which its lists first name them.
struct Gathered {
    std::vector<std::int64_t> list_run, list_topic, list_offsets;  // offsets has one more, as always
    std::vector<double> score;                                     // of each row of the lists
    std::vector<std::int64_t> document;                            // and the number of its document
    std::vector<std::int64_t> document_offsets, found;             // where topics begin; lists that have each document
    std::vector<const Row*> ids;                                   // a row that has the document's id
    std::vector<Bytes> topics;
};

// Rows of the result point into the runs, which must outlive it.
Gathered gather(const std::vector<const Table*>& runs, const std::vector<Bytes>& topics);

// For each topic its best documents by `fused`, in canonical order, `depth` of them at most.
Block ranked(const Gathered& gathered, const double* fused, std::size_t depth);

// Over the rows of each document: their sum, the least, the largest, the one in the middle (the mean of the two there).
// What rounding loses of a sum is added at the end (Knuth's two-sum): documents with the same numbers in another order
// are tied, as they should be. out_of_range if a row's document is not below `documents`.
using DocumentNumbers = std::vector<double> (*)(const std::int64_t* document, const double* x, std::size_t rows,
                                                std::size_t documents);
std::vector<double> document_sums(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents);
std::vector<double> document_minima(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents);
std::vector<double> document_maxima(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents);
std::vector<double> document_medians(const std::int64_t* document, const double* x, std::size_t rows, std::size_t documents);

// The place of each document, from 1, once the documents of every topic are sorted by majority: merge sort, beginning
// with those of the highest `start` (ties by id, descending), by the weight of lists that have one above the other.
// A list has what it names above what it does not. Where majorities go in a circle, neighbours still stand right.
std::vector<std::int64_t> majority_places(const Gathered& gathered, const double* start, const double* list_weights);

}  // namespace cranfield
