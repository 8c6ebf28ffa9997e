// An array of numbers that are all written once: filled with zeros first, as a vector is, its memory is fetched twice.
#pragma once

#include <cstddef>
#include <memory>

namespace cranfield {

template <typename T>
class Unfilled {
public:
    Unfilled() = default;
    explicit Unfilled(std::size_t size) : values_(new T[size]), size_(size) {}
    T& operator[](std::size_t i) { return values_[i]; }
    std::size_t size() const { return size_; }
    T* release() { return values_.release(); }  // to be deleted as an array

private:
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0;
};

}  // namespace cranfield
