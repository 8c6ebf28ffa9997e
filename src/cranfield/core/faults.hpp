// What a caller did wrong, in words meant for a person. Faults of the input are where the input is read.
#pragma once

#include <stdexcept>

namespace cranfield {

// A request that makes no sense; in Python it is a cranfield.errors.UsageError.
struct UsageFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What was given is not what it must be; a cranfield.errors.DataError.
struct DataFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace cranfield
