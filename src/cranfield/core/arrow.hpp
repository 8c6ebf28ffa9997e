// Data frames through the Arrow C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html).
// The three structs are the interface: their layout is fixed by it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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

std::string in_digits(double number);  // the fewest that give it back, for errors

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

// Makes rows of batches: judged and forgotten where the layout says so, or of some topics alone, which may stand anywhere.
struct RowReader {
    FrameLayout layout;
    std::shared_ptr<ArrowSchema> schema;
    std::uint32_t share = 0, shares = 0;  // 0 shares: every topic stands in one place, as far as is known

    bool points = false;  // ids are texts in batches that stay: rows that are left may point there, however long they are

    // Whether what it reads needs the batches no longer.
    bool forgets() const { return shares > 0 || (layout.judging.judgements && !points); }
    // Rows from `begin` to `end` of a batch; the first has this number in the whole frame. A block may take several
    // batches; after the last it is finished.
    void read(const ArrowArray& batch, std::int64_t begin, std::int64_t end, std::size_t first_row, Block& block) const;
    void finish(Block& block) const;
};

// Ids in string columns are not copied: the table points into the producer's buffers and keeps them alive, unless its
// rows are forgotten.
class Frame {
public:
    Frame(ArrowArrayStream& stream, const FrameLayout& layout);  // takes all batches; may call back into Python
    Table table(unsigned threads) const;                         // touches no Python

private:
    Table read(const RowReader& rows, unsigned threads) const;

    RowReader rows_;
    std::vector<std::shared_ptr<ArrowArray>> batches_;
};

// A run that is judged a part at a time, because all of it would fill the memory. Parts are read by as many threads as one
// likes, in any order; `place` says where each belongs. Where topics turn out to be scattered, all parts are
// read again, once for each share of the topics. Faults are only noticed: who reads the whole frame tells what they are.
class FrameStream {
public:
    explicit FrameStream(FrameLayout layout);
    bool read(ArrowArrayStream& part, std::size_t place);  // false: there is no use in going on
    void begin_share(std::uint32_t share, std::uint32_t shares);
    bool end_share(unsigned threads);  // of all topics, where none was begun; false: it did not work
    bool is_scattered() const { return scattered_ && !faulty_; }
    Table finish();

private:
    RowReader rows_;
    std::mutex lock_;
    std::map<std::size_t, Block> parts_;
    std::atomic<bool> failed_{false}, scattered_{false}, faulty_{false};
    Table table_;
};

}  // namespace cranfield
