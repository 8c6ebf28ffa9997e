#include "text.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <type_traits>

#include "join.hpp"
#include "mapped_files.hpp"
#include "numbers.hpp"
#include "separators.hpp"

namespace cranfield {

namespace {

constexpr Bytes byte_order_mark = "\xEF\xBB\xBF";

bool is_marked(Bytes text) { return text.substr(0, byte_order_mark.size()) == byte_order_mark; }

struct Fields {
    std::vector<Bytes> at;
    int count() const { return static_cast<int>(at.size()); }
    void add(const char* begin, const char* end) { at.emplace_back(begin, static_cast<std::size_t>(end - begin)); }
    Bytes operator[](int i) const { return at[static_cast<std::size_t>(i)]; }
};

const char* line_end(const char* p, const char* end) {
    while (p < end && !is_newline(*p)) ++p;
    return p;
}

const char* after_newline(const char* p, const char* end) {
    if (p < end && *p == '\r' && p + 1 < end && p[1] == '\n') return p + 2;
    return p < end ? p + 1 : end;
}

// Reads one part of the text into a block.
class ChunkReader {
public:
    ChunkReader(Bytes chunk, const TextLayout& layout, Block& block)
        : begin_(chunk.data()), end_(chunk.data() + chunk.size()), layout_(layout), block_(block) {
        const Judging& judging = layout.judging;
        if (judging.judgements) joiner_.emplace(*judging.judgements, judging.ties_in_input_order);
    }

    TextFacts read() {
        if (end_ - begin_ > std::int64_t{0xFFFFFFFF}) fail(begin_, "long-line", {});  // positions have 32 bits
        if (!joiner_ && layout_.shares == 0) reserve();
        lines();
        if (layout_.shares > 0) {
            block_.gather(scratch_);
        } else {
            block_.finish_last(scratch_);
        }
        return std::move(facts_);
    }

private:
    // The rows to come, judged by the first lines: memory is taken once, and only touched as it fills.
    void reserve() {
        std::size_t lines = 0;
        const char* const stop = end_ - begin_ > 4096 ? begin_ + 4096 : end_;
        for (const char* p = begin_; p < stop; ++p) lines += is_newline(*p);
        const auto sample = static_cast<std::size_t>(stop - begin_);
        block_.reserve((lines + 1) * (static_cast<std::size_t>(end_ - begin_) / (sample + 1) + 1), layout_.rank >= 0);
    }

    void lines() {
        if (layout_.json) return objects();
        Separators separators(begin_, end_, layout_.delimiter);
        if (layout_.delimiter != ' ') return lines<Delimited>(separators);
        if (is<TrecRun>()) return lines<TrecRun>(separators);
        if (is<TrecQrels>()) return lines<TrecQrels>(separators);
        lines<OtherBlanks>(separators);
    }

    // Field numbers known when compiled, for the two layouts whose speed matters.
    struct TrecRun {
        static constexpr int topic = 0, doc = 2, value = 4, rank = 3, tag = 5, fields = 6;
    };
    struct TrecQrels {
        static constexpr int topic = 0, doc = 2, value = 3, rank = -1, tag = -1, fields = 4;
    };
    struct OtherBlanks {};
    struct Delimited {};

    template <typename Known>
    bool is() const {
        return layout_.topic == Known::topic && layout_.doc == Known::doc && layout_.value == Known::value &&
               layout_.rank == Known::rank && layout_.tag == Known::tag && layout_.min_fields == Known::fields;
    }

    template <typename Kind>
    void lines(Separators& separators) {
        Fields fields;
        for (const char* line = begin_; line < end_;) {
            if constexpr (std::is_same_v<Kind, TrecRun> || std::is_same_v<Kind, TrecQrels>) {
                // The line as almost all are: as many fields as there must be, one blank between two of them.
                if (const std::uint32_t* const ends = separators.plain_line(Kind::fields)) {
                    const auto field = [&](int i) {
                        const char* const start = i == 0 ? line : begin_ + ends[i - 1] + 1;
                        return Bytes(start, static_cast<std::size_t>(begin_ + ends[i] - start));
                    };
                    take(line, Kind::fields, Kind{}, field);
                    line = after_newline(begin_ + ends[Kind::fields - 1], end_);
                    continue;
                }
            }
            line = general_line<!std::is_same_v<Kind, Delimited>>(line, separators, fields);
        }
    }

    // JSON lines.
    void objects() {
        JsonLines reader(*layout_.json, layout_.labels, block_.arena, end_);
        JsonRow row;
        for (const char* p = begin_; p < end_;) {
            if (is_blank(*p) || is_newline(*p)) {
                ++p;
                continue;
            }
            p = reader.read(p, row);
            take(row);
        }
    }

    // Any line at all, and the place where errors are found. Returns the start of the next one.
    template <bool Blanks>
    const char* general_line(const char* line, Separators& separators, Fields& fields) {
        fields.at.clear();
        bool quoted = false;
        const char* start = line;
        const char* stop;
        for (;;) {
            stop = separators.next();
            if (stop == end_ || is_newline(*stop)) break;
            if (Blanks ? is_blank(*stop) : *stop == layout_.delimiter) {
                if (!Blanks || stop > start) fields.add(start, stop);
                if (!Blanks) quoted |= *start == '"';
                start = stop + 1;
            } else if (*stop == '\0') {
                fail(stop, "nul", {});
            }  // any other control character is part of a field
        }
        if (stop > start || (!Blanks && fields.count() > 0)) fields.add(start, stop);
        if (!Blanks && layout_.quotes && (quoted || (start < end_ && *start == '"'))) split_quoted(line, stop, fields);
        const bool blank_line = fields.count() == 1 && std::all_of(fields[0].begin(), fields[0].end(), is_blank);
        if (fields.count() > 0 && !blank_line) {
            const bool too_few = fields.count() < layout_.min_fields;
            if (!too_few && (layout_.max_fields == 0 || fields.count() <= layout_.max_fields)) {
                take(line, fields.count(), layout_, [&](int i) { return fields[i]; });
            } else if (*line == '#' || is_comment(line, fields[0])) {
                ++facts_.comments;
            } else {
                fail(line, too_few ? "few-fields" : "many-fields", std::to_string(fields.count()));
            }
        }
        return after_newline(stop, end_);
    }

    void split_quoted(const char* line, const char* stop, Fields& fields) {
        fields.at.clear();
        const char* p = line;
        for (;;) {
            if (p < stop && *p == '"') {
                const Bytes field = unquoted(line, p, stop);
                fields.at.push_back(field);
                if (p < stop && *p != layout_.delimiter) fail(line, "quote", {});
            } else {
                const char* const start = p;
                while (p < stop && *p != layout_.delimiter) ++p;
                fields.add(start, p);
            }
            if (p >= stop) return;
            ++p;
        }
    }

    // The field that starts with this quote; almost all of them have none inside, and stay where they are.
    Bytes unquoted(const char* line, const char*& p, const char* stop) {
        const char* const begin = ++p;
        std::string plain;
        for (const char* from = begin;;) {
            const auto left = static_cast<std::size_t>(stop - p);
            p = left > 0 ? static_cast<const char*>(std::memchr(p, '"', left)) : nullptr;
            if (!p) fail(line, "quote", {});
            const bool doubled = p + 1 < stop && p[1] == '"';
            if (!doubled && plain.empty()) return {begin, static_cast<std::size_t>(p++ - begin)};
            plain.append(from, p + doubled);
            from = p += 1 + doubled;
            if (!doubled) return block_.arena.keep(Bytes(plain));
        }
    }

    // Whether a lone "#" stands in front, which makes any line a comment. A topic named "#2" does not, nor one in quotes.
    // formats/format.py has the same rule for the readers that need not be fast.
    bool is_comment(const char* line, Bytes first) const {
        while (!first.empty() && is_blank(first[0])) first.remove_prefix(1);
        const bool marked = !first.empty() && first[0] == '#' && (first.size() == 1 || is_blank(first[1]));
        return marked && !(layout_.quotes && *line == '"');
    }

    // One row. field(i) gives its i-th field, `at` says which is which.
    template <typename FieldNumbers, typename Field>
    void take(const char* line, int count, const FieldNumbers& at, const Field& field) {
        const Bytes topic = field(at.topic);
        // What starts a comment is never a topic, so that where topics come first only a new one has to be looked at.
        const bool new_topic = is_new(topic);
        if ((new_topic || at.topic != 0) && is_comment(line, field(0))) {
            ++facts_.comments;
            return;
        }
        if (new_topic && is_marked(topic)) fail(line, "mark", {});
        if (new_topic) look_where(topic);
        if (elsewhere_ && layout_.share > 0) return;  // it is looked at when the first share is read
        const Bytes doc = field(at.doc);
        const Bytes value_text = field(at.value);
        double value = 0;
        const char* const value_end = value_text.data() + value_text.size();
        NumberFault fault = parse_decimal(value_text.data(), value_end, limit_of(value_text), value);
        if (fault == NumberFault::not_a_number && is_label(value_text, value)) fault = NumberFault::none;
        std::int32_t rank = 0;
        bool rank_fault = false;
        if (at.rank >= 0) {
            const Bytes text = field(at.rank);
            rank_fault = !parse_rank(text.data(), text.data() + text.size(), limit_of(text), rank);
        }
        if (fault != NumberFault::none || rank_fault) {
            if (fault == NumberFault::nan) fail(line, "nan", value_text);
            if (fault == NumberFault::overflow) fail(line, "overflow", value_text);
            if (fault != NumberFault::none) fail(line, "not-a-number", value_text);
            fail(line, "rank", field(at.rank));
        }
        if (topic.empty() || doc.empty()) fail(line, "empty-id", {});
        if (layout_.kind != ValueKind::score && std::isinf(value)) fail(line, "infinite", value_text);
        if (layout_.kind == ValueKind::rank && value != std::floor(value)) fail(line, "rank", value_text);
        if (at.tag >= 0 && at.tag < count) note_tag(field(at.tag));
        if (elsewhere_) return;
        add(topic, new_topic, doc, value);
        if (at.rank >= 0) block_.add_rank(rank);
    }

    void take(const JsonRow& row) {
        const bool new_topic = is_new(row.topic);
        if (new_topic) look_where(row.topic);
        if (elsewhere_ && layout_.share > 0) return;
        if (row.topic.empty() || row.doc.empty()) throw NotUnderstood();
        if (layout_.kind != ValueKind::score && std::isinf(row.value)) throw NotUnderstood();
        if (layout_.kind == ValueKind::rank && row.value != std::floor(row.value)) throw NotUnderstood();
        if (row.tagged) note_tag(row.tag);
        if (!elsewhere_) add(row.topic, new_topic, row.doc, row.value);
    }

    bool is_new(Bytes topic) const { return last_topic_.empty() || !same_bytes(topic, last_topic_); }

    // Up to where a number may be looked at together with what follows it: a field that was in quotes may be a copy.
    const char* limit_of(Bytes field) const {
        const std::less<> before;
        const bool in_text = !layout_.quotes || (!before(field.data(), begin_) && before(field.data(), end_));
        return in_text ? end_ : field.data() + field.size();
    }

    // Of a topic that follows another, whether it is of the share that is read.
    void look_where(Bytes topic) {
        if (layout_.shares == 0) return;
        elsewhere_ = share_of(topic, layout_.shares) != layout_.share;
        if (elsewhere_) last_topic_ = topic;
    }

    void add(Bytes topic, bool new_topic, Bytes doc, double value) {
        if (layout_.kind == ValueKind::rank) value = -value;
        if (new_topic) {
            begin_topic(topic);
            last_topic_ = topic;
        }
        const char* const kept = layout_.copy_ids ? block_.arena.keep(doc.data(), doc.size()) : doc.data();
        if (layout_.shares > 0) {
            block_.add_scattered(kept, doc.size(), value);
        } else {
            block_.add(kept, doc.size(), value);
        }
    }

    void begin_topic(Bytes topic) {
        if (layout_.shares > 0) return block_.resume(topic);
        // Before its rows are judged one by one: where topics take turns line by line, all of them would be kept.
        if (joiner_ && block_.has(topic)) throw ScatteredTopic();
        block_.finish_last(scratch_);
        if (joiner_ && block_.segments().size() > 1) block_.judge_last(*joiner_);
        block_.open(topic);
    }

    // Whether a field is a label that stands for a number. Only asked where it is no number itself.
    bool is_label(Bytes text, double& value) const {
        if (layout_.labels.empty()) return false;
        const auto label = layout_.labels.find(std::string(text));
        if (label == layout_.labels.end()) return false;
        value = label->second;
        return true;
    }

    void note_tag(Bytes tag) {
        if (!same_bytes(tag, Bytes(facts_.tag))) {
            facts_.several_tags |= facts_.tagged;
            facts_.tag = tag;
        }
        facts_.tagged = true;
    }

    [[noreturn]] void fail(const char* at, const char* code, Bytes field) const {
        TextError error(code, std::string(field));
        error.offset = static_cast<std::size_t>(at - begin_);
        throw error;
    }

    const char* const begin_;
    const char* const end_;
    const TextLayout& layout_;
    Block& block_;
    std::optional<Joiner> joiner_;
    Scratch scratch_;
    TextFacts facts_;
    Bytes last_topic_;
    bool elsewhere_ = false;  // the topic is of another share
};

// Physical lines, from 1: LF, CR LF and a lone CR each end one.
std::size_t line_number(Bytes text, std::size_t offset) {
    std::size_t number = 1;
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    for (const char* p = begin; p < begin + offset;) {
        p = line_end(p, begin + offset);
        if (p < begin + offset) {
            p = after_newline(p, end);
            ++number;
        }
    }
    return number;
}

Bytes line_at(Bytes text, std::size_t offset) {
    std::size_t begin = offset;
    while (begin > 0 && !is_newline(text[begin - 1])) --begin;
    const char* const stop = line_end(text.data() + offset, text.data() + text.size());
    return text.substr(begin, static_cast<std::size_t>(stop - (text.data() + begin)));
}

void locate(TextError& error, Bytes text) {
    error.line = line_number(text, error.offset);
    error.text = line_at(text, error.offset);
}

// Reads the text again, line by line, for the two lines of a duplicate: slow, but only ever done once.
TextError locate_duplicate(const ConflictingDuplicate& duplicate, Bytes text, const TextLayout& layout) {
    TextError error("duplicate", duplicate.doc);
    std::size_t number = 0;
    const char* const end = text.data() + text.size();
    for (const char* line = text.data(); line < end;) {
        const char* const stop = line_end(line, end);
        ++number;
        const Bytes found(line, static_cast<std::size_t>(stop - line));
        const bool possible = layout.quotes || found.find(duplicate.doc) != Bytes::npos;
        if (possible && number > static_cast<std::size_t>(layout.header_lines)) {
            Block one;
            TextLayout body = layout;
            body.header_lines = 0;
            body.judging = {};
            ChunkReader(found, body, one).read();
            std::vector<Block> blocks;
            blocks.push_back(std::move(one));
            const Table table(std::move(blocks), 1);
            const Topic* topic = table.find(duplicate.topic);
            if (topic && topic->rows[0].id() == Bytes(duplicate.doc)) {
                const double value = topic->rows[0].value;
                if (error.other_line == 0 && value == duplicate.first) {
                    error.other_line = number;
                    error.other_text = found;
                } else if (error.other_line != 0 && value != duplicate.first) {
                    error.line = number;
                    error.text = found;
                    return error;
                }
            }
        }
        line = after_newline(stop, end);
    }
    return error;
}

// The parts that are read side by side. The cut depends on the size alone: whatever the number of threads, the blocks are
// the same.
std::vector<Bytes> parts_of(Bytes body) {
    constexpr std::size_t least = std::size_t{1} << 19, most = std::size_t{1} << 24;
    const std::size_t piece = std::min(std::max(least, body.size() / 64), most);
    const char* const end = body.data() + body.size();
    std::vector<Bytes> parts;
    const char* begin = body.data();
    while (static_cast<std::size_t>(end - begin) > piece + piece / 2) {
        const char* const cut = after_newline(line_end(begin + piece, end), end);
        parts.emplace_back(begin, static_cast<std::size_t>(cut - begin));
        begin = cut;
    }
    parts.emplace_back(begin, static_cast<std::size_t>(end - begin));
    return parts;
}

// A mapped file of more bytes does not stay in memory while it is read. For smaller ones, of which there may be thousands, it
// is not worth stopping all threads, as the system does to take pages away.
bool is_too_large_to_stay(Bytes text, const TextLayout& layout) {
    return layout.mapped && text.size() > std::size_t{1} << 25;
}

Bytes without_mark(Bytes text) {
    if (is_marked(text)) text.remove_prefix(byte_order_mark.size());
    return text;
}

Bytes without_header(Bytes text, int lines) {
    const char* const end = text.data() + text.size();
    const char* body = text.data();
    for (int i = 0; i < lines; ++i) body = after_newline(line_end(body, end), end);
    return {body, static_cast<std::size_t>(end - body)};
}

TextFacts together(const std::vector<TextFacts>& parts) {
    TextFacts all;
    for (const auto& part : parts) {
        all.comments += part.comments;
        if (!part.tagged) continue;  // it has no row
        all.several_tags |= part.several_tags || (all.tagged && part.tag != all.tag);
        all.tag = part.tag;
        all.tagged = true;
    }
    return all;
}

// Reads the parts of a text, one a task. An error says where in the text it is.
TextTable read_parts(Bytes text, const std::vector<Bytes>& parts, const TextLayout& layout, unsigned threads,
                     Progress& progress) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < parts.size(); ++i) blocks.emplace_back(layout.kind != ValueKind::grade);
    std::vector<TextFacts> facts(parts.size());
    const bool lets_go = is_too_large_to_stay(text, layout);
    DiskParts disk(layout.file, layout.start, parts, threads);
    parallel_for(parts.size(), threads, [&](std::size_t i) {
        const DiskParts::Part part = disk.take(i);
        const bool fetches = lets_go && part.is_mapped();
        if (fetches && i < threads) fetch(parts[i]);
        if (fetches && i + threads < parts.size()) fetch(parts[i + threads]);
        try {
            facts[i] = ChunkReader(part.text(), layout, blocks[i]).read();
        } catch (TextError& error) {
            error.offset += static_cast<std::size_t>(parts[i].data() - text.data());
            throw;
        }
        if (!part.is_mapped()) blocks[i].own_ids();
        if (lets_go) let_go(parts[i]);
        progress.done += parts[i].size();
    });
    TextTable out;
    out.table = Table(std::move(blocks), threads);
    out.table.judging = layout.judging;
    out.facts = together(facts);
    return out;
}

// Judges a text in which topics stand in several places: some topics at a time, so that memory does not follow the file.
TextTable read_scattered(Bytes text, const std::vector<Bytes>& parts, const TextLayout& layout, unsigned threads,
                         Progress& progress) {
    constexpr std::size_t bytes_at_once = std::size_t{1} << 28;  // their rows take about twice as much memory
    TextLayout share = layout;
    share.judging = {};
    share.copy_ids = true;  // whoever orders rows looks at their ids: pages of a mapped file would come back, all of them
    share.shares = static_cast<std::uint32_t>(text.size() / bytes_at_once + 1);
    TextTable out;
    for (share.share = 0; share.share < share.shares; ++share.share) {
        progress.total += text.size();
        TextTable part = read_parts(text, parts, share, threads, progress);
        out.table.add_judged(part.table, layout.judging, threads);
        if (share.share == 0) out.facts = std::move(part.facts);
    }
    out.table.complete();
    return out;
}

}  // namespace

TextTable read_text(Bytes whole, const TextLayout& layout, unsigned threads, Progress& progress) {
    const Bytes text = without_mark(whole);
    const std::vector<Bytes> parts = [&] {
        const LookedAtHereAndThere looked(is_too_large_to_stay(text, layout) ? text : Bytes());
        return parts_of(without_header(text, layout.header_lines));
    }();
    progress.total += text.size();  // several files may be read with one progress
    try {
        try {
            return read_parts(text, parts, layout, threads, progress);
        } catch (const ScatteredTopic&) {
            return read_scattered(text, parts, layout, threads, progress);
        }
    } catch (TextError& error) {
        locate(error, text);
        error.offset += whole.size() - text.size();
        throw;
    } catch (const ConflictingDuplicate& duplicate) {
        if (layout.json) throw NotUnderstood();
        throw locate_duplicate(duplicate, text, layout);
    }
}

TextStream::TextStream(TextLayout layout, unsigned threads) : layout_(std::move(layout)) {
    layout_.copy_ids = false;
    try {
        // Whoever feeds is busy making the next piece.
        for (unsigned i = 1; i < std::max(threads, 2u); ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // fewer will do, and without any the pieces are read as they come
    }
}

TextStream::~TextStream() { stop(); }

void TextStream::stop() {
    failed_ = true;
    end();
}

void TextStream::end() {
    {
        const std::lock_guard<std::mutex> locked(lock_);
        ended_ = true;
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
    workers_.clear();
}

void TextStream::work() {
    std::unique_lock<std::mutex> locked(lock_);
    for (;;) {
        changed_.wait(locked, [this] { return ended_ || next_ < pieces_.size(); });
        if (next_ == pieces_.size()) return;
        Piece& piece = pieces_[next_++];
        locked.unlock();
        read(piece);
        locked.lock();
        changed_.notify_all();  // whoever feeds may wait for room
    }
}

void TextStream::read(Piece& piece) noexcept {
    try {
        if (!failed_) piece.facts = ChunkReader(piece.text, layout_, piece.block).read();
        piece.block.own_ids();
        piece.block.shrink();
    } catch (...) {
        failed_ = true;
    }
    std::string().swap(piece.text);
}

void TextStream::add(std::string text) {
    constexpr std::size_t ahead = 4;  // pieces that wait: more would only fill the memory
    std::unique_lock<std::mutex> locked(lock_);
    if (!workers_.empty()) changed_.wait(locked, [this] { return pieces_.size() - next_ < ahead; });
    pieces_.push_back({std::move(text), Block(layout_.kind != ValueKind::grade), {}});
    if (workers_.empty()) {
        next_ = pieces_.size();
        read(pieces_.back());
    }
    locked.unlock();
    changed_.notify_all();
}

bool TextStream::feed(Bytes piece) {
    constexpr std::size_t least = std::size_t{1} << 20;
    rest_.append(piece);
    if (rest_.size() < least) return !failed_;
    // A CR at the very end may belong to an LF that is still to come.
    const auto ends_line = [&](std::size_t at) {
        return rest_[at - 1] == '\n' || (rest_[at - 1] == '\r' && at < rest_.size());
    };
    std::size_t cut = rest_.size();
    while (cut > without_end_ && !ends_line(cut)) --cut;
    if (cut == without_end_) {
        without_end_ = rest_.size() - (rest_.back() == '\r');
        return !failed_;
    }
    std::string text = rest_.substr(0, cut);
    rest_.erase(0, cut);
    without_end_ = 0;
    if (!started_) text = without_header(without_mark(text), layout_.header_lines);
    started_ = true;
    add(std::move(text));
    return !failed_;
}

std::optional<TextTable> TextStream::finish() {
    if (!started_) rest_ = without_header(without_mark(rest_), layout_.header_lines);
    if (!rest_.empty()) add(std::move(rest_));
    end();
    if (failed_) return std::nullopt;
    std::vector<Block> blocks;
    std::vector<TextFacts> facts;
    for (auto& piece : pieces_) {
        blocks.push_back(std::move(piece.block));
        facts.push_back(std::move(piece.facts));
    }
    pieces_.clear();
    try {
        TextTable out;
        out.table = Table(std::move(blocks), 1);
        out.table.judging = layout_.judging;
        out.facts = together(facts);
        return out;
    } catch (const ScatteredTopic&) {
    } catch (const ConflictingDuplicate&) {
    }
    return std::nullopt;
}

}  // namespace cranfield
