// Dicts that hold nothing but text and numbers of Python's own, as almost all do: {topic: {document: value}}.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "table.hpp"
#include "text.hpp"

namespace cranfield {

// The table, or nothing where a dict holds anything else, or anything wrong: `read_dict` knows what to make of that.
std::optional<Table> read_plain_dict(nanobind::dict outer, ValueKind kind, const Judging& judging, unsigned threads);

}  // namespace cranfield
