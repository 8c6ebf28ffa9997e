// Texts as terms: words are found, numbered and counted here; what a word is stemmed to is asked for once a word.
// Numbers depend on the threads, and so none of them leaves the core: terms come out in their own order.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hashing.hpp"

namespace cranfield {

// A text as Python holds it, whose characters are 1, 2 or 4 bytes wide. If it is not ASCII, it is in lower case already.
struct PlainText {
    const void* data;
    std::size_t length;
    int width;
    bool ascii;
};

// Words begin with a letter, a digit or an underscore, as \w of Python's regular expressions has them, and go on with
// these or with a mark (of the basic plane), for two characters at least.
class WordCharacters {
public:
    explicit WordCharacters(const std::vector<std::uint32_t>& marks);
    bool begins(std::uint32_t c) const { return c < plane_.size() ? plane_[c] == begins_word : is_word(c); }
    bool goes_on(std::uint32_t c) const { return c < plane_.size() ? plane_[c] != 0 : is_word(c); }

private:
    static constexpr unsigned char mark = 1, begins_word = 2;
    static bool is_word(std::uint32_t c);
    std::vector<unsigned char> plane_;
};

// Texts and their numbers, in the order in which they came.
class Vocabulary {
public:
    static std::uint32_t hash(Bytes text) { return hash_bytes(text.data(), text.size(), hash_keys()); }
    // Has memory fetched that `number` will look at.
    void expect(std::uint32_t hash) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
    }
    std::uint32_t number(Bytes text, std::uint32_t hash);  // a new one if it is not there
    std::uint32_t number(Bytes text) { return number(text, hash(text)); }
    std::size_t size() const { return texts_.size(); }
    Bytes operator[](std::size_t number) const { return texts_[number]; }

private:
    struct Slot {
        const char* text = nullptr;  // none where it is empty
        std::uint32_t hash = 0, number = 0;
    };
    void grow();
    std::vector<Slot> slots_;
    std::vector<Bytes> texts_;
    std::vector<char> record_;
    Arena arena_;
};

// For each term, in order, the documents that have it and how often. Those of term t stand from starts[t] to starts[t + 1].
struct Postings {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> documents;
    std::vector<std::uint8_t> counts;  // of `width` bytes each, as many as the largest needs: 1, 2 or 4
    std::size_t width = 1;
};

// For each text the hashes of its terms, and of pairs of terms that follow each other, rising, and how often each is there.
struct HashedTerms {
    std::vector<std::int64_t> starts{0};
    std::vector<std::uint32_t> hashes, counts;
};

// Texts are read some at a time: `read` gives the words that are new, `name` takes their terms, and then the texts can be
// counted as documents or hashed.
class TermCounter {
public:
    TermCounter(const std::vector<std::uint32_t>& marks, const std::vector<std::string>& stopped, unsigned threads);
    TermCounter(const TermCounter&) = delete;
    TermCounter& operator=(const TermCounter&) = delete;
    std::vector<Bytes> read(const std::vector<PlainText>& texts);
    void name(const std::vector<Bytes>& terms);

    void count();
    std::size_t documents() const { return documents_.size(); }
    // All documents that were counted, in this order, and the terms; documents are forgotten.
    Postings inverted(const std::vector<std::uint32_t>& order);
    std::vector<Bytes> terms() const;

    // The hash of a term is its CRC-32 without the highest bit, that of a pair the one of both with a blank between, and with it.
    HashedTerms hashed() const;

private:
    struct Worker {
        Vocabulary words;                        // stop words first
        std::vector<std::uint32_t> word, terms;  // of each of them: its number among all words, and its term
        std::vector<char> scratch;
        std::vector<std::pair<Bytes, std::uint32_t>> met;  // words of a text with their hashes
    };
    struct Chunk {
        std::size_t worker = 0;
        std::vector<std::uint32_t> words;  // as its worker numbers them, of all its texts
        std::vector<std::size_t> ends;     // of each text
    };
    void find_words(const PlainText& text, Worker& worker, std::vector<std::uint32_t>& found) const;
    void add_word(Bytes word, std::uint32_t hash, Worker& worker, std::vector<std::uint32_t>& found) const;
    void check_named() const;
    std::vector<std::uint32_t> in_order() const;
    template <typename Count>
    void fill(Postings& made, const std::vector<std::uint32_t>& order, std::vector<std::vector<std::uint64_t>>& places) const;

    WordCharacters characters_;
    std::size_t stopped_;
    unsigned threads_;
    std::vector<Worker> workers_;
    std::vector<Chunk> chunks_;  // of the texts that were read last
    std::vector<std::vector<std::uint32_t>> often_;  // for each part of them: a counter of each term, all 0 between documents
    Vocabulary words_, terms_;
    std::vector<std::uint32_t> term_of_;                 // of each word
    std::vector<std::uint32_t> checksums_;               // of each term, unfinished
    std::vector<std::vector<unsigned char>> records_;    // of documents: how many terms, and each with how often it is there
    std::vector<const unsigned char*> documents_;        // where each begins
    std::uint32_t most_ = 1;
};

}  // namespace cranfield
