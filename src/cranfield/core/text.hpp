// Reading text, a row a line: TREC runs and qrels, CSV and TSV, JSON lines, at the speed of memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "json_lines.hpp"
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
    std::shared_ptr<const JsonNames> json;  // of JSON lines, which have no fields by number; any fault is `NotUnderstood`
    std::unordered_map<std::string, double> labels;  // the numbers of grades that are words
    bool copy_ids = true;  // false: rows point into the text, which must outlive the table and not change
    bool mapped = false;   // the text is a mapped file: what has been read of it need not stay in memory
    int file = -1;         // the descriptor of one that memory could not hold, mapped from `start` on
    const char* start = nullptr;
    // Of a text in which topics stand scattered, a share is read at a time: topics whose hash has this remainder.
    std::uint32_t share = 0, shares = 0;  // 0 shares: every topic stands in one place, as far as is known
    // Where the rows are wanted only to be joined with these judgements, that is done topic by topic as they are read,
    // and the rows are forgotten: it saves the time to write millions of rows to memory and to fetch them again.
    Judging judging;
    ValueKind kind = ValueKind::score;
};

struct TextFacts {
    std::size_t comments = 0;
    std::string tag;            // on the last line, as trec_eval has it
    bool tagged = false, several_tags = false;
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

// Reads text that comes in pieces, while the next one is made: a compressed file. Rows are judged as they are read, and
// the text is let go. Where a fault is, and what belongs to topics that stand in several places, only the whole text can
// tell: where that is wanted, `finish` gives nothing.
class TextStream {
public:
    TextStream(TextLayout layout, unsigned threads);
    ~TextStream();
    TextStream(const TextStream&) = delete;
    TextStream& operator=(const TextStream&) = delete;
    bool feed(Bytes piece);  // false: there is no use in going on
    std::optional<TextTable> finish();
    void stop();  // whatever has come: nothing will be made of it

private:
    struct Piece {
        std::string text;
        Block block;
        TextFacts facts;
    };
    void work();
    void read(Piece& piece) noexcept;
    void add(std::string text);
    void end();

    TextLayout layout_;
    std::string rest_;              // a line that goes on in the next piece
    std::size_t without_end_ = 0;   // of it so many bytes, in which no line ends
    bool started_ = false;
    std::deque<Piece> pieces_;  // stay where they are while others are added
    std::size_t next_ = 0;      // the first that nobody reads yet
    std::atomic<bool> failed_{false};
    bool ended_ = false;
    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<std::thread> workers_;
};

}  // namespace cranfield
