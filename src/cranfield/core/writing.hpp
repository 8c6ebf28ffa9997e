// Tables as text: the lines of a TREC run.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>

#include "table.hpp"

namespace cranfield {

// "topic Q0 document rank score tag" for the topics from number `begin` to before `end`; scores have as many digits as
// it takes to read the same double back. An id with a blank in it would be read as two: invalid_argument, with the id.
inline std::string trec_lines(const Table& table, std::size_t begin, std::size_t end, Bytes tag) {
    std::string out;
    const auto add_id = [&out](Bytes id) {
        for (const char c : id) {
            if (c == ' ' || (c >= '\t' && c <= '\r')) throw std::invalid_argument(std::string(id));
        }
        out += id;
    };
    char number[32];
    const auto add_number = [&out, &number](auto value) {
        const auto written = std::to_chars(number, number + sizeof number, value).ptr;
        out.append(number, static_cast<std::size_t>(written - number));
    };
    for (std::size_t t = begin; t < end && t < table.topics().size(); ++t) {
        const Topic& topic = table.topics()[t];
        for (std::size_t i = 0; i < topic.count; ++i) {
            add_id(topic.id);
            out += " Q0 ";
            add_id(topic.rows[i].id());
            out += ' ';
            add_number(i + 1);
            out += ' ';
            add_number(topic.rows[i].value);
            out += ' ';
            out += tag;
            out += '\n';
        }
    }
    return out;
}

}  // namespace cranfield
