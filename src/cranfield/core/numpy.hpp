// Arrays that come from NumPy and go to it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "unfilled.hpp"

namespace cranfield {

template <typename T>
using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;
template <typename T>
using Given = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Offsets = Given<std::int64_t>;
using Numbers = Given<double>;

// Hands a vector's memory to NumPy.
template <typename T>
Array<T> to_numpy(std::vector<T> values) {
    auto* const owned = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(owned->data(), {owned->size()}, owner);
}

template <typename T>
Array<T> to_numpy(Unfilled<T> values) {
    const std::size_t size = values.size();
    T* const owned = values.release();
    const nanobind::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array<T>(owned, {size}, owner);
}

// What f() computes, without the interpreter lock, as an array.
template <typename F>
auto computed(const F& f) {
    decltype(f()) values;
    {
        nanobind::gil_scoped_release release;
        values = f();
    }
    return to_numpy(std::move(values));
}

inline void same_length(std::size_t one, std::size_t other) {
    if (one != other) throw nanobind::value_error("the arrays differ in length");
}

// What else the module has: each adds its part.
void add_documents(nanobind::module_& m);

}  // namespace cranfield
