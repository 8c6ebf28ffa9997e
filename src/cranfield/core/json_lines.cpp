#include "json_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "numbers.hpp"

namespace cranfield {

namespace {

constexpr std::size_t most_shapes = 64;  // of one part of a text; keys that differ from line to line are for others
constexpr int most_depth = 100;
constexpr std::ptrdiff_t most_digits = 300;  // of a whole number: formats/json_text.py refuses those with more

// The marks of bytes that a string can't just go on with: the quote, the backslash, and control characters.
std::uint64_t marks(std::uint64_t text) {
    constexpr std::uint64_t ones = 0x0101010101010101u;
    const std::uint64_t quotes = text ^ (ones * '"'), backslashes = text ^ (ones * '\\');
    const auto zeros = [](std::uint64_t x) { return (x - ones) & ~x; };
    return (zeros(quotes) | zeros(backslashes) | ((text - ones * 0x20) & ~text)) & (ones * 0x80);
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::uint32_t hex(const char* p) {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) code = code * 16 + static_cast<std::uint32_t>(is_digit(p[i]) ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    return code;
}

void add_utf8(std::string& text, std::uint32_t code) {
    const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
        add(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xE0 | code >> 12);
        } else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
        }
        add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
}

void all_different(std::vector<Bytes> keys) {
    std::sort(keys.begin(), keys.end());
    if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) throw NotUnderstood();
}

}  // namespace

const char* JsonLines::read(const char* begin, JsonRow& row) {
    const char* p = begin;
    if (!last_ || !fits(*last_, p, row)) {
        last_ = nullptr;
        for (const Shape& shape : shapes_) {
            p = begin;
            if (!fits(shape, p, row)) continue;
            last_ = &shape;
            break;
        }
        if (!last_) {
            last_ = &shape_of(begin);
            p = begin;
            if (!fits(*last_, p, row)) throw NotUnderstood();
        }
    }
    p = after_blanks(p);
    if (p < end_ && *p != '\n' && *p != '\r') throw NotUnderstood();
    return p;
}

// Whether the keys of an object are those of a shape, written alike; if so, the row has its values.
bool JsonLines::fits(const Shape& shape, const char*& p, JsonRow& row) {
    row.tagged = false;
    for (std::size_t i = 0; i < shape.leads.size(); ++i) {
        const std::string& lead = shape.leads[i];
        p = after_blanks(p);
        if (static_cast<std::size_t>(end_ - p) < lead.size() || !same_bytes(p, lead.data(), lead.size())) return false;
        p = after_blanks(p + lead.size());
        switch (shape.roles[i]) {
            case Role::none: skip(p, 0); break;
            case Role::topic: row.topic = id(p); break;
            case Role::doc: row.doc = id(p); break;
            case Role::value: row.value = number(p); break;
            case Role::tag: tag(p, row); break;
        }
    }
    p = after_blanks(p);
    if (!is(p, '}')) return false;
    ++p;
    return true;
}

// The shape of an object that has none of those that are known.
const JsonLines::Shape& JsonLines::shape_of(const char* p) {
    if (shapes_.size() == most_shapes) throw NotUnderstood();
    Shape shape;
    std::vector<Bytes> keys;
    const char* lead = p;
    p = after_blanks(past(p, '{'));
    for (;;) {
        keys.push_back(string(p));
        p = past(after_blanks(p), ':');
        shape.leads.emplace_back(lead, p);
        p = after_blanks(p);
        skip(p, 0);
        lead = p = after_blanks(p);
        if (is(p, '}')) break;
        p = after_blanks(past(p, ','));
    }
    shape.roles = roles_of(keys);
    return shapes_.emplace_back(std::move(shape));
}

std::vector<JsonLines::Role> JsonLines::roles_of(const std::vector<Bytes>& keys) const {
    all_different(keys);
    const std::optional<JsonColumns> at = names_(keys);
    if (!at) throw NotUnderstood();
    std::vector<Role> roles(keys.size(), Role::none);
    for (const auto& [place, role] : {std::pair(at->tag, Role::tag), std::pair(at->topic, Role::topic),
                                      std::pair(at->doc, Role::doc), std::pair(at->value, Role::value)}) {
        if (place < 0 && role == Role::tag) continue;
        const auto number = static_cast<std::size_t>(place);
        if (place < 0 || number >= keys.size() || roles[number] != Role::none) throw NotUnderstood();
        roles[number] = role;
    }
    return roles;
}

const char* JsonLines::past(const char* p, char c) const {
    if (!is(p, c)) throw NotUnderstood();
    return p + 1;
}

// Where the string that starts here ends: at its quote. Its escapes are looked at, not what they stand for.
const char* JsonLines::string_end(const char* p, bool& escaped) const {
    escaped = false;
    for (;;) {
        while (end_ - p >= 8) {
            const std::uint64_t found = marks(load8(p));
            p += found ? __builtin_ctzll(found) / 8 : 8;
            if (found) break;
        }
        while (p < end_ && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
        if (is(p, '"')) return p;
        if (!is(p, '\\')) throw NotUnderstood();
        escaped = true;
        if (++p == end_) throw NotUnderstood();
        if (*p == 'u') {
            if (end_ - p < 5 || !std::all_of(p + 1, p + 5, is_hex)) throw NotUnderstood();
            p += 5;
        } else {
            if (Bytes("\"\\/bfnrt").find(*p) == Bytes::npos) throw NotUnderstood();
            ++p;
        }
    }
}

Bytes JsonLines::string(const char*& p) {
    bool escaped;
    const char* const begin = past(p, '"');
    const char* const stop = string_end(begin, escaped);
    p = stop + 1;
    return escaped ? unescaped(begin, stop) : Bytes(begin, static_cast<std::size_t>(stop - begin));
}

// The text of a string whose escapes have been looked at.
Bytes JsonLines::unescaped(const char* p, const char* end) {
    std::string text;
    while (p < end) {
        if (*p != '\\') {
            text += *p++;
            continue;
        }
        constexpr Bytes letters = "bfnrt", meant = "\b\f\n\r\t";
        const char c = p[1];
        p += 2;
        if (c != 'u') {
            const std::size_t letter = letters.find(c);
            text += letter == Bytes::npos ? c : meant[letter];
            continue;
        }
        std::uint32_t code = hex(p);
        p += 4;
        if (code >= 0xD800 && code < 0xE000) {  // half a character: the other half must follow
            if (code >= 0xDC00 || end - p < 6 || p[0] != '\\' || p[1] != 'u') throw NotUnderstood();
            const std::uint32_t low = hex(p + 2);
            if (low < 0xDC00 || low >= 0xE000) throw NotUnderstood();
            code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
            p += 6;
        }
        add_utf8(text, code);
    }
    return arena_.keep(Bytes(text));
}

// Where the number that starts here ends, and whether it has neither a fraction nor an exponent.
const char* JsonLines::number_end(const char* p, bool& whole) const {
    const auto digits = [this](const char* from) {
        const char* to = from;
        while (to < end_ && is_digit(*to)) ++to;
        if (to == from) throw NotUnderstood();
        return to;
    };
    if (is(p, '-')) ++p;
    p = is(p, '0') ? p + 1 : digits(p);
    whole = true;
    if (is(p, '.')) {
        whole = false;
        p = digits(p + 1);
    }
    if (is(p, 'e') || is(p, 'E')) {
        whole = false;
        ++p;
        p = digits(is(p, '+') || is(p, '-') ? p + 1 : p);
    }
    return p;
}

// The digits of a whole number as Python would print it.
Bytes JsonLines::integer(const char*& p) const {
    bool whole;
    const char* const begin = p;
    p = number_end(p, whole);
    if (!whole || p - begin > most_digits) throw NotUnderstood();
    const Bytes digits(begin, static_cast<std::size_t>(p - begin));
    return digits == "-0" ? digits.substr(1) : digits;
}

Bytes JsonLines::id(const char*& p) { return is(p, '"') ? string(p) : integer(p); }

bool JsonLines::word(const char*& p, Bytes expected) const {
    if (static_cast<std::size_t>(end_ - p) < expected.size() || Bytes(p, expected.size()) != expected) return false;
    p += expected.size();
    return true;
}

bool JsonLines::infinity(const char*& p) const { return word(p, "Infinity") || word(p, "-Infinity"); }

double JsonLines::number(const char*& p) const {
    const char* const begin = p;
    if (is(p, '"')) {
        bool escaped;
        const char* const stop = string_end(p + 1, escaped);
        const auto label = escaped ? labels_.end() : labels_.find(std::string(p + 1, stop));
        if (label == labels_.end()) throw NotUnderstood();
        p = stop + 1;
        return label->second;
    }
    if (infinity(p)) return *begin == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    bool whole;
    p = number_end(p, whole);
    double value;
    if (whole && p - begin > most_digits) throw NotUnderstood();
    if (parse_decimal(begin, p, end_, value) != NumberFault::none) throw NotUnderstood();
    return whole && value == 0 ? 0.0 : value;  // -0 is a whole number, and has no sign
}

// A tag as Python would print it.
void JsonLines::tag(const char*& p, JsonRow& row) {
    if (word(p, "null")) return;
    row.tagged = true;
    if (word(p, "true")) {
        row.tag = "True";
    } else if (word(p, "false")) {
        row.tag = "False";
    } else {
        row.tag = id(p);
    }
    if (row.tag.empty()) throw NotUnderstood();
}

// Passes over a value that is not wanted, and does not understand one that would be refused.
void JsonLines::skip(const char*& p, int depth) {
    if (p == end_ || depth == most_depth) throw NotUnderstood();
    if (*p == '"') {
        bool escaped;
        p = string_end(p + 1, escaped) + 1;
    } else if (*p == '{') {
        skip_object(p, depth);
    } else if (*p == '[') {
        skip_list(p, depth);
    } else if (!word(p, "null") && !word(p, "true") && !word(p, "false") && !infinity(p)) {
        number(p);
    }
}

void JsonLines::skip_list(const char*& p, int depth) {
    p = after_blanks(p + 1);
    if (!is(p, ']')) {
        for (;;) {
            skip(p, depth + 1);
            p = after_blanks(p);
            if (is(p, ']')) break;
            p = after_blanks(past(p, ','));
        }
    }
    ++p;
}

void JsonLines::skip_object(const char*& p, int depth) {
    std::vector<Bytes> keys;
    p = after_blanks(p + 1);
    if (!is(p, '}')) {
        for (;;) {
            keys.push_back(string(p));
            p = after_blanks(past(after_blanks(p), ':'));
            skip(p, depth + 1);
            p = after_blanks(p);
            if (is(p, '}')) break;
            p = after_blanks(past(p, ','));
        }
    }
    ++p;
    all_different(std::move(keys));
}

}  // namespace cranfield
