// Reading delimited text: TREC runs and qrels, CSV and TSV, at the speed of memory.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "parallel.hpp"
#include "table.hpp"

namespace cranfield {

enum class ValueKind { score, grade, rank };  // a rank becomes the score -rank

struct TextLayout {
    char delimiter = ' ';  // ' ': fields stand between runs of blanks and tabs; otherwise exactly this character
    bool quotes = false;   // fields may be quoted as in CSV
    int topic = 0, doc = 2, value = 4, rank = 3, tag = 5;  // field numbers, -1 where there is none
    int min_fields = 6, max_fields = 0;                    // max 0: no limit
    int header_lines = 0;
    std::unordered_map<std::string, double> labels;  // the numbers of grades that are words
    bool copy_ids = true;  // false: rows point into the text, which must outlive the table and not change
    // Where the rows are wanted only to be joined with these judgements, that is done topic by topic as they are read,
    // and the rows are forgotten: it saves the time to write millions of rows to memory and to fetch them again.
    Judging judging;
    ValueKind kind = ValueKind::score;
};

struct TextFacts {
    std::size_t comments = 0;
    std::string tag;            // on the last line, as trec_eval has it
    bool several_tags = false;
};

// A fault in the input, found at a physical line (from 1).
struct TextError : std::runtime_error {
    TextError(std::string fault_code, std::string fault_field)
        : std::runtime_error(fault_code), code(std::move(fault_code)), field(std::move(fault_field)) {}
    std::string code;   // what is wrong, in a word the caller turns into a sentence
    std::string field;  // the text of the field at fault
    std::size_t offset = 0, line = 0;
    std::string text;   // the whole line
    std::size_t other_line = 0;  // for a duplicate: where it stood first
    std::string other_text;
};

struct TextTable {
    Table table;
    TextFacts facts;
};

TextTable read_text(Bytes text, const TextLayout& layout, unsigned threads, Progress& progress);

}  // namespace cranfield
