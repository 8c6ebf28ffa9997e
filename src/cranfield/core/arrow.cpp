#include "arrow.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "join.hpp"
#include "parallel.hpp"

namespace cranfield {

std::string in_digits(double number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

namespace {

std::shared_ptr<ArrowSchema> schema_of(ArrowArrayStream& stream) {
    std::shared_ptr<ArrowSchema> schema(new ArrowSchema{}, [](ArrowSchema* s) {
        if (s->release) s->release(s);
        delete s;
    });
    if (stream.get_schema(&stream, schema.get()) != 0) {
        const char* const message = stream.get_last_error(&stream);
        throw FrameError(message ? message : "the data frame gave no schema");
    }
    return schema;
}

// One column of one batch. `offset` counts the rows that a slice of the batch leaves out in front.
struct Column {
    const ArrowSchema& type;
    const ArrowArray& array;
    std::int64_t offset;
    std::string name;

    template <typename T>
    const T* buffer(int i) const {
        return static_cast<const T*>(array.buffers[i]);
    }
    bool is_null(std::int64_t i) const {
        if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return false;
        const auto at = static_cast<std::size_t>(i + offset);
        return (buffer<std::uint8_t>(0)[at / 8] >> (at % 8) & 1) == 0;
    }
};

std::string type_name(const Column& column) { return column.type.format; }

// The whole numbers of a column, of whatever width; those of 64 bits without a sign come as their bits. What they are is
// asked row by row: that foretells better than a call.
class Integers {
public:
    static bool are_in(const Column& column) {
        const Bytes format = column.type.format;
        return format.size() == 1 && Bytes("cCsSiIlL").find(format[0]) != Bytes::npos;
    }
    explicit Integers(const Column& column)
        : values_(column.array.buffers[1]), offset_(column.offset), width_(column.type.format[0]) {}
    bool have_no_sign() const { return width_ == 'L'; }
    std::int64_t operator()(std::int64_t i) const {
        switch (width_) {
        case 'c': return at<std::int8_t>(i);
        case 'C': return at<std::uint8_t>(i);
        case 's': return at<std::int16_t>(i);
        case 'S': return at<std::uint16_t>(i);
        case 'i': return at<std::int32_t>(i);
        case 'I': return at<std::uint32_t>(i);
        default: return at<std::int64_t>(i);
        }
    }

private:
    template <typename T>
    T at(std::int64_t i) const {
        return static_cast<const T*>(values_)[i + offset_];
    }
    const void* values_;
    std::int64_t offset_;
    char width_;
};

// The ids of a column. Those in string buffers stay where they are; numbers are written into the arena.
class IdReader {
public:
    IdReader(const Column& column, Arena& arena) : column_(column), format_(column.type.format), arena_(arena) {
        const auto is = [&](std::initializer_list<Bytes> formats) {
            return std::find(formats.begin(), formats.end(), format_) != formats.end();
        };
        if (is({"u", "z"})) {
            form_ = Form::text;
        } else if (is({"U", "Z"})) {
            form_ = Form::large_text;
        } else if (is({"vu", "vz"})) {
            form_ = Form::text_view;
        } else if (Integers::are_in(column_)) {
            numbers_.emplace(column_);
        } else {
            throw FrameError("column '" + column_.name + "' has Arrow type '" + std::string(format_) +
                             "'; ids are strings or integers");
        }
        if (column_.type.dictionary) {
            dictionary_ = std::make_unique<Column>(
                Column{*column_.type.dictionary, *column_.array.dictionary, column_.array.dictionary->offset, column_.name});
            entries_ = std::make_unique<IdReader>(*dictionary_, arena_);
        }
    }
    // A row without an id, or one whose place in a dictionary has none.
    bool is_null(std::int64_t i) const {
        return column_.is_null(i) || (entries_ && dictionary_->array.null_count != 0 && entries_->is_null(place_of(i)));
    }
    Bytes operator()(std::int64_t i) {
        const std::int64_t at = i + column_.offset;
        switch (form_) {
        case Form::text: return slice(column_.buffer<std::int32_t>(1), at);
        case Form::large_text: return slice(column_.buffer<std::int64_t>(1), at);
        case Form::text_view: return view(column_.buffer<char>(1) + 16 * at);
        default: break;
        }
        const std::int64_t number = (*numbers_)(i);
        if (number == last_number_ && !last_.empty()) return last_;  // as topics are, row after row
        last_ = entries_ ? (*entries_)(place_of(i)) : digits(number);
        last_number_ = number;
        return last_;
    }

private:
    enum class Form { text, large_text, text_view, number };  // a number may be that of an entry in a dictionary

    // Which entry of the dictionary a row has; damaged files, and arrays that nobody checked, have some beyond its end.
    std::int64_t place_of(std::int64_t i) const {
        const std::int64_t place = (*numbers_)(i);
        if (place < 0 || place >= dictionary_->array.length) {
            throw FrameError("column '" + column_.name + "' refers to entries that its dictionary does not have");
        }
        return place;
    }
    template <typename Offset>
    Bytes slice(const Offset* offsets, std::int64_t at) const {
        return {column_.buffer<char>(2) + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
    }
    // A string view: its length, then either 12 bytes of text or a prefix, a buffer number and an offset.
    Bytes view(const char* view) const {
        const auto length = static_cast<std::size_t>(load4(view));
        if (length <= 12) return {view + 4, length};
        return {column_.buffer<char>(2 + static_cast<int>(load4(view + 8))) + load4(view + 12), length};
    }
    Bytes digits(std::int64_t number) {
        char digits[24];
        const bool has_sign = !numbers_->have_no_sign();
        const auto end = has_sign ? std::to_chars(digits, digits + sizeof digits, number).ptr
                                  : std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(number)).ptr;
        return arena_.keep(Bytes(digits, static_cast<std::size_t>(end - digits)));
    }
    const Column& column_;
    const Bytes format_;
    Arena& arena_;
    Form form_ = Form::number;
    std::unique_ptr<Column> dictionary_;
    std::unique_ptr<IdReader> entries_;
    std::optional<Integers> numbers_;
    std::int64_t last_number_ = 0;
    Bytes last_;  // the same as text
};

// A 16-bit float: sign, 5 bits of exponent, 10 of fraction.
double half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? std::nan("") : HUGE_VAL)
                   : exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

// The scores or grades of a column.
class Numbers {
public:
    explicit Numbers(const Column& column) : column_(column), form_(column.type.format[0]) {
        const bool plain = column.type.dictionary == nullptr;
        if (plain && Integers::are_in(column)) {
            whole_.emplace(column);
        } else if (!plain || Bytes(column.type.format).size() != 1 || Bytes("gfeb").find(form_) == Bytes::npos) {
            throw FrameError("column '" + column.name + "' has Arrow type '" + type_name(column) +
                             "'; a score or grade is a float or an integer");
        }
    }
    double operator()(std::int64_t i) const {
        const std::int64_t at = i + column_.offset;
        switch (form_) {
        case 'g': return column_.buffer<double>(1)[at];
        case 'f': return static_cast<double>(column_.buffer<float>(1)[at]);
        case 'e': return half(column_.buffer<std::uint16_t>(1)[at]);
        case 'b': return static_cast<double>(column_.buffer<std::uint8_t>(1)[at / 8] >> (at % 8) & 1);
        case 'L': return static_cast<double>(column_.buffer<std::uint64_t>(1)[at]);
        default: return static_cast<double>((*whole_)(i));
        }
    }

private:
    const Column& column_;
    char form_;
    std::optional<Integers> whole_;
};

}  // namespace

std::vector<std::string> arrow_columns(ArrowArrayStream& stream) {
    const auto schema = schema_of(stream);
    if (Bytes(schema->format) != "+s") throw FrameError("expected a table with columns, not a single Arrow array");
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < schema->n_children; ++i) names.emplace_back(schema->children[i]->name);
    return names;
}

std::string arrow_metadata(ArrowArrayStream& stream) {
    const auto schema = schema_of(stream);
    if (!schema->metadata) return {};
    const char* p = schema->metadata;
    const auto number = [&p] {
        std::int32_t value;
        std::memcpy(&value, p, sizeof value);
        p += sizeof value;
        return value;
    };
    const auto text = [&] {
        const auto size = static_cast<std::size_t>(std::max(number(), 0));
        const Bytes found(p, size);
        p += size;
        return found;
    };
    for (std::int32_t left = number(); left > 0; --left) {
        const Bytes key = text(), value = text();
        if (key == metadata_key) return std::string(value);
    }
    return {};
}

namespace {

void check_columns(const ArrowSchema& schema, const FrameLayout& layout) {
    for (const int column : {layout.topic, layout.doc, layout.value, std::max(layout.rank, 0)}) {
        if (column < 0 || column >= schema.n_children) throw FrameError("the data frame lacks a column");
    }
}

// Whether what a column holds is text as it stands, or entries of a list of texts.
bool has_texts(const ArrowSchema& column) {
    const char kind = (column.dictionary ? column.dictionary : &column)->format[0];
    return kind == 'u' || kind == 'U' || kind == 'z' || kind == 'Z' || kind == 'v';
}

// None after the last.
std::shared_ptr<ArrowArray> next_batch(ArrowArrayStream& stream) {
    std::shared_ptr<ArrowArray> batch(new ArrowArray{}, [](ArrowArray* a) {
        if (a->release) a->release(a);
        delete a;
    });
    if (stream.get_next(&stream, batch.get()) != 0) {
        const char* const message = stream.get_last_error(&stream);
        throw FrameError(message ? message : "the data frame could not be read");
    }
    return batch->release == nullptr ? nullptr : batch;
}

}  // namespace

Frame::Frame(ArrowArrayStream& stream, const FrameLayout& layout) {
    rows_.layout = layout;
    rows_.schema = schema_of(stream);
    check_columns(*rows_.schema, layout);
    rows_.points = has_texts(*rows_.schema->children[layout.doc]);
    while (auto batch = next_batch(stream)) {
        if (batch->length > 0) batches_.push_back(std::move(batch));
    }
}

void RowReader::read(const ArrowArray& batch, std::int64_t begin, std::int64_t end, std::size_t first_row, Block& block) const {
    const auto column = [&](int i) {
        const ArrowArray& array = *batch.children[i];
        const char* const name = schema->children[i]->name;
        return Column{*schema->children[i], array, array.offset + batch.offset, name ? name : ""};
    };
    const Column topic_column = column(layout.topic), doc_column = column(layout.doc), value_column = column(layout.value);
    Arena passing;  // numbers as text, for as long as the rows are read
    Arena& arena = forgets() ? passing : block.arena;
    std::optional<Joiner> joiner;
    if (shares == 0 && layout.judging.judgements) {
        joiner.emplace(*layout.judging.judgements, layout.judging.ties_in_input_order);
    } else if (shares == 0) {
        block.reserve(static_cast<std::size_t>(end - begin), layout.rank >= 0);
    }
    IdReader topic_of(topic_column, arena), doc_of(doc_column, arena);
    const Numbers value_of(value_column);
    std::optional<Column> rank_column;
    std::optional<Numbers> rank_of;
    if (layout.rank >= 0) {
        rank_column.emplace(column(layout.rank));
        rank_of.emplace(*rank_column);
    }
    Scratch scratch;
    Bytes last_topic = shares > 0 ? Bytes() : block.last_topic();  // which may go on in this batch
    bool elsewhere = false;  // of a topic that is not of the share
    for (std::int64_t i = begin; i < end; ++i) {
        const auto fail = [&](const char* code, const Column& at, std::string field) -> RowError {
            return {code, at.name, first_row + static_cast<std::size_t>(i - begin), std::move(field)};
        };
        if (topic_of.is_null(i)) throw fail("null", topic_column, {});
        if (doc_of.is_null(i)) throw fail("null", doc_column, {});
        if (value_column.is_null(i)) throw fail("null", value_column, {});
        const Bytes topic = topic_of(i);
        const bool same_place = topic.data() == last_topic.data() && topic.size() == last_topic.size();
        const bool is_new = last_topic.empty() || !(same_place || same_bytes(topic, last_topic));
        if (is_new && shares > 0) elsewhere = share_of(topic, shares) != share;
        if (is_new && topic.empty()) throw fail("empty-id", topic_column, {});
        if (elsewhere) {
            last_topic = topic;
            continue;
        }
        const Bytes doc = doc_of(i);
        double value = value_of(i);
        if (doc.empty()) throw fail("empty-id", doc_column, {});
        if (std::isnan(value)) throw fail("nan", value_column, "nan");
        if (layout.kind != ValueKind::score && std::isinf(value)) throw fail("infinite", value_column, "inf");
        if (layout.kind == ValueKind::rank) {
            if (value != std::floor(value)) throw fail("rank", value_column, in_digits(value));
            value = -value;
        }
        if (is_new) {
            if (shares > 0) {
                block.resume(topic);
            } else {
                if (joiner && block.has(topic)) throw ScatteredTopic();
                // The rows of a first topic stay: they get ids of their own before they change places.
                if (joiner && forgets() && block.segments().size() == 1) block.own_ids();
                block.finish_last(scratch);
                if (joiner && block.segments().size() > 1) block.judge_last(*joiner);
                block.open(topic);
            }
            last_topic = topic;
        }
        if (shares > 0) {
            block.add_scattered(block.arena.keep(doc.data(), doc.size()), doc.size(), value);
        } else {
            block.add(doc.data(), doc.size(), value);
        }
        if (layout.rank >= 0) {
            const double rank = rank_column->is_null(i) ? std::nan("") : (*rank_of)(i);
            if (rank != std::floor(rank)) throw fail("rank", *rank_column, in_digits(rank));
            block.add_rank(static_cast<std::int32_t>(std::min(std::max(rank, -2e9), 2e9)));
        }
    }
    if (shares == 0 && forgets()) block.own_ids();
}

void RowReader::finish(Block& block) const {
    Scratch scratch;
    if (shares > 0) {
        block.gather(scratch);
    } else {
        block.finish_last(scratch);
        if (forgets()) block.shrink();
    }
}

Table Frame::table(unsigned threads) const {
    try {
        return read(rows_, threads);
    } catch (const ScatteredTopic&) {
        RowReader kept = rows_;
        kept.layout.judging = {};
        return read(kept, threads);
    }
}

Table Frame::read(const RowReader& rows, unsigned threads) const {
    constexpr std::int64_t rows_in_block = 1 << 16;
    struct Part {
        std::size_t batch;
        std::int64_t begin, end;
        std::size_t row;  // number of the first row in the whole frame
    };
    std::vector<Part> parts;
    std::size_t row = 0;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
        for (std::int64_t begin = 0; begin < batches_[b]->length; begin += rows_in_block) {
            const std::int64_t end = std::min(batches_[b]->length, begin + rows_in_block);
            parts.push_back({b, begin, end, row});
            row += static_cast<std::size_t>(end - begin);
        }
    }
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < parts.size(); ++i) blocks.emplace_back(rows.layout.kind != ValueKind::grade);
    parallel_for(parts.size(), threads, [&](std::size_t p) {
        rows.read(*batches_[parts[p].batch], parts[p].begin, parts[p].end, parts[p].row, blocks[p]);
        rows.finish(blocks[p]);
    });
    Table table(std::move(blocks), threads);
    table.judging = rows.layout.judging;
    if (rows.forgets()) return table;
    for (const auto& batch : batches_) table.owners.push_back(batch);
    table.owners.push_back(rows.schema);
    return table;
}

FrameStream::FrameStream(FrameLayout layout) { rows_.layout = std::move(layout); }

bool FrameStream::read(ArrowArrayStream& part, std::size_t place) {
    Block block(rows_.layout.kind != ValueKind::grade);
    try {
        RowReader rows = rows_;
        rows.schema = schema_of(part);
        check_columns(*rows.schema, rows.layout);
        while (const auto batch = next_batch(part)) {
            if (failed_) return false;
            rows.read(*batch, 0, batch->length, 0, block);
        }
        rows.finish(block);
    } catch (const ScatteredTopic&) {
        failed_ = scattered_ = true;
    } catch (const std::exception&) {  // who reads the whole frame tells which
        failed_ = faulty_ = true;
    }
    const std::lock_guard<std::mutex> locked(lock_);
    parts_.emplace(place, std::move(block));
    return !failed_;
}

void FrameStream::begin_share(std::uint32_t share, std::uint32_t shares) {
    failed_ = false;
    parts_.clear();
    rows_.share = share;
    rows_.shares = shares;
}

bool FrameStream::end_share(unsigned threads) {
    std::vector<Block> blocks;
    for (auto& [place, block] : parts_) blocks.push_back(std::move(block));
    parts_.clear();
    if (failed_) return false;
    const Judging& judging = rows_.layout.judging;
    try {
        Table table(std::move(blocks), threads);
        if (rows_.shares > 0) {
            table_.add_judged(table, judging, threads);
        } else {
            table_ = std::move(table);
            table_.judging = judging;
        }
        return true;
    } catch (const ScatteredTopic&) {
        failed_ = scattered_ = true;
    } catch (const ConflictingDuplicate&) {
        failed_ = faulty_ = true;
    }
    return false;
}

Table FrameStream::finish() {
    if (rows_.shares > 0) table_.complete();
    return std::move(table_);
}

}  // namespace cranfield
