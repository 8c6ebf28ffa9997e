#include "clicks.hpp"

#include <algorithm>
#include <cmath>

#include "faults.hpp"
#include "parallel.hpp"

namespace cranfield {

namespace {

constexpr std::size_t slots_at_once = 1 << 16;  // of the queries that make a task; what a task sums is added in their order

// Queries from `first` up to `last`, cut by the size of the input alone.
struct Task {
    std::size_t first, last;
};

std::vector<Task> tasks_of(const Pages& pages) {
    std::vector<Task> tasks;
    std::size_t first = 0;
    for (std::size_t query = 0; query < pages.queries; ++query) {
        const auto slots = pages.offsets[pages.query_pages[query + 1]] - pages.offsets[pages.query_pages[first]];
        if (static_cast<std::size_t>(slots) >= slots_at_once || query + 1 == pages.queries) {
            tasks.push_back({first, query + 1});
            first = query + 1;
        }
    }
    return tasks;
}

// Calls visit(task number, page) for the pages of every query.
template <typename Visit>
void each_page(const Pages& pages, const std::vector<Task>& tasks, unsigned threads, const Visit& visit) {
    parallel_for(tasks.size(), threads, [&](std::size_t number) {
        const auto last = static_cast<std::size_t>(pages.query_pages[tasks[number].last]);
        for (auto page = static_cast<std::size_t>(pages.query_pages[tasks[number].first]); page < last; ++page) visit(number, page);
    });
}

// The slots of a page.
struct Page {
    const std::int64_t* pair;
    const bool* clicked;
    std::size_t size;

    Page(const Pages& pages, std::size_t page)
        : pair(pages.pair + pages.offsets[page]), clicked(pages.clicked + pages.offsets[page]),
          size(static_cast<std::size_t>(pages.offsets[page + 1] - pages.offsets[page])) {}
    std::size_t of(std::size_t rank) const { return static_cast<std::size_t>(pair[rank]); }
    // One more than the rank, from 0, of the last click; 0 without one.
    std::size_t after_last_click() const {
        std::size_t end = size;
        while (end > 0 && !clicked[end - 1]) --end;
        return end;
    }
};

double satisfaction(const Chain& chain, const Page& page, std::size_t rank) {
    return chain.satisfaction[chain.by_rank ? rank : page.of(rank)];
}

// Adds what one page tells. `quiet` is room for a number a rank.
//
// Whatever stands above the last click was examined, and left unsatisfied after each click but the last. Below it nothing is
// seen: quiet[r] is the chance of no click from rank r on, for a user who examines it.
void add_page(const Chain& chain, const Page& page, double weight, double* quiet, double* examined, double* satisfied,
              ChainCounts& shared) {
    const std::size_t size = page.size, end = page.after_last_click();
    double likelihood = 1, log_likelihood = 0;
    for (std::size_t rank = 0; rank < end; ++rank) {
        const double attraction = chain.attraction[page.of(rank)];
        examined[page.of(rank)] += weight;
        likelihood *= page.clicked[rank] ? attraction : 1 - attraction;
        if (rank + 1 < end) {
            if (page.clicked[rank]) likelihood *= 1 - satisfaction(chain, page, rank);
            likelihood *= chain.onward;
            shared.onward += weight;
            shared.choices += weight;
        }
        if (likelihood < 1e-200) {
            log_likelihood += std::log(likelihood);
            likelihood = 1;
        }
    }
    quiet[size] = 1;
    for (std::size_t rank = size; rank-- > end;) {
        const double below = rank + 1 == size ? 1 : 1 - chain.onward + chain.onward * quiet[rank + 1];
        quiet[rank] = (1 - chain.attraction[page.of(rank)]) * below;
    }
    double reached = 1;  // the chance that the first slot below the last click was examined
    if (end > 0) {
        const double satisfying = satisfaction(chain, page, end - 1);
        const double going = end == size ? 0 : chain.onward * quiet[end];
        const double leaving = end == size ? 1 : 1 - chain.onward;
        const double all = satisfying + (1 - satisfying) * (leaving + going);
        likelihood *= all;
        if (all > 0) {
            satisfied[chain.by_rank ? end - 1 : page.of(end - 1)] += weight * satisfying / all;
            reached = (1 - satisfying) * going / all;
            if (end < size) {
                shared.choices += weight * (1 - satisfying) * (leaving + going) / all;
                shared.onward += weight * reached;
            }
        } else {
            reached = 0;
        }
    } else {
        likelihood *= quiet[0];
    }
    for (std::size_t rank = end; rank < size; ++rank) {
        examined[page.of(rank)] += weight * reached;
        if (rank + 1 == size) break;
        shared.choices += weight * reached;
        const double below = 1 - chain.onward + chain.onward * quiet[rank + 1];
        reached = below > 0 ? reached * chain.onward * quiet[rank + 1] / below : 0;
        shared.onward += weight * reached;
    }
    // A page of weight 0 is not there, even one that the model has no chance for.
    if (weight > 0) shared.log_likelihood += weight * (log_likelihood + std::log(likelihood));
}

}  // namespace

std::size_t check_pages(const Pages& pages, std::size_t slots) {
    std::size_t longest = 0;
    if (pages.offsets[0] != 0 || static_cast<std::size_t>(pages.offsets[pages.pages]) != slots) {
        throw UsageFault("pages end where there are no slots");
    }
    for (std::size_t page = 0; page < pages.pages; ++page) {
        if (pages.offsets[page + 1] < pages.offsets[page]) throw UsageFault("a page ends before it begins");
        longest = std::max(longest, static_cast<std::size_t>(pages.offsets[page + 1] - pages.offsets[page]));
    }
    if (pages.query_pages[0] != 0 || static_cast<std::size_t>(pages.query_pages[pages.queries]) != pages.pages ||
        pages.query_pairs[0] != 0) {
        throw UsageFault("pages of queries end where there are no pages");
    }
    for (std::size_t query = 0; query < pages.queries; ++query) {
        if (pages.query_pages[query + 1] < pages.query_pages[query] || pages.query_pairs[query + 1] < pages.query_pairs[query]) {
            throw UsageFault("a query ends before it begins");
        }
    }
    // All ends are in order by now, and so within the slots.
    for (std::size_t query = 0; query < pages.queries; ++query) {
        const auto first = pages.offsets[pages.query_pages[query]], last = pages.offsets[pages.query_pages[query + 1]];
        for (auto slot = first; slot < last; ++slot) {
            if (pages.pair[slot] < pages.query_pairs[query] || pages.pair[slot] >= pages.query_pairs[query + 1]) {
                throw UsageFault("a slot has a pair of another query");
            }
        }
    }
    return longest;
}

ChainCounts chain_counts(const Pages& pages, const Chain& chain, std::size_t ranks, unsigned threads) {
    const auto tasks = tasks_of(pages);
    std::vector<ChainCounts> parts(tasks.size());
    std::vector<std::vector<double>> quiet(tasks.size());
    for (std::size_t number = 0; number < tasks.size(); ++number) {
        quiet[number].resize(ranks + 1);
        if (chain.by_rank) parts[number].satisfied.resize(ranks);
    }
    ChainCounts all;
    all.examined.resize(pages.pairs());
    all.satisfied.resize(chain.by_rank ? ranks : pages.pairs());
    each_page(pages, tasks, threads, [&](std::size_t number, std::size_t page) {
        double* const satisfied = chain.by_rank ? parts[number].satisfied.data() : all.satisfied.data();
        add_page(chain, Page(pages, page), pages.weight[page], quiet[number].data(), all.examined.data(), satisfied, parts[number]);
    });
    for (const auto& part : parts) {
        for (std::size_t rank = 0; rank < part.satisfied.size(); ++rank) all.satisfied[rank] += part.satisfied[rank];
        all.onward += part.onward;
        all.choices += part.choices;
        all.log_likelihood += part.log_likelihood;
    }
    return all;
}

ClickChances chain_chances(const Pages& pages, const Chain& chain, unsigned threads) {
    ClickChances chances;
    chances.given_above.resize(pages.slots());
    chances.alone.resize(pages.slots());
    each_page(pages, tasks_of(pages), threads, [&](std::size_t, std::size_t number) {
        const Page page(pages, number);
        double seen = 1, reached = 1;  // chance that the slot is examined, given the clicks above it and given nothing
        for (std::size_t rank = 0; rank < page.size; ++rank) {
            const double attraction = chain.attraction[page.of(rank)], satisfying = satisfaction(chain, page, rank);
            const auto slot = static_cast<std::size_t>(pages.offsets[number]) + rank;
            const double click = chances.given_above[slot] = seen * attraction;
            chances.alone[slot] = reached * attraction;
            reached *= chain.onward * (1 - attraction * satisfying);
            if (page.clicked[rank]) {
                seen = (1 - satisfying) * chain.onward;
            } else {
                seen = click < 1 ? chain.onward * seen * (1 - attraction) / (1 - click) : 0;
            }
        }
    });
    return chances;
}

PositionCounts position_counts(const Pages& pages, const double* attraction, const double* examination, std::size_t ranks,
                               unsigned threads) {
    const auto tasks = tasks_of(pages);
    std::vector<PositionCounts> parts(tasks.size());
    for (auto& part : parts) part.at_rank.resize(ranks);
    PositionCounts all;
    all.examined.resize(pages.pairs());
    all.at_rank.resize(ranks);
    each_page(pages, tasks, threads, [&](std::size_t number, std::size_t which) {
        const Page page(pages, which);
        const double weight = pages.weight[which];
        if (weight == 0) return;
        double likelihood = 1, log_likelihood = 0;
        for (std::size_t rank = 0; rank < page.size; ++rank) {
            const double attracted = attraction[page.of(rank)], click = attracted * examination[rank];
            const double chance = page.clicked[rank] ? click : 1 - click;
            double seen = 1;
            if (!page.clicked[rank]) seen = chance > 0 ? examination[rank] * (1 - attracted) / chance : 0;
            likelihood *= chance;
            if (likelihood < 1e-200) {
                log_likelihood += std::log(likelihood);
                likelihood = 1;
            }
            all.examined[page.of(rank)] += weight * seen;
            parts[number].at_rank[rank] += weight * seen;
        }
        parts[number].log_likelihood += weight * (log_likelihood + std::log(likelihood));
    });
    for (const auto& part : parts) {
        for (std::size_t rank = 0; rank < ranks; ++rank) all.at_rank[rank] += part.at_rank[rank];
        all.log_likelihood += part.log_likelihood;
    }
    return all;
}

}  // namespace cranfield
