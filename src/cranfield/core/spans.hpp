// Spans of lines of one topic, in text whose lines begin with it. A cluster reads a file in pieces, and the lines of a topic
// must meet in one place: they travel as they are, many lines at a time, and are parsed where they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace cranfield {

struct Spans {
    std::vector<std::int64_t> begins{0};      // where each span begins; at last, where the text ends
    std::string topics;                       // the topics of the spans, one behind the other
    std::vector<std::int64_t> topic_ends{0};  // where each of them ends there, after a 0
};

// Spans of at most about `most` bytes, each of whole lines that have the same first field; comments and blank lines too have
// one, if only an empty one. Together they are the text.
Spans spans_of(Bytes text, std::size_t most);

}  // namespace cranfield
