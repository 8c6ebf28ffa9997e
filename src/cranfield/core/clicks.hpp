// Expected counts of click models: what users examined, and where they were satisfied, given where they clicked.
//
// Pages of one query stand together, and its pairs (of a query and a document) are numbered one after another. Work is cut
// between queries, so that every pair's sums are made by one thread in the order of its pages: the same for any number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield {

// Result pages: page p has the slots offsets[p] … offsets[p + 1], from the top down, each with the number of its pair and
// whether it was clicked. A page counts as often as its weight says. Query q has the pages from query_pages[q] and the pairs
// from query_pairs[q] on, up to those of the next query.
struct Pages {
    const std::int64_t* offsets;
    std::size_t pages;
    const std::int64_t* pair;
    const bool* clicked;
    const double* weight;
    const std::int64_t* query_pages;
    const std::int64_t* query_pairs;
    std::size_t queries;

    std::size_t slots() const { return static_cast<std::size_t>(offsets[pages]); }
    std::size_t pairs() const { return static_cast<std::size_t>(query_pairs[queries]); }
};

// Throws where pages are not what is said above, so that nothing below reads what is not there. Gives the most slots of a page.
std::size_t check_pages(const Pages& pages, std::size_t slots);

// A user who goes down the page: examines the first slot, clicks what attracts, after a click leaves if satisfied, and goes on
// to the next slot with the chance `onward` otherwise. Satisfaction is that of a pair, or that of a rank.
struct Chain {
    const double* attraction;
    const double* satisfaction;
    bool by_rank;
    double onward;
};

struct ChainCounts {
    std::vector<double> examined;   // of each pair: how often it was examined
    std::vector<double> satisfied;  // of each pair or rank: after how many of its clicks users were satisfied
    double onward = 0, choices = 0;  // how often users went on, of how many times that they could, unsatisfied
    double log_likelihood = 0;
};

ChainCounts chain_counts(const Pages& pages, const Chain& chain, std::size_t ranks, unsigned threads);

// For each slot the chance of a click given the clicks above it on its page, and the chance given nothing.
struct ClickChances {
    std::vector<double> given_above, alone;
};

ClickChances chain_chances(const Pages& pages, const Chain& chain, unsigned threads);

// A user who examines each rank with a chance of its own, and clicks what is examined and attracts.
struct PositionCounts {
    std::vector<double> examined;  // of each pair
    std::vector<double> at_rank;   // how often each rank was examined
    double log_likelihood = 0;
};

PositionCounts position_counts(const Pages& pages, const double* attraction, const double* examination, std::size_t ranks,
                               unsigned threads);

}  // namespace cranfield
