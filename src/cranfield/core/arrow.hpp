// Data frames through the Arrow C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html).
// The three structs are the interface: their layout is fixed by it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "table.hpp"
#include "text.hpp"

extern "C" {
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace cranfield {

// A fault at a row (from 0) of a frame, dict or array.
struct RowError : std::runtime_error {
    RowError(std::string fault_code, std::string fault_column, std::size_t fault_row, std::string fault_field)
        : std::runtime_error(fault_code), code(std::move(fault_code)), column(std::move(fault_column)), row(fault_row),
          field(std::move(fault_field)) {}
    std::string code, column;
    std::size_t row;
    std::string field;
};

// The frame could not be read at all: a column's type, or the producer's own error.
struct FrameError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::vector<std::string> arrow_columns(ArrowArrayStream& stream);

// What a schema says under this key, where a table of ours has written it; empty where there is nothing.
constexpr Bytes metadata_key = "cranfield";
std::string arrow_metadata(ArrowArrayStream& stream);

struct FrameLayout {
    int topic = 0, doc = 1, value = 2, rank = -1;  // column numbers, rank -1 where there is none
    ValueKind kind = ValueKind::score;
    Judging judging;  // of a run whose rows need not be kept
};

// Ids in string columns are not copied: the table points into the producer's buffers and keeps them alive.
class Frame {
public:
    Frame(ArrowArrayStream& stream, const FrameLayout& layout);  // takes all batches; may call back into Python
    Table table(unsigned threads) const;                         // touches no Python

private:
    Table read(const Judging& judging, unsigned threads) const;

    FrameLayout layout_;
    std::shared_ptr<ArrowSchema> schema_;
    std::vector<std::shared_ptr<ArrowArray>> batches_;
};

}  // namespace cranfield
