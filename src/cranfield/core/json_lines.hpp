// Rows from JSON lines: an object a line, of which a few values are wanted.
//
// What is taken is what Python's json takes, and means the same. Anything else, and whatever is rare (half a character, a
// key twice, NaN, a number beyond doubles, a tag that is a list), is not understood: the reader in Python tells what it is.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "bytes.hpp"

namespace cranfield {

// Which value of an object is which, counted from 0; -1 where there is none.
struct JsonColumns {
    int topic = -1, doc = -1, value = -1, tag = -1;
};

// Says of the keys of an object which is which, or nothing where this reader should not go on.
using JsonNames = std::function<std::optional<JsonColumns>(const std::vector<Bytes>& keys)>;

struct NotUnderstood : std::runtime_error {
    NotUnderstood() : std::runtime_error("not understood") {}
};

struct JsonRow {
    Bytes topic, doc, tag;
    double value = 0;
    bool tagged = false;
};

class JsonLines {
public:
    using Labels = std::unordered_map<std::string, double>;

    // Ids that are written with escapes are kept in the arena, all others point into the text.
    JsonLines(const JsonNames& names, const Labels& labels, Arena& arena, const char* end)
        : names_(names), labels_(labels), arena_(arena), end_(end) {}

    // Reads the object that starts here and gives the end of its line.
    const char* read(const char* begin, JsonRow& row);

private:
    enum class Role : unsigned char { none, topic, doc, value, tag };

    // Lines whose keys are written alike: what stands before each value, up to the colon.
    struct Shape {
        std::vector<std::string> leads;
        std::vector<Role> roles;
    };

    bool fits(const Shape& shape, const char*& p, JsonRow& row);
    const Shape& shape_of(const char* p);
    std::vector<Role> roles_of(const std::vector<Bytes>& keys) const;

    const char* after_blanks(const char* p) const {
        while (p < end_ && (*p == ' ' || *p == '\t')) ++p;
        return p;
    }
    bool is(const char* p, char c) const { return p < end_ && *p == c; }
    const char* past(const char* p, char c) const;
    const char* string_end(const char* p, bool& escaped) const;
    const char* number_end(const char* p, bool& whole) const;
    bool word(const char*& p, Bytes expected) const;
    bool infinity(const char*& p) const;

    Bytes string(const char*& p);
    Bytes unescaped(const char* p, const char* end);
    Bytes integer(const char*& p) const;
    Bytes id(const char*& p);
    double number(const char*& p) const;
    void tag(const char*& p, JsonRow& row);
    void skip(const char*& p, int depth);
    void skip_list(const char*& p, int depth);
    void skip_object(const char*& p, int depth);

    const JsonNames& names_;
    const Labels& labels_;
    Arena& arena_;
    const char* const end_;
    std::deque<Shape> shapes_;
    const Shape* last_ = nullptr;
};

}  // namespace cranfield
