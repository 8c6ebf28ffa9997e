#include "terms.hpp"

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "faults.hpp"
#include "parallel.hpp"

namespace cranfield {

namespace {

constexpr std::size_t chunk_texts = 256;
constexpr std::uint32_t pair_bit = 1u << 31;

// The letters, digits and underscores of ASCII in lower case; 0 for what is in no word.
constexpr std::array<char, 128> make_ascii_words() {
    std::array<char, 128> lower{};
    for (char c = '0'; c <= '9'; ++c) lower[static_cast<std::size_t>(c)] = c;
    for (char c = 'a'; c <= 'z'; ++c) lower[static_cast<std::size_t>(c)] = c;
    for (char c = 'A'; c <= 'Z'; ++c) lower[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
    lower['_'] = '_';
    return lower;
}

constexpr std::array<char, 128> ascii_words = make_ascii_words();

constexpr std::array<std::uint32_t, 256> make_checksum_steps() {
    std::array<std::uint32_t, 256> steps{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value & 1) ? 0xEDB88320u ^ value >> 1 : value >> 1;
        steps[byte] = value;
    }
    return steps;
}

constexpr std::array<std::uint32_t, 256> checksum_steps = make_checksum_steps();

// CRC-32 as zlib has it; begins with ~0, and what comes out is inverted in the end.
std::uint32_t checksum(std::uint32_t state, Bytes text) {
    for (const char c : text) state = checksum_steps[(state ^ static_cast<unsigned char>(c)) & 0xFF] ^ state >> 8;
    return state;
}

void append_character(std::vector<char>& text, std::uint32_t c) {
    const auto put = [&text](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        put(0xE0 | c >> 12);
        put(0x80 | (c >> 6 & 0x3F));
        put(0x80 | (c & 0x3F));
    } else {
        put(0xF0 | c >> 18);
        put(0x80 | (c >> 12 & 0x3F));
        put(0x80 | (c >> 6 & 0x3F));
        put(0x80 | (c & 0x3F));
    }
}

// Numbers of as many bytes as they need, seven bits in each.
void append_number(std::vector<unsigned char>& record, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) record.push_back(static_cast<unsigned char>(value | 0x80));
    record.push_back(static_cast<unsigned char>(value));
}

std::uint64_t next_number(const unsigned char*& at) {
    std::uint64_t value = *at & 0x7F;
    for (unsigned shift = 7; *at++ & 0x80; shift += 7) value |= static_cast<std::uint64_t>(*at & 0x7F) << shift;
    return value;
}

// Calls visit(term, count) for each term of a document.
template <typename Visit>
void for_each_term(const unsigned char* document, const Visit& visit) {
    for (std::uint64_t left = next_number(document); left > 0; --left) {
        const std::uint64_t head = next_number(document);  // most terms are there once: a bit tells
        visit(static_cast<std::size_t>(head >> 1), head & 1 ? static_cast<std::uint32_t>(next_number(document)) : 1u);
    }
}

// The part of `count` things that is the i-th of several.
std::pair<std::size_t, std::size_t> part_of(std::size_t count, std::size_t i, std::size_t parts) {
    return {count * i / parts, count * (i + 1) / parts};
}

// Calls visit(position, is_first) for the characters of a word, character by character.
template <typename Character, typename Found>
void find_wide_words(const Character* text, std::size_t length, const WordCharacters& characters, const Found& found) {
    std::size_t i = 0;
    while (i < length) {
        if (!characters.begins(text[i])) {
            ++i;
            continue;
        }
        const std::size_t start = i++;
        while (i < length && characters.goes_on(text[i])) ++i;
        if (i - start >= 2) found(start, i);
    }
}

}  // namespace

WordCharacters::WordCharacters(const std::vector<std::uint32_t>& marks) : plane_(0x10000) {
    for (std::uint32_t c = 0; c < plane_.size(); ++c) plane_[c] = is_word(c) ? begins_word : 0;
    for (const std::uint32_t c : marks) {
        if (c >= plane_.size()) throw UsageFault("marks are characters of the basic plane");
        if (plane_[c] == 0) plane_[c] = mark;
    }
}

bool WordCharacters::is_word(std::uint32_t c) { return c == '_' || Py_UNICODE_ISALNUM(static_cast<Py_UCS4>(c)); }

std::uint32_t Vocabulary::number(Bytes text, std::uint32_t hash) {
    if (2 * texts_.size() >= slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot].text; slot = (slot + 1) & mask) {
        if (slots_[slot].hash != hash) continue;
        // The length stands before the text, so that both are fetched at once.
        std::uint32_t length;
        std::memcpy(&length, slots_[slot].text, sizeof length);
        if (length == text.size() && same_bytes(slots_[slot].text + sizeof length, text.data(), length)) return slots_[slot].number;
    }
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() / 2;
    if (texts_.size() >= most) throw DataFault("has more than two thousand million different words");
    if (text.size() >= most) throw DataFault("has a word of more than two thousand million characters");
    const auto length = static_cast<std::uint32_t>(text.size());
    record_.resize(sizeof length + length);
    std::memcpy(record_.data(), &length, sizeof length);
    std::memcpy(record_.data() + sizeof length, text.data(), length);
    const char* const kept = arena_.keep(record_.data(), record_.size());
    slots_[slot] = {kept, hash, static_cast<std::uint32_t>(texts_.size())};
    texts_.emplace_back(kept + sizeof length, length);
    return slots_[slot].number;
}

void Vocabulary::grow() {
    std::vector<Slot> larger(std::max<std::size_t>(1024, 2 * slots_.size()));
    const std::size_t mask = larger.size() - 1;
    for (const Slot& known : slots_) {
        if (!known.text) continue;
        std::size_t slot = known.hash & mask;
        while (larger[slot].text) slot = (slot + 1) & mask;
        larger[slot] = known;
    }
    slots_.swap(larger);
}

TermCounter::TermCounter(const std::vector<std::uint32_t>& marks, const std::vector<std::string>& stopped, unsigned threads)
    : characters_(marks), threads_(std::max(threads, 1u)), workers_(threads_) {
    for (Worker& worker : workers_) {
        for (const std::string& word : stopped) worker.words.number(word);
        worker.word.resize(worker.words.size());
        worker.terms.resize(worker.words.size());
    }
    stopped_ = workers_.front().words.size();
}

void TermCounter::add_word(Bytes word, std::uint32_t hash, Worker& worker, std::vector<std::uint32_t>& found) const {
    const std::uint32_t number = worker.words.number(word, hash);
    if (number >= stopped_) found.push_back(number);
}

void TermCounter::find_words(const PlainText& text, Worker& worker, std::vector<std::uint32_t>& found) const {
    std::vector<char>& scratch = worker.scratch;
    if (text.ascii) {
        const char* const given = static_cast<const char*>(text.data);
        scratch.resize(text.length + 1);
        for (std::size_t i = 0; i < text.length; ++i) scratch[i] = ascii_words[static_cast<unsigned char>(given[i])];
        scratch[text.length] = 0;
        const char* const end = scratch.data() + text.length;
        worker.met.clear();
        for (const char* at = scratch.data(); at < end; ++at) {
            if (*at == 0) continue;
            const char* const start = at;
            while (*at != 0) ++at;
            if (at - start < 2) continue;
            const Bytes word(start, static_cast<std::size_t>(at - start));
            worker.met.emplace_back(word, Vocabulary::hash(word));
            worker.words.expect(worker.met.back().second);  // the table is larger than what is near: do not wait for each
        }
        for (const auto& [word, hash] : worker.met) add_word(word, hash, worker, found);
        return;
    }
    const auto in_characters = [&](const auto* characters) {
        find_wide_words(characters, text.length, characters_, [&](std::size_t start, std::size_t end) {
            scratch.clear();
            for (std::size_t i = start; i < end; ++i) append_character(scratch, characters[i]);
            const Bytes word(scratch.data(), scratch.size());
            add_word(word, Vocabulary::hash(word), worker, found);
        });
    };
    if (text.width == 1) {
        in_characters(static_cast<const std::uint8_t*>(text.data));
    } else if (text.width == 2) {
        in_characters(static_cast<const std::uint16_t*>(text.data));
    } else {
        in_characters(static_cast<const std::uint32_t*>(text.data));
    }
}

std::vector<Bytes> TermCounter::read(const std::vector<PlainText>& texts) {
    check_named();
    chunks_.assign((texts.size() + chunk_texts - 1) / chunk_texts, {});
    std::atomic<std::size_t> next{0};
    parallel_for(workers_.size(), threads_, [&](std::size_t w) {
        for (std::size_t c; (c = next.fetch_add(1)) < chunks_.size();) {
            Chunk& chunk = chunks_[c];
            chunk.worker = w;
            for (std::size_t i = c * chunk_texts; i < std::min(texts.size(), (c + 1) * chunk_texts); ++i) {
                find_words(texts[i], workers_[w], chunk.words);
                chunk.ends.push_back(chunk.words.size());
            }
        }
    });
    std::vector<Bytes> fresh;
    for (Worker& worker : workers_) {
        for (std::size_t i = worker.word.size(); i < worker.words.size(); ++i) {
            const std::size_t known = words_.size();
            worker.word.push_back(words_.number(worker.words[i]));
            if (words_.size() > known) fresh.push_back(words_[known]);
        }
    }
    return fresh;
}

void TermCounter::name(const std::vector<Bytes>& terms) {
    if (term_of_.size() + terms.size() != words_.size()) throw UsageFault("every new word has one term");
    for (const Bytes term : terms) {
        const std::size_t known = terms_.size();
        term_of_.push_back(terms_.number(term));
        if (terms_.size() > known) checksums_.push_back(checksum(~0u, term));
    }
    for (Worker& worker : workers_) {
        for (std::size_t i = worker.terms.size(); i < worker.word.size(); ++i) worker.terms.push_back(term_of_[worker.word[i]]);
    }
}

void TermCounter::check_named() const {
    if (term_of_.size() != words_.size()) throw UsageFault("the words that were new have no terms yet");
}

void TermCounter::count() {
    check_named();
    std::vector<std::vector<unsigned char>> made(chunks_.size());
    std::vector<std::vector<std::size_t>> begins(chunks_.size());
    std::vector<std::uint32_t> most(chunks_.size(), 1);
    const std::size_t parts = std::min<std::size_t>(threads_, chunks_.size());
    often_.resize(std::max(often_.size(), parts));
    parallel_for(parts, threads_, [&](std::size_t part) {
        std::vector<std::uint32_t>& often = often_[part];
        std::vector<std::uint32_t> met;
        often.resize(terms_.size());
        std::vector<unsigned char> record;
        const auto [first, last] = part_of(chunks_.size(), part, parts);
        for (std::size_t c = first; c < last; ++c) {
            const Chunk& chunk = chunks_[c];
            const std::vector<std::uint32_t>& terms = workers_[chunk.worker].terms;
            record.clear();
            std::size_t i = 0;
            for (const std::size_t end : chunk.ends) {
                met.clear();
                for (; i < end; ++i) {
                    if (often[terms[chunk.words[i]]]++ == 0) met.push_back(terms[chunk.words[i]]);
                }
                begins[c].push_back(record.size());
                append_number(record, met.size());
                for (const std::uint32_t term : met) {
                    append_number(record, static_cast<std::uint64_t>(term) << 1 | (often[term] > 1));
                    if (often[term] > 1) append_number(record, often[term]);
                    most[c] = std::max(most[c], often[term]);
                    often[term] = 0;
                }
            }
            made[c].assign(record.begin(), record.end());  // no larger than it must be
        }
    });
    for (std::size_t c = 0; c < made.size(); ++c) {
        records_.push_back(std::move(made[c]));
        for (const std::size_t begin : begins[c]) documents_.push_back(records_.back().data() + begin);
        most_ = std::max(most_, most[c]);
    }
    if (documents_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw DataFault("has more than two thousand million documents");
    }
    chunks_.clear();
}

std::vector<std::uint32_t> TermCounter::in_order() const {
    std::vector<std::uint32_t> numbers(terms_.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::sort(numbers.begin(), numbers.end(), [this](std::uint32_t a, std::uint32_t b) { return terms_[a] < terms_[b]; });
    return numbers;
}

std::vector<Bytes> TermCounter::terms() const {
    std::vector<Bytes> sorted;
    sorted.reserve(terms_.size());
    for (const std::uint32_t term : in_order()) sorted.push_back(terms_[term]);
    return sorted;
}

template <typename Count>
void TermCounter::fill(Postings& made, const std::vector<std::uint32_t>& order,
                       std::vector<std::vector<std::uint64_t>>& places) const {
    made.width = sizeof(Count);
    made.counts.resize(made.documents.size() * sizeof(Count));
    unsigned char* const counts = made.counts.data();
    parallel_for(places.size(), threads_, [&](std::size_t part) {
        const auto [first, last] = part_of(order.size(), part, places.size());
        for (std::size_t d = first; d < last; ++d) {
            for_each_term(documents_[order[d]], [&](std::size_t term, std::uint32_t times) {
                const std::uint64_t place = places[part][term]++;
                const Count kept = static_cast<Count>(times);
                made.documents[place] = static_cast<std::int32_t>(d);
                std::memcpy(counts + place * sizeof(Count), &kept, sizeof(Count));
            });
        }
    });
}

Postings TermCounter::inverted(const std::vector<std::uint32_t>& order) {
    if (order.size() != documents_.size()) throw UsageFault("the order has not as many documents as were counted");
    std::vector<bool> placed(order.size());
    for (const std::uint32_t document : order) {
        if (document >= order.size() || placed[document]) throw UsageFault("an order has each document once");
        placed[document] = true;
    }
    std::vector<std::vector<std::uint64_t>> places(std::max<std::size_t>(1, std::min<std::size_t>(threads_, order.size())));
    parallel_for(places.size(), threads_, [&](std::size_t part) {
        places[part].assign(terms_.size(), 0);
        const auto [first, last] = part_of(order.size(), part, places.size());
        for (std::size_t d = first; d < last; ++d) {
            for_each_term(documents_[order[d]], [&](std::size_t term, std::uint32_t) { ++places[part][term]; });
        }
    });
    // Until here how many postings each part has of a term; from here on where its next one goes.
    Postings made;
    made.starts.reserve(terms_.size() + 1);
    std::uint64_t total = 0;
    for (const std::uint32_t term : in_order()) {
        made.starts.push_back(static_cast<std::int64_t>(total));
        for (auto& of_part : places) total += std::exchange(of_part[term], total);
    }
    made.starts.push_back(static_cast<std::int64_t>(total));
    made.documents.resize(total);
    if (most_ <= std::numeric_limits<std::uint8_t>::max()) {
        fill<std::uint8_t>(made, order, places);
    } else if (most_ <= std::numeric_limits<std::uint16_t>::max()) {
        fill<std::uint16_t>(made, order, places);
    } else {
        fill<std::uint32_t>(made, order, places);
    }
    records_.clear();
    documents_.clear();
    return made;
}

HashedTerms TermCounter::hashed() const {
    check_named();
    std::vector<HashedTerms> made(chunks_.size());
    parallel_for(chunks_.size(), threads_, [&](std::size_t c) {
        const Chunk& chunk = chunks_[c];
        const std::vector<std::uint32_t>& terms = workers_[chunk.worker].terms;
        HashedTerms& of_chunk = made[c];
        std::vector<std::uint32_t> hashes;
        std::size_t i = 0;
        for (const std::size_t end : chunk.ends) {
            hashes.clear();
            for (const std::size_t first = i; i < end; ++i) {
                const std::uint32_t term = terms[chunk.words[i]];
                hashes.push_back(~checksums_[term] & ~pair_bit);
                if (i == first) continue;
                const std::uint32_t before = checksum(checksums_[terms[chunk.words[i - 1]]], " ");
                hashes.push_back(~checksum(before, terms_[term]) | pair_bit);
            }
            std::sort(hashes.begin(), hashes.end());
            for (std::size_t h = 0; h < hashes.size();) {
                const std::size_t start = h;
                while (h < hashes.size() && hashes[h] == hashes[start]) ++h;
                of_chunk.hashes.push_back(hashes[start]);
                of_chunk.counts.push_back(static_cast<std::uint32_t>(h - start));
            }
            of_chunk.starts.push_back(static_cast<std::int64_t>(of_chunk.hashes.size()));
        }
    });
    HashedTerms all;
    for (const HashedTerms& part : made) {
        const std::int64_t before = all.starts.back();
        for (std::size_t i = 1; i < part.starts.size(); ++i) all.starts.push_back(before + part.starts[i]);
        all.hashes.insert(all.hashes.end(), part.hashes.begin(), part.hashes.end());
        all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
    }
    return all;
}

}  // namespace cranfield
