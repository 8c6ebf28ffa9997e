// Independent tasks over a few threads. Results are stored by task number, so they never depend on the threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace cranfield {

// How far a long read has come, in bytes or rows; written by the workers, read by whoever draws a bar.
struct Progress {
    std::atomic<std::size_t> done{0};
    std::atomic<std::size_t> total{0};
};

// Calls task(0) … task(count - 1). If several throw, the one with the lowest number is rethrown, so an error
// does not depend on the number of threads either. Where the system gives fewer threads than wanted, those that there
// are do the work: in the end the caller's alone.
template <typename Task>
void parallel_for(std::size_t count, unsigned threads, const Task& task) {
    std::vector<std::exception_ptr> errors(count);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i; (i = next.fetch_add(1)) < count;) {
            try {
                task(i);
            } catch (...) {
                errors[i] = std::current_exception();
            }
        }
    };
    std::vector<std::thread> workers;
    const std::size_t wanted = std::min<std::size_t>(std::max(threads, 1u), count);
    workers.reserve(wanted);  // from here on nothing but a thread can fail to be made
    try {
        while (workers.size() + 1 < wanted) workers.emplace_back(work);
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    work();
    for (auto& worker : workers) worker.join();
    for (const auto& error : errors) {
        if (error) std::rethrow_exception(error);
    }
}

}  // namespace cranfield
