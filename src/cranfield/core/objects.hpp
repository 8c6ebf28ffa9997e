// Python objects straight through the C API: dict of dicts, lists, NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "table.hpp"
#include "text.hpp"

namespace cranfield {

namespace nb = nanobind;

// {topic: {document: value}}. Rows of a run that is judged at once need not be kept; they may be.
Table read_dict(nb::dict outer, ValueKind kind, const Judging& judging, unsigned threads);

// Row i belongs to topics[i / per_topic]; documents and values are one sequence each. A document given as the
// integer `padding` (FAISS writes -1 where it found no more) is left out and counted.
struct ColumnsTable {
    Table table;
    std::size_t padded = 0;
};
ColumnsTable read_columns(nb::list topics, std::size_t per_topic, nb::list docs, nb::object values, ValueKind kind,
                          unsigned threads);
ColumnsTable read_integer_columns(nb::list topics, std::size_t per_topic,
                                  nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> docs,
                                  nb::object values, std::int64_t padding, ValueKind kind, unsigned threads);

}  // namespace cranfield
