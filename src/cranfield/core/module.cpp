// The Python face of the core. Every function that may take long releases the interpreter lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "join.hpp"
#include "objects.hpp"
#include "segments.hpp"
#include "table.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cranfield {

namespace {

template <typename T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector's memory to NumPy.
template <typename T>
Array<T> to_numpy(std::vector<T> values) {
    auto* const owned = new std::vector<T>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(owned->data(), {owned->size()}, owner);
}

nb::str to_str(Bytes bytes) {
    PyObject* const text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
    if (!text) throw nb::python_error();
    return nb::steal<nb::str>(text);
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
    if (table.judged_against) throw nb::value_error("this run was read only to be judged: its rows are gone");
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

ValueKind kind_of(const std::string& name) {
    if (name == "score") return ValueKind::score;
    if (name == "grade") return ValueKind::grade;
    if (name == "rank") return ValueKind::rank;
    throw nb::value_error("kind is score, grade or rank");
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

using Segments = void (*)(const std::int64_t*, std::size_t, const double*, double*);

// A function of segments as a function of arrays; `size` is that of the result.
Array<double> over_segments(Segments function, const Offsets& offsets, const Numbers& x, std::size_t size) {
    std::vector<double> out(size);
    function(offsets.data(), offsets.size() - 1, x.data(), out.data());
    return to_numpy(std::move(out));
}

nb::tuple columns_result(ColumnsTable&& read) { return nb::make_tuple(std::move(read.table), read.padded); }

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Reading, interning, ordering and joining. Knows no measure.";

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
        } catch (const FrameError& e) {
            raise_core_error(core_error, "frame", entry("message", std::string(e.what())));
        }
    });

    nb::class_<Progress>(m, "Progress")
        .def(nb::init<>())
        .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
        .def_prop_ro("total", [](const Progress& p) { return p.total.load(); });

    nb::class_<Table>(m, "Table")
        .def_prop_ro("row_count", &Table::row_count)
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
             "topic"_a);

    m.def(
        "read_text",
        [](nb::object source, char delimiter, bool quotes, const std::vector<int>& fields, int min_fields, int max_fields,
           int header_lines, const std::string& kind, bool copy_ids, const Table* judgements, bool ties_in_input_order, unsigned threads,
           Progress& progress) {
            auto buffer = std::make_shared<Buffer>(source);
            TextLayout layout;
            layout.delimiter = delimiter;
            layout.quotes = quotes;
            layout.topic = fields.at(0);
            layout.doc = fields.at(1);
            layout.value = fields.at(2);
            layout.rank = fields.at(3);
            layout.tag = fields.at(4);
            layout.min_fields = min_fields;
            layout.max_fields = max_fields;
            layout.header_lines = header_lines;
            layout.kind = kind_of(kind);
            layout.copy_ids = copy_ids;
            layout.judgements = judgements;
            layout.ties_in_input_order = ties_in_input_order;
            TextTable read;
            {
                nb::gil_scoped_release release;
                read = read_text(buffer->bytes(), layout, threads, progress);
            }
            if (!copy_ids) read.table.owners.push_back(std::move(buffer));
            return nb::make_tuple(std::move(read.table), read.facts.comments, to_str(read.facts.tag), read.facts.several_tags);
        },
        "source"_a, "delimiter"_a, "quotes"_a, "fields"_a, "min_fields"_a, "max_fields"_a, "header_lines"_a, "kind"_a,
        "copy_ids"_a, "judgements"_a.none(), "ties_in_input_order"_a, "threads"_a, "progress"_a);

    m.def(
        "read_dict",
        [](nb::dict outer, const std::string& kind, unsigned threads) { return read_dict(outer, kind_of(kind), threads); },
        "outer"_a, "kind"_a, "threads"_a);

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

    m.def("arrow_columns", [](nb::capsule stream) { return arrow_columns(stream_of(stream)); }, "stream"_a);
    m.def(
        "read_arrow",
        [](nb::capsule stream, const std::vector<int>& columns, const std::string& kind, unsigned threads) {
            FrameLayout layout;
            layout.topic = columns.at(0);
            layout.doc = columns.at(1);
            layout.value = columns.at(2);
            layout.rank = columns.at(3);
            layout.kind = kind_of(kind);
            const Frame frame(stream_of(stream), layout);
            nb::gil_scoped_release release;
            return frame.table(threads);
        },
        "stream"_a, "columns"_a, "kind"_a, "threads"_a);

    m.def(
        "join",
        [](const Table& run, const Table& qrels, bool ties_in_input_order, unsigned threads) {
            Joined joined;
            {
                nb::gil_scoped_release release;
                joined = join(run, qrels, ties_in_input_order, threads);
            }
            Hits& hits = joined.hits;
            return nb::make_tuple(to_numpy(std::move(joined.offsets)), to_numpy(std::move(hits.rank)),
                                  to_numpy(std::move(hits.judgement)), to_numpy(std::move(hits.tie_first)),
                                  to_numpy(std::move(hits.tie_size)), to_numpy(std::move(joined.retrieved)));
        },
        "run"_a, "qrels"_a, "ties_in_input_order"_a, "threads"_a);

    m.def(
        "segment_sum", [](Offsets o, Numbers x) { return over_segments(segment_sum, o, x, o.size() - 1); }, "offsets"_a,
        "x"_a);
    m.def(
        "running_sum", [](Offsets o, Numbers x) { return over_segments(segment_running_sum, o, x, x.size()); },
        "offsets"_a, "x"_a);
    m.def(
        "product_above", [](Offsets o, Numbers x) { return over_segments(segment_product_above, o, x, x.size()); },
        "offsets"_a, "x"_a);
    m.def(
        "best_from_here", [](Offsets o, Numbers x) { return over_segments(segment_best_from_here, o, x, x.size()); },
        "offsets"_a, "x"_a);
}

}  // namespace cranfield
