#include "arrow_stream.hpp"

#include <array>
#include <cerrno>
#include <exception>
#include <vector>

namespace cranfield {

namespace {

constexpr std::size_t columns = 3;
constexpr std::size_t rows_in_batch = std::size_t{1} << 18;

bool is_utf8(Bytes text) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = p + text.size();
    const auto follows = [&](int count, unsigned char least, unsigned char most) {
        if (end - p <= count || p[1] < least || p[1] > most) return false;
        for (int i = 2; i <= count; ++i) {
            if (p[i] < 0x80 || p[i] > 0xBF) return false;
        }
        p += count + 1;
        return true;
    };
    while (p < end) {
        if (*p < 0x80) {
            ++p;
        } else if (*p >= 0xC2 && *p <= 0xDF) {
            if (!follows(1, 0x80, 0xBF)) return false;
        } else if (*p >= 0xE0 && *p <= 0xEF) {  // neither longer than need be nor half of a surrogate pair
            if (!follows(2, *p == 0xE0 ? 0xA0 : 0x80, *p == 0xED ? 0x9F : 0xBF)) return false;
        } else if (*p >= 0xF0 && *p <= 0xF4) {
            if (!follows(3, *p == 0xF0 ? 0x90 : 0x80, *p == 0xF4 ? 0x8F : 0xBF)) return false;
        } else {
            return false;
        }
    }
    return true;
}

// Large strings, or large bytes where a string would not be right.
const char* id_format(bool utf8) { return utf8 ? "U" : "Z"; }

// Key and value, each after its length, in the order of bytes of this machine.
std::string encoded(const std::string& metadata) {
    std::string out;
    const auto number = [&out](std::int32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
    number(1);
    for (const Bytes text : {metadata_key, Bytes(metadata)}) {
        number(static_cast<std::int32_t>(text.size()));
        out.append(text);
    }
    return out;
}

struct Source {
    std::shared_ptr<const Table> table;
    std::array<std::string, columns> names, formats;
    std::string metadata, error;
    std::size_t next_topic = 0;
};

struct SchemaParts {
    std::string format, name, metadata;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> pointers;
    SchemaParts() = default;
    SchemaParts(const SchemaParts&) = delete;
    SchemaParts& operator=(const SchemaParts&) = delete;
    ~SchemaParts() {
        for (auto& child : children) {
            if (child.release) child.release(&child);
        }
    }
};

void release_schema(ArrowSchema* schema) {
    delete static_cast<SchemaParts*>(schema->private_data);
    schema->release = nullptr;
}

// `parts` belongs to the schema from here on.
void fill(ArrowSchema& schema, std::unique_ptr<SchemaParts> parts) {
    schema = ArrowSchema{};
    for (auto& child : parts->children) parts->pointers.push_back(&child);
    schema.format = parts->format.c_str();
    schema.name = parts->name.c_str();
    schema.metadata = parts->metadata.empty() ? nullptr : parts->metadata.data();
    schema.n_children = static_cast<std::int64_t>(parts->children.size());
    schema.children = parts->pointers.data();
    schema.release = release_schema;
    schema.private_data = parts.release();
}

void fill_schema(const Source& source, ArrowSchema& schema) {
    auto parts = std::make_unique<SchemaParts>();
    parts->format = "+s";
    parts->metadata = source.metadata;
    parts->children.resize(columns);
    for (std::size_t i = 0; i < columns; ++i) {
        auto child = std::make_unique<SchemaParts>();
        child->format = source.formats[i];
        child->name = source.names[i];
        fill(parts->children[i], std::move(child));
    }
    fill(schema, std::move(parts));
}

struct Strings {
    std::vector<std::int64_t> offsets{0};
    std::vector<char> bytes;
    void add(Bytes text) {
        bytes.insert(bytes.end(), text.begin(), text.end());
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
};

struct Batch {
    Strings topics, documents;
    std::vector<double> values;
};

// A column may outlive the batch it came in: each holds on to the memory of all.
struct ColumnParts {
    std::shared_ptr<const Batch> batch;
    std::array<const void*, 3> buffers{};
};

void release_column(ArrowArray* column) {
    delete static_cast<ColumnParts*>(column->private_data);
    column->release = nullptr;
}

struct BatchParts {
    std::array<ArrowArray, columns> children{};
    std::array<ArrowArray*, columns> pointers{};
    const void* no_nulls = nullptr;
    BatchParts() = default;
    BatchParts(const BatchParts&) = delete;
    BatchParts& operator=(const BatchParts&) = delete;
    ~BatchParts() {
        for (auto& child : children) {
            if (child.release) child.release(&child);
        }
    }
};

void release_batch(ArrowArray* batch) {
    delete static_cast<BatchParts*>(batch->private_data);
    batch->release = nullptr;
}

ArrowArray column(const std::shared_ptr<const Batch>& batch, std::array<const void*, 3> buffers, std::int64_t count) {
    auto parts = std::make_unique<ColumnParts>(ColumnParts{batch, buffers});
    ArrowArray array{};
    array.length = static_cast<std::int64_t>(batch->values.size());
    array.n_buffers = count;
    array.buffers = parts->buffers.data();
    array.release = release_column;
    array.private_data = parts.release();
    return array;
}

// The next topics; an array that is released already where there are none.
void fill_batch(Source& source, ArrowArray& out) {
    out = ArrowArray{};
    const auto& topics = source.table->topics();
    if (source.next_topic >= topics.size()) return;
    const auto rows = std::make_shared<Batch>();
    for (; source.next_topic < topics.size() && rows->values.size() < rows_in_batch; ++source.next_topic) {
        const Topic& topic = topics[source.next_topic];
        for_rows_as_read(topic, [&](const Row& row) {
            rows->topics.add(topic.id);
            rows->documents.add(row.id());
            rows->values.push_back(row.value);
        });
    }
    const std::shared_ptr<const Batch> batch = rows;
    const auto strings = [&](const Strings& ids) {
        return column(batch, {nullptr, ids.offsets.data(), ids.bytes.data()}, 3);
    };
    auto parts = std::make_unique<BatchParts>();
    parts->children[0] = strings(batch->topics);
    parts->children[1] = strings(batch->documents);
    parts->children[2] = column(batch, {nullptr, batch->values.data(), nullptr}, 2);
    for (std::size_t i = 0; i < columns; ++i) parts->pointers[i] = &parts->children[i];
    out.length = static_cast<std::int64_t>(batch->values.size());
    out.n_buffers = 1;
    out.n_children = columns;
    out.buffers = &parts->no_nulls;
    out.children = parts->pointers.data();
    out.release = release_batch;
    out.private_data = parts.release();
}

// Calls of the interface are C: what goes wrong is a number, and a text for whoever asks.
template <typename Work>
int guarded(ArrowArrayStream* stream, const Work& work) {
    auto& source = *static_cast<Source*>(stream->private_data);
    try {
        work(source);
        return 0;
    } catch (const std::exception& error) {
        source.error = error.what();
        return ENOMEM;
    }
}

}  // namespace

ArrowArrayStream* arrow_stream(std::shared_ptr<const Table> table, std::string value_name, std::string metadata) {
    bool topics = true, documents = true;
    for (const auto& topic : table->topics()) {
        topics = topics && is_utf8(topic.id);
        for (std::size_t i = 0; documents && i < topic.count; ++i) documents = is_utf8(topic.rows[i].id());
    }
    auto source = std::make_unique<Source>();
    source->table = std::move(table);
    source->names = {"topic", "document", std::move(value_name)};
    source->formats = {id_format(topics), id_format(documents), "g"};
    source->metadata = encoded(metadata);
    auto* const stream = new ArrowArrayStream{};
    stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
        return guarded(s, [out](Source& from) { fill_schema(from, *out); });
    };
    stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
        return guarded(s, [out](Source& from) { fill_batch(from, *out); });
    };
    stream->get_last_error = [](ArrowArrayStream* s) {
        const auto& text = static_cast<Source*>(s->private_data)->error;
        return text.empty() ? nullptr : text.c_str();
    };
    stream->release = [](ArrowArrayStream* s) {
        delete static_cast<Source*>(s->private_data);
        s->release = nullptr;
    };
    stream->private_data = source.release();
    return stream;
}

}  // namespace cranfield
