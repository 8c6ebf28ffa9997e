// The Python face of the core. Every function that may take long releases the interpreter lock.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "arrow.hpp"
#include "arrow_stream.hpp"
#include "faults.hpp"
#include "clicks.hpp"
#include "fusion.hpp"
#include "join.hpp"
#include "numpy.hpp"
#include "objects.hpp"
#include "resampling.hpp"
#include "segments.hpp"
#include "spans.hpp"
#include "table.hpp"
#include "text.hpp"
#include "wire.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cranfield {

namespace {

using Marks = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TextBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::str to_str(Bytes bytes) {
    PyObject* const text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
    if (!text) throw nb::python_error();
    return nb::steal<nb::str>(text);
}

// Memory that was freed stays with the process, up to a limit, instead of going to the system and being fetched again. It
// is for commands alone: a library leaves such things to the program that calls it.
void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 22);
    mallopt(M_TRIM_THRESHOLD, 1 << 25);
#endif
}

nb::bytes to_bytes(Bytes text) { return nb::bytes(text.data(), text.size()); }

Bytes view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

// Calls visit(topic) for every topic and collects what it returns into an array.
template <typename T, typename Visit>
Array<T> per_topic(const Table& table, const Visit& visit) {
    std::vector<T> values;
    values.reserve(table.topics().size());
    for (const auto& topic : table.topics()) values.push_back(static_cast<T>(visit(topic)));
    return to_numpy(std::move(values));
}

void with_rows(const Table& table) {
    if (table.judging.judgements) {
        throw UsageFault("this run was read only to be judged: its rows are gone; read it without judging= to have them");
    }
}

class Buffer {
public:
    explicit Buffer(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    ~Buffer() { PyBuffer_Release(&view_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Bytes bytes() const { return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)}; }

private:
    Py_buffer view_{};
};

constexpr std::pair<const char*, ValueKind> kinds[] = {
    {"score", ValueKind::score}, {"grade", ValueKind::grade}, {"rank", ValueKind::rank}};

ValueKind kind_of(const std::string& name) {
    for (const auto& [known, kind] : kinds) {
        if (name == known) return kind;
    }
    throw nb::value_error("kind is score, grade or rank");
}

const char* name_of(ValueKind kind) {
    return std::find_if(std::begin(kinds), std::end(kinds), [kind](const auto& known) { return known.second == kind; })->first;
}

// A line has at least `min_fields`: what is read of every line is among them.
void check(const TextLayout& layout) {
    const auto is_there = [&layout](int field) { return field >= 0 && field < layout.min_fields; };
    const bool ranked = layout.rank == -1 || is_there(layout.rank);
    if (!is_there(layout.topic) || !is_there(layout.doc) || !is_there(layout.value) || !ranked) {
        throw UsageFault("a layout names a field that lines may lack");
    }
    const bool ends_lines = layout.delimiter == '\n' || layout.delimiter == '\r' || layout.delimiter == '\0';
    if (layout.tag < -1 || layout.max_fields < 0 || layout.header_lines < 0 || ends_lines) {
        throw UsageFault("a layout of text that there can't be");
    }
}

// Core exceptions become one Python exception, CoreError(code, details): cranfield.formats puts it into words.
template <typename... Details>
void raise_core_error(nb::handle type, const std::string& code, Details&&... details) {
    nb::dict fields;
    (fields.update(std::forward<Details>(details)), ...);
    PyErr_SetObject(type.ptr(), nb::make_tuple(code, fields).ptr());
}

template <typename Value>
nb::dict entry(const char* name, Value&& value) {
    nb::dict one;
    one[name] = std::forward<Value>(value);
    return one;
}

ArrowArrayStream& stream_of(nb::capsule capsule) {
    return *static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
}

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IndexPairs = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

Matrix matrix(const Rows& rows) { return {rows.data(), rows.shape(0), rows.shape(1)}; }

Side side(bool one_sided) { return one_sided ? Side::above : Side::both; }

void check_size(const Numbers& numbers, std::size_t size) {
    if (numbers.size() != size) throw nb::value_error("as many numbers are needed as there are rows");
}

std::vector<Pair> pairs_of(const IndexPairs& indices, const Rows& scores) {
    const auto systems = static_cast<std::int64_t>(scores.shape(0));
    std::vector<Pair> pairs(indices.shape(0));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i] = {indices(i, 0), indices(i, 1)};
        for (const auto index : {pairs[i].first, pairs[i].second}) {
            if (index < 0 || index >= systems) throw nb::index_error("a pair names a system that is not there");
        }
    }
    return pairs;
}

// A function of values in segments, which gives a number for each of them or for each segment.
template <typename Function, typename Values>
Array<double> over_segments(Function function, const Offsets& offsets, const Values& x, const char* what, bool for_each_value) {
    check_segments(offsets.data(), offsets.size(), x.size(), what);
    const std::size_t segments = offsets.size() - 1;
    std::vector<double> out(for_each_value ? x.size() : segments);
    function(offsets.data(), segments, x.data(), out.data());
    return to_numpy(std::move(out));
}

// A column of something that Python holds, as a view of its memory.
template <typename T>
Array<const T> column(const std::vector<T>& values) {
    return Array<const T>(values.data(), {values.size()}, nb::handle());
}

// A block of a table to be, kept until all blocks are there.
struct Ranked {
    explicit Ranked(Block ready) : block(std::move(ready)) {}
    Ranked(Ranked&&) noexcept = default;
    Ranked(const Ranked&) = delete;
    Block block;
};

Array<double> over_documents(DocumentNumbers function, const Offsets& document, const Numbers& x, std::size_t documents) {
    same_length(document.size(), x.size());
    return computed([&] { return function(document.data(), x.data(), x.size(), documents); });
}

// Pages in arrays of Python's, looked through before anything relies on them.
struct GivenPages {
    Pages pages;
    std::size_t ranks;

    GivenPages(const Offsets& offsets, const Offsets& pair, const Marks& clicked, const Numbers& weight, const Offsets& query_pages,
               const Offsets& query_pairs)
        : pages{offsets.data(),     offsets.size() - 1, pair.data(), clicked.data(), weight.data(), query_pages.data(),
                query_pairs.data(), query_pages.size() - 1} {
        if (offsets.size() == 0 || query_pages.size() == 0) throw nb::value_error("offsets begin with 0");
        same_length(pair.size(), clicked.size());
        same_length(weight.size() + 1, offsets.size());
        same_length(query_pages.size(), query_pairs.size());
        ranks = check_pages(pages, pair.size());
    }

    Chain chain(const Numbers& attraction, const Numbers& satisfaction, bool by_rank, double onward) const {
        same_length(attraction.size(), pages.pairs());
        same_length(satisfaction.size(), by_rank ? ranks : pages.pairs());
        return {attraction.data(), satisfaction.data(), by_rank, onward};
    }
};

// Asks Python which of the keys of an object are which: (topic, document, value, tag), or None.
JsonNames asked(nb::callable names) {
    return [names = std::move(names)](const std::vector<Bytes>& keys) -> std::optional<JsonColumns> {
        nb::gil_scoped_acquire acquire;
        nb::list given;
        for (const Bytes key : keys) given.append(to_str(key));
        const nb::object told = names(given);
        if (told.is_none()) return std::nullopt;
        const auto [topic, doc, value, tag] = nb::cast<std::tuple<int, int, int, int>>(told);
        return JsonColumns{topic, doc, value, tag};
    };
}

// A stream that Python lets go of: its threads may have to ask Python something before they end.
struct HeldStream : TextStream {
    using TextStream::TextStream;
    ~HeldStream() {
        nb::gil_scoped_release release;
        stop();
    }
};

FrameLayout frame_layout(const std::vector<int>& columns, const std::string& kind, Judging judging) {
    return {columns.at(0), columns.at(1), columns.at(2), columns.at(3), kind_of(kind), std::move(judging)};
}

nb::tuple columns_result(ColumnsTable&& read) { return nb::make_tuple(std::move(read.table), read.padded); }

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Reading, interning, ordering and joining. Knows no measure.";

    hash_keys();  // if they can't be drawn, the module can't be loaded
    m.def("hash_of", [](nb::bytes id) { return HashOfBytes()(view(id)); }, "id"_a);  // for tests: it means nothing outside

    static nb::object core_error = nb::steal(PyErr_NewException("cranfield._core.CoreError", PyExc_Exception, nullptr));
    m.attr("CoreError") = core_error;
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const TextError& e) {
            raise_core_error(core_error, e.code, entry("field", to_bytes(e.field)), entry("line", e.line),
                             entry("offset", e.offset), entry("text", to_bytes(e.text)),
                             entry("other_line", e.other_line), entry("other_text", to_bytes(e.other_text)));
        } catch (const RowError& e) {
            raise_core_error(core_error, e.code, entry("column", e.column), entry("row", e.row),
                             entry("field", to_bytes(e.field)));
        } catch (const ConflictingDuplicate& e) {
            raise_core_error(core_error, "duplicate", entry("topic", to_str(e.topic)), entry("doc", to_str(e.doc)),
                             entry("first", e.first), entry("second", e.second));
        } catch (const NotUnderstood&) {
            raise_core_error(core_error, "not-understood");
        } catch (const FrameError& e) {
            raise_core_error(core_error, "frame", entry("message", std::string(e.what())));
        } catch (const UsageFault& e) {
            PyErr_SetString(nb::module_::import_("cranfield.errors").attr("UsageError").ptr(), e.what());
        } catch (const DataFault& e) {
            PyErr_SetString(nb::module_::import_("cranfield.errors").attr("DataError").ptr(), e.what());
        }
    });

    m.def("keep_freed_memory", &keep_freed_memory);

    nb::class_<Progress>(m, "Progress")
        .def(nb::init<>())
        .def("expect", [](Progress& p, std::size_t more) { p.total += more; }, "more"_a)
        .def("advance", [](Progress& p, std::size_t done) { p.done += done; }, "done"_a)
        .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
        .def_prop_ro("total", [](const Progress& p) { return p.total.load(); });

    nb::class_<Table>(m, "Table")
        .def_prop_ro("row_count", &Table::row_count)
        .def_prop_ro("is_run", &Table::ids_break_ties)
        .def("keep_slots", &Table::keep_slots, "threads"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("topics",
             [](const Table& table) {
                 nb::list ids;
                 for (const auto& topic : table.topics()) ids.append(to_str(topic.id));
                 return ids;
             })
        .def("counts", [](const Table& t) { return per_topic<std::int64_t>(t, [](auto& x) { return x.count; }); })
        .def("tied", [](const Table& t) { return per_topic<std::int64_t>(t, [](auto& x) { return x.facts.tied; }); })
        // A number, not an array: it is asked for while NumPy may still be loading in another thread.
        .def_prop_ro("collapsed_count",
                     [](const Table& t) {
                         std::size_t count = 0;
                         for (const auto& topic : t.topics()) count += topic.facts.collapsed;
                         return count;
                     })
        .def_prop_ro("repeated",
                     [](const Table& t) -> nb::object {
                         for (const auto& topic : t.topics()) {
                             const std::string& document = topic.facts.repeated;
                             if (!document.empty()) return nb::make_tuple(to_str(topic.id), to_str(document));
                         }
                         return nb::none();
                     })
        .def("collapsed", [](const Table& t) { return per_topic<std::int64_t>(t, [](auto& x) { return x.facts.collapsed; }); })
        .def("rank_disagreements",
             [](const Table& t) { return per_topic<std::int64_t>(t, [](auto& x) { return x.facts.rank_disagrees; }); })
        .def("values",
             [](const Table& table) {
                 with_rows(table);
                 std::vector<double> values;
                 values.reserve(table.row_count());
                 for (const auto& topic : table.topics()) {
                     for (std::size_t i = 0; i < topic.count; ++i) values.push_back(topic.rows[i].value);
                 }
                 return to_numpy(std::move(values));
             })
        .def("documents",
             [](const Table& table, nb::bytes topic_id) {
                 with_rows(table);
                 nb::list ids;
                 if (const Topic* topic = table.find(view(topic_id))) {
                     for (std::size_t i = 0; i < topic->count; ++i) ids.append(to_str(topic->rows[i].id()));
                 }
                 return ids;
             },
             "topic"_a)
        .def("fingerprint",
             [](const Table& table) {
                 with_rows(table);
                 nb::gil_scoped_release release;
                 return fingerprint(table);
             })
        .def(
            "note",
            [](Table& table, Counts collapsed, Counts rank_disagreements) {
                same_length(collapsed.size(), table.topics().size());
                same_length(rank_disagreements.size(), table.topics().size());
                const auto copied = [](const Counts& x) { return std::vector<std::uint32_t>(x.data(), x.data() + x.size()); };
                table.note(copied(collapsed), copied(rank_disagreements));
            },
            "collapsed"_a, "rank_disagreements"_a)
        .def(
            "arrow_stream",
            [](std::shared_ptr<const Table> table, const std::string& value_name, nb::bytes metadata) {
                with_rows(*table);
                return nb::steal<nb::capsule>(
                    PyCapsule_New(arrow_stream(std::move(table), value_name, std::string(view(metadata))), "arrow_array_stream",
                                  [](PyObject* capsule) {
                                      auto* const stream = static_cast<ArrowArrayStream*>(
                                          PyCapsule_GetPointer(capsule, "arrow_array_stream"));
                                      if (stream->release) stream->release(stream);
                                      delete stream;
                                  }));
            },
            "value_name"_a, "metadata"_a)
        .def(
            "__reduce_ex__",
            [](const Table& table, int) {
                with_rows(table);
                Wire wire;
                {
                    nb::gil_scoped_release release;
                    wire = to_wire(table);
                }
                // NumPy's arrays leave their memory out of the pickle where the protocol and the caller want it so.
                nb::dict arrays;
                arrays["is_run"] = wire.is_run;
                arrays["topics"] = to_numpy(std::move(wire.topics));
                arrays["topic_lengths"] = to_numpy(std::move(wire.topic_lengths));
                arrays["counts"] = to_numpy(std::move(wire.counts));
                arrays["collapsed"] = to_numpy(std::move(wire.collapsed));
                arrays["rank_disagreements"] = to_numpy(std::move(wire.rank_disagrees));
                arrays["ids"] = to_numpy(std::move(wire.ids));
                arrays["id_lengths"] = to_numpy(std::move(wire.id_lengths));
                arrays["values"] = to_numpy(std::move(wire.values));
                const nb::object arrived = nb::module_::import_("cranfield.travel").attr("table_arrived");
                return nb::make_tuple(arrived, nb::make_tuple(wire_form, arrays));
            },
            "protocol"_a);
    m.attr("WIRE_FORM") = wire_form;
    m.def("check_form", check_form, "form"_a);
    m.def(
        "table_of_wire",
        [](std::int64_t form, bool is_run, TextBytes topics, Counts topic_lengths, Offsets counts, Counts collapsed,
           Counts rank_disagreements, TextBytes ids, Counts id_lengths, Numbers values, unsigned threads) {
            check_form(form);
            WireView wire;
            wire.is_run = is_run;
            wire.topics = {topics.data(), topics.size()};
            wire.topic_lengths = {topic_lengths.data(), topic_lengths.size()};
            wire.counts = {counts.data(), counts.size()};
            wire.collapsed = {collapsed.data(), collapsed.size()};
            wire.rank_disagrees = {rank_disagreements.data(), rank_disagreements.size()};
            wire.ids = {ids.data(), ids.size()};
            wire.id_lengths = {id_lengths.data(), id_lengths.size()};
            wire.values = {values.data(), values.size()};
            Table table;
            {
                nb::gil_scoped_release release;
                table = from_wire(wire, threads);
            }
            table.owners.push_back(std::make_shared<TextBytes>(std::move(ids)));
            return table;
        },
        "form"_a, "is_run"_a, "topics"_a, "topic_lengths"_a, "counts"_a, "collapsed"_a, "rank_disagreements"_a, "ids"_a,
        "id_lengths"_a, "values"_a, "threads"_a);

    nb::class_<TextLayout>(m, "TextLayout")
        .def(
            "__init__",
            [](TextLayout* layout, int topic, int document, int value, int rank, int tag, int min_fields, int max_fields,
               char delimiter, bool quotes, int header_lines, const std::string& kind) {
                TextLayout given;
                given.topic = topic;
                given.doc = document;
                given.value = value;
                given.rank = rank;
                given.tag = tag;
                given.min_fields = min_fields;
                given.max_fields = max_fields;
                given.delimiter = delimiter;
                given.quotes = quotes;
                given.header_lines = header_lines;
                given.kind = kind_of(kind);
                check(given);
                new (layout) TextLayout(std::move(given));
            },
            nb::kw_only(), "topic"_a, "document"_a, "value"_a, "rank"_a = -1, "tag"_a = -1, "min_fields"_a, "max_fields"_a = 0,
            "delimiter"_a = ' ', "quotes"_a = false, "header_lines"_a = 0, "kind"_a)
        .def_static(
            "of_json_lines",
            [](nb::callable names, const std::string& kind) {
                TextLayout layout;
                layout.json = std::make_shared<const JsonNames>(asked(std::move(names)));
                layout.rank = layout.tag = -1;
                layout.kind = kind_of(kind);
                return layout;
            },
            "names"_a, "kind"_a)
        .def_ro("delimiter", &TextLayout::delimiter)
        .def_ro("quotes", &TextLayout::quotes)
        .def_ro("value", &TextLayout::value)
        .def_prop_ro("kind", [](const TextLayout& layout) { return name_of(layout.kind); });
    m.def(
        "read_text",
        [](nb::object source, const TextLayout& layout, std::shared_ptr<const Table> judgements, bool ties_in_input_order,
           unsigned threads, Progress& progress, std::unordered_map<std::string, double> labels) {
            auto buffer = std::make_shared<Buffer>(source);
            TextLayout wanted = layout;
            wanted.labels = std::move(labels);
            wanted.copy_ids = judgements == nullptr;  // what is judged at once may stay in the mapped file meanwhile
            wanted.mapped = nb::isinstance(source, nb::module_::import_("mmap").attr("mmap"));
            if (nb::hasattr(source, "descriptor")) {
                wanted.file = nb::cast<int>(source.attr("descriptor"));
                wanted.start = buffer->bytes().data();
            }
            wanted.judging = {std::move(judgements), ties_in_input_order};
            TextTable read;
            {
                nb::gil_scoped_release release;
                read = read_text(buffer->bytes(), wanted, threads, progress);
            }
            if (!wanted.copy_ids) read.table.owners.push_back(std::move(buffer));
            return nb::make_tuple(std::move(read.table), read.facts.comments, to_str(read.facts.tag), read.facts.several_tags);
        },
        "source"_a, "layout"_a, "judgements"_a.none(), "ties_in_input_order"_a, "threads"_a, "progress"_a,
        "labels"_a = std::unordered_map<std::string, double>());

    m.def(
        "spans_of",
        [](nb::object text, std::size_t most) {
            const Buffer buffer(text);
            Spans spans;
            {
                nb::gil_scoped_release release;
                spans = spans_of(buffer.bytes(), most);
            }
            return nb::make_tuple(to_numpy(std::move(spans.begins)), to_bytes(spans.topics),
                                  to_numpy(std::move(spans.topic_ends)));
        },
        "text"_a, "most"_a);

    nb::class_<HeldStream>(m, "TextStream")
        .def(
            "__init__",
            [](HeldStream* stream, const TextLayout& layout, std::shared_ptr<const Table> judgements,
               bool ties_in_input_order, unsigned threads) {
                TextLayout wanted = layout;
                wanted.judging = {std::move(judgements), ties_in_input_order};
                new (stream) HeldStream(std::move(wanted), threads);
            },
            "layout"_a, "judgements"_a, "ties_in_input_order"_a, "threads"_a)
        .def(
            "feed",
            [](HeldStream& stream, nb::object piece) {
                const Buffer buffer(piece);
                nb::gil_scoped_release release;
                return stream.feed(buffer.bytes());
            },
            "piece"_a)
        .def("finish", [](HeldStream& stream) -> nb::object {
            std::optional<TextTable> read;
            {
                nb::gil_scoped_release release;
                read = stream.finish();
            }
            if (!read) return nb::none();
            return nb::make_tuple(std::move(read->table), read->facts.comments, to_str(read->facts.tag), read->facts.several_tags);
        });

    m.def(
        "read_dict",
        [](nb::dict outer, const std::string& kind, std::shared_ptr<const Table> judgements, bool ties_in_input_order,
           unsigned threads) { return read_dict(outer, kind_of(kind), {std::move(judgements), ties_in_input_order}, threads); },
        "outer"_a, "kind"_a, "judgements"_a.none(), "ties_in_input_order"_a, "threads"_a);

    m.def(
        "read_columns",
        [](nb::list topics, std::size_t per_topic, nb::list docs, nb::object values, const std::string& kind, unsigned threads) {
            return columns_result(read_columns(topics, per_topic, docs, values, kind_of(kind), threads));
        },
        "topics"_a, "per_topic"_a, "docs"_a, "values"_a, "kind"_a, "threads"_a);
    m.def(
        "read_integer_columns",
        [](nb::list topics, std::size_t per_topic, nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> docs,
           nb::object values, std::int64_t padding, const std::string& kind, unsigned threads) {
            return columns_result(read_integer_columns(topics, per_topic, docs, values, padding, kind_of(kind), threads));
        },
        "topics"_a, "per_topic"_a, "docs"_a, "values"_a, "padding"_a, "kind"_a, "threads"_a);

    m.def("arrow_metadata", [](nb::capsule stream) { return to_bytes(arrow_metadata(stream_of(stream))); }, "stream"_a);
    m.def("arrow_columns", [](nb::capsule stream) { return arrow_columns(stream_of(stream)); }, "stream"_a);
    m.def(
        "read_arrow",
        [](nb::capsule stream, const std::vector<int>& columns, const std::string& kind, std::shared_ptr<const Table> judgements,
           bool ties_in_input_order, unsigned threads) {
            // Refuses columns that are not there.
            const Frame frame(stream_of(stream), frame_layout(columns, kind, {std::move(judgements), ties_in_input_order}));
            nb::gil_scoped_release release;
            return frame.table(threads);
        },
        "stream"_a, "columns"_a, "kind"_a, "judgements"_a.none(), "ties_in_input_order"_a, "threads"_a);

    nb::class_<FrameStream>(m, "FrameStream")
        .def(
            "__init__",
            [](FrameStream* stream, const std::vector<int>& columns, const std::string& kind,
               std::shared_ptr<const Table> judgements, bool ties_in_input_order) {
                new (stream) FrameStream(frame_layout(columns, kind, {std::move(judgements), ties_in_input_order}));
            },
            "columns"_a, "kind"_a, "judgements"_a, "ties_in_input_order"_a)
        .def(
            "read",
            [](FrameStream& stream, nb::capsule part, std::size_t place) {
                ArrowArrayStream& batches = stream_of(part);
                nb::gil_scoped_release release;
                return stream.read(batches, place);
            },
            "part"_a, "place"_a)
        .def("begin_share", &FrameStream::begin_share, "share"_a, "shares"_a)
        .def("end_share", &FrameStream::end_share, "threads"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("is_scattered", &FrameStream::is_scattered)
        .def("finish", &FrameStream::finish);

    m.def(
        "join",
        [](const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads) {
            HitColumns hits;
            {
                nb::gil_scoped_release release;
                hits = columns_of(join(run, qrels, ties_in_input_order, threads), qrels, threads);
            }
            return nb::make_tuple(to_numpy(std::move(hits.offsets)), to_numpy(std::move(hits.rank)),
                                  to_numpy(std::move(hits.row)), to_numpy(std::move(hits.tie_first)),
                                  to_numpy(std::move(hits.tie_size)), to_numpy(std::move(hits.retrieved)));
        },
        "run"_a, "qrels"_a, "ties_in_input_order"_a, "threads"_a);

    m.def(
        "odd_grades",
        [](Numbers grades) {
            std::size_t negative = 0, fractional = 0;
            for (std::size_t i = 0; i < grades.size(); ++i) {
                const double grade = grades(i);
                negative += grade < 0;
                // Doubles from 2^53 on are whole; what is below fits an integer, which is quicker than rounding.
                if (!(std::abs(grade) >= 9007199254740992.0)) {
                    fractional += std::isnan(grade) || grade != static_cast<double>(static_cast<std::int64_t>(grade));
                }
            }
            return nb::make_tuple(negative, fractional);
        },
        "grades"_a);
    m.def(
        "segment_sum",
        [](Offsets o, Marks x, const char* of) { return over_segments(segment_sum<bool>, o, x, of, false); }, "offsets"_a,
        "x"_a.noconvert(), "of"_a = "entries");
    m.def(
        "segment_sum",
        [](Offsets o, Numbers x, const char* of) { return over_segments(segment_sum<double>, o, x, of, false); }, "offsets"_a,
        "x"_a, "of"_a = "entries");
    m.def(
        "running_sum",
        [](Offsets o, Marks x, const char* of) { return over_segments(segment_running_sum<bool>, o, x, of, true); }, "offsets"_a,
        "x"_a.noconvert(), "of"_a = "entries");
    m.def(
        "running_sum",
        [](Offsets o, Numbers x, const char* of) { return over_segments(segment_running_sum<double>, o, x, of, true); }, "offsets"_a,
        "x"_a, "of"_a = "entries");
    m.def(
        "product_above",
        [](Offsets o, Numbers x, const char* of) { return over_segments(segment_product_above, o, x, of, true); }, "offsets"_a, "x"_a,
        "of"_a = "entries");
    m.def(
        "best_from_here",
        [](Offsets o, Numbers x, const char* of) { return over_segments(segment_best_from_here, o, x, of, true); }, "offsets"_a, "x"_a,
        "of"_a = "entries");

    m.def(
        "flipped_sums",
        [](Rows scores, IndexPairs pairs, Numbers threshold, std::uint64_t seed, std::size_t resamples, unsigned threads,
           bool one_sided) {
            const auto checked = pairs_of(pairs, scores);
            check_size(threshold, checked.size());
            return computed([&] {
                return flipped_sums(matrix(scores), checked, threshold.data(), {seed, resamples, threads}, side(one_sided));
            });
        },
        "scores"_a, "pairs"_a, "threshold"_a, "seed"_a, "resamples"_a, "threads"_a, "one_sided"_a = false);
    m.def(
        "flipped_maxima",
        [](Rows scores, IndexPairs pairs, Numbers weight, Numbers threshold, std::uint64_t seed, std::size_t resamples,
           unsigned threads) {
            const auto checked = pairs_of(pairs, scores);
            check_size(weight, checked.size());
            check_size(threshold, checked.size());
            return computed([&] {
                return flipped_maxima(matrix(scores), checked, weight.data(), threshold.data(), {seed, resamples, threads});
            });
        },
        "scores"_a, "pairs"_a, "weight"_a, "threshold"_a, "seed"_a, "resamples"_a, "threads"_a);
    m.def(
        "permuted_ranges",
        [](Rows scores, std::uint64_t seed, std::size_t resamples, unsigned threads) {
            return computed([&] { return permuted_ranges(matrix(scores), {seed, resamples, threads}); });
        },
        "scores"_a, "seed"_a, "resamples"_a, "threads"_a);
    m.def(
        "exact_flips",
        [](Rows differences, Numbers tolerance, std::size_t budget, unsigned threads, bool one_sided) {
            check_size(tolerance, differences.shape(0));
            return computed([&] {
                return exact_flips(matrix(differences), tolerance.data(), budget, threads, side(one_sided));
            });
        },
        "differences"_a, "tolerance"_a, "budget"_a, "threads"_a, "one_sided"_a = false);

    m.def(
        "chain_counts",
        [](Offsets offsets, Offsets pair, Marks clicked, Numbers weight, Offsets query_pages, Offsets query_pairs, Numbers attraction,
           Numbers satisfaction, bool by_rank, double onward, unsigned threads) {
            const GivenPages given(offsets, pair, clicked, weight, query_pages, query_pairs);
            const Chain chain = given.chain(attraction, satisfaction, by_rank, onward);
            ChainCounts counts;
            {
                nb::gil_scoped_release release;
                counts = chain_counts(given.pages, chain, given.ranks, threads);
            }
            return nb::make_tuple(to_numpy(std::move(counts.examined)), to_numpy(std::move(counts.satisfied)), counts.onward,
                                  counts.choices, counts.log_likelihood);
        },
        "offsets"_a, "pair"_a, "clicked"_a, "weight"_a, "query_pages"_a, "query_pairs"_a, "attraction"_a, "satisfaction"_a,
        "by_rank"_a, "onward"_a, "threads"_a);
    m.def(
        "chain_chances",
        [](Offsets offsets, Offsets pair, Marks clicked, Numbers weight, Offsets query_pages, Offsets query_pairs, Numbers attraction,
           Numbers satisfaction, bool by_rank, double onward, unsigned threads) {
            const GivenPages given(offsets, pair, clicked, weight, query_pages, query_pairs);
            const Chain chain = given.chain(attraction, satisfaction, by_rank, onward);
            ClickChances chances;
            {
                nb::gil_scoped_release release;
                chances = chain_chances(given.pages, chain, threads);
            }
            return nb::make_tuple(to_numpy(std::move(chances.given_above)), to_numpy(std::move(chances.alone)));
        },
        "offsets"_a, "pair"_a, "clicked"_a, "weight"_a, "query_pages"_a, "query_pairs"_a, "attraction"_a, "satisfaction"_a,
        "by_rank"_a, "onward"_a, "threads"_a);
    m.def(
        "position_counts",
        [](Offsets offsets, Offsets pair, Marks clicked, Numbers weight, Offsets query_pages, Offsets query_pairs, Numbers attraction,
           Numbers examination, unsigned threads) {
            const GivenPages given(offsets, pair, clicked, weight, query_pages, query_pairs);
            same_length(attraction.size(), given.pages.pairs());
            same_length(examination.size(), given.ranks);
            PositionCounts counts;
            {
                nb::gil_scoped_release release;
                counts = position_counts(given.pages, attraction.data(), examination.data(), given.ranks, threads);
            }
            return nb::make_tuple(to_numpy(std::move(counts.examined)), to_numpy(std::move(counts.at_rank)), counts.log_likelihood);
        },
        "offsets"_a, "pair"_a, "clicked"_a, "weight"_a, "query_pages"_a, "query_pairs"_a, "attraction"_a, "examination"_a,
        "threads"_a);

    nb::class_<Ranked>(m, "Ranked");
    nb::class_<Gathered>(m, "Gathered")
        .def_prop_ro("list_run", [](const Gathered& g) { return column(g.list_run); })
        .def_prop_ro("list_topic", [](const Gathered& g) { return column(g.list_topic); })
        .def_prop_ro("list_offsets", [](const Gathered& g) { return column(g.list_offsets); })
        .def_prop_ro("score", [](const Gathered& g) { return column(g.score); })
        .def_prop_ro("document", [](const Gathered& g) { return column(g.document); })
        .def_prop_ro("document_offsets", [](const Gathered& g) { return column(g.document_offsets); })
        .def_prop_ro("found", [](const Gathered& g) { return column(g.found); })
        .def("document_id", [](const Gathered& g, std::size_t d) { return to_str(g.ids.at(d)->id()); }, "document"_a)
        .def(
            "ranked",
            [](const Gathered& g, Numbers fused, std::size_t depth) {
                same_length(fused.size(), g.ids.size());
                nb::gil_scoped_release release;
                return Ranked(ranked(g, fused.data(), depth));
            },
            "fused"_a, "depth"_a)
        .def(
            "majority_places",
            [](const Gathered& g, Numbers start, Numbers list_weights) {
                same_length(start.size(), g.ids.size());
                same_length(list_weights.size(), g.list_run.size());
                return computed([&] { return majority_places(g, start.data(), list_weights.data()); });
            },
            "start"_a, "list_weights"_a);
    m.def(
        "gather",
        [](nb::tuple runs, nb::tuple topics) {
            std::vector<const Table*> tables;
            for (const nb::handle run : runs) {
                tables.push_back(&nb::cast<const Table&>(run));
                with_rows(*tables.back());
            }
            std::vector<Bytes> ids;
            for (const nb::handle topic : topics) ids.push_back(view(nb::cast<nb::bytes>(topic)));
            nb::gil_scoped_release release;
            return gather(tables, ids);
        },
        "runs"_a, "topics"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
    m.def(
        "ranked_table",
        [](nb::list parts, unsigned threads) {
            std::vector<Block> blocks;
            for (const nb::handle part : parts) blocks.push_back(std::move(nb::cast<Ranked&>(part).block));
            nb::gil_scoped_release release;
            return Table(std::move(blocks), threads);
        },
        "parts"_a, "threads"_a);
    const auto over = [&m](const char* name, DocumentNumbers function) {
        m.def(
            name,
            [function](Offsets document, Numbers x, std::size_t documents) {
                return over_documents(function, document, x, documents);
            },
            "document"_a, "x"_a, "documents"_a);
    };
    over("document_sums", document_sums);
    over("document_minima", document_minima);
    over("document_maxima", document_maxima);
    over("document_medians", document_medians);
    add_documents(m);
}

}  // namespace cranfield
