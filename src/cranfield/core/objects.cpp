#include "objects.hpp"

#include <charconv>
#include <cmath>

#include "arrow.hpp"  // RowError
#include "parallel.hpp"
#include "plain_dicts.hpp"

namespace cranfield {

namespace {

template <typename Where>
double checked(double value, ValueKind kind, const Where& where) {
    if (std::isnan(value)) throw where("nan");
    if (std::isinf(value) && kind != ValueKind::score) throw where("infinite");
    if (kind == ValueKind::rank && value != std::floor(value)) {
        RowError error = where("rank");
        error.field = in_digits(value);
        throw error;
    }
    return kind == ValueKind::rank ? -value : value;
}

// The id that a str, int or integer-like object stands for. The bytes live as long as the object, or in `arena`.
// `where` makes the error that names the entry.
template <typename Where>
Bytes id_of(PyObject* object, const char* what, Arena& arena, const Where& where) {
    if (PyUnicode_Check(object)) {
        if (PyUnicode_IS_COMPACT_ASCII(object)) {
            return {static_cast<const char*>(PyUnicode_DATA(object)), static_cast<std::size_t>(PyUnicode_GET_LENGTH(object))};
        }
        // surrogateescape: ids that came from bytes which are not UTF-8 go back to the same bytes
        const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape"));
        if (!encoded.is_valid()) {
            PyErr_Clear();
            throw where("half-character");
        }
        return arena.keep(Bytes(PyBytes_AS_STRING(encoded.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded.ptr()))));
    }
    if (PyIndex_Check(object) && !PyBool_Check(object)) {
        const nb::object whole = nb::steal(PyNumber_Index(object));
        if (!whole.is_valid()) throw nb::python_error();
        const nb::object text = nb::steal(PyObject_Str(whole.ptr()));
        if (!text.is_valid()) {  // more digits than Python prints
            PyErr_Clear();
            throw where("overflow");
        }
        return arena.keep(id_of(text.ptr(), what, arena, where));
    }
    throw nb::type_error((std::string(what) + " ids must be str or int, not " + Py_TYPE(object)->tp_name).c_str());
}

template <typename Where>
double value_of(PyObject* object, ValueKind kind, const Where& where) {
    double value;
    if (PyFloat_CheckExact(object)) {
        value = PyFloat_AS_DOUBLE(object);
    } else {
        const auto* const number = Py_TYPE(object)->tp_as_number;
        if (!PyLong_Check(object) && !(number && number->nb_float)) {
            const char* const what = kind == ValueKind::grade ? "grades" : "scores";
            throw nb::type_error((std::string(what) + " must be numbers, not " + Py_TYPE(object)->tp_name).c_str());
        }
        const nb::object kept = nb::borrow(object);  // its own code runs now, and may let go of it
        value = PyFloat_AsDouble(object);
        if (value == -1.0 && PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
            PyErr_Clear();
            throw where("overflow");
        }
    }
    return checked(value, kind, where);
}

// Finishes all segments side by side, without the interpreter.
Table finished(Block block, unsigned threads) {
    nb::gil_scoped_release release;
    constexpr std::size_t segments_in_part = 16;
    const std::size_t parts = (block.segments().size() + segments_in_part - 1) / segments_in_part;
    parallel_for(parts, threads, [&](std::size_t part) {
        Scratch scratch;
        const std::size_t end = std::min(block.segments().size(), (part + 1) * segments_in_part);
        for (std::size_t s = part * segments_in_part; s < end; ++s) block.finish(s, scratch);
    });
    std::vector<Block> blocks;
    blocks.push_back(std::move(block));
    return Table(std::move(blocks), threads);
}

// The values of a list, or of a contiguous array of doubles.
class Values {
public:
    Values(const nb::object& source, ValueKind kind) : kind_(kind) {
        if (PyList_Check(source.ptr())) {
            list_ = source.ptr();
            size_ = static_cast<std::size_t>(PyList_GET_SIZE(list_));
        } else {
            array_ = nb::cast<Array>(source);
            size_ = array_.size();
        }
    }
    std::size_t size() const { return size_; }
    template <typename Where>
    double at(std::size_t i, const Where& where) const {
        if (list_) return value_of(PyList_GET_ITEM(list_, static_cast<Py_ssize_t>(i)), kind_, where);
        return checked(array_.data()[i], kind_, where);
    }

private:
    using Array = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    ValueKind kind_;
    PyObject* list_ = nullptr;
    Array array_;
    std::size_t size_ = 0;
};

// keep(i, block, where) gives the id of row i, kept in the block's arena, or one without data to leave the row out.
template <typename Keep>
ColumnsTable columns(const nb::list& topics, std::size_t per_topic, std::size_t count, const nb::object& value_source,
                     ValueKind kind, unsigned threads, const Keep& keep) {
    const Values values(value_source, kind);
    if (per_topic == 0 || values.size() != count || nb::len(topics) * per_topic != count) {
        throw nb::value_error("topics, documents and values differ in length");
    }
    ColumnsTable out;
    Block block(kind != ValueKind::grade);
    block.reserve(count, false);
    PyObject* last = nullptr;
    Bytes last_topic;
    for (std::size_t i = 0; i < count; ++i) {
        PyObject* const topic_object = PyList_GET_ITEM(topics.ptr(), static_cast<Py_ssize_t>(i / per_topic));
        const auto at = [i](const char* column) {
            return [i, column](const char* code) { return RowError(code, column, i, {}); };
        };
        if (topic_object != last) {
            const Bytes topic = id_of(topic_object, "topic", block.arena, at("topic"));
            if (topic.empty()) throw at("topic")("empty-id");
            if (!last || topic != last_topic) block.open(topic);
            last = topic_object;
            last_topic = topic;
        }
        const Bytes doc = keep(i, block, at("document"));
        if (doc.data() == nullptr) {
            ++out.padded;
            continue;
        }
        if (doc.empty()) throw at("document")("empty-id");
        block.add(doc.data(), doc.size(), values.at(i, at("value")));
    }
    out.table = finished(std::move(block), threads);
    return out;
}

}  // namespace

Table read_dict(nb::dict outer, ValueKind kind, const Judging& judging, unsigned threads) {
    if (auto plain = read_plain_dict(outer, kind, judging, threads)) return std::move(*plain);
    Block block(kind != ValueKind::grade);
    std::size_t rows = 0;
    for (auto [topic, documents] : outer) {
        if (!PyDict_Check(documents.ptr())) {
            throw nb::type_error((std::string("expected {topic: {document: number}}, but a topic's value is ") +
                                  Py_TYPE(documents.ptr())->tp_name).c_str());
        }
        rows += static_cast<std::size_t>(PyDict_Size(documents.ptr()));
    }
    block.reserve(rows, false);
    for (auto [topic_key, documents] : outer) {
        std::string place = "a topic";
        const auto where = [&place](const char* code) { return RowError(code, "dict", 0, place); };
        const Bytes topic = id_of(topic_key.ptr(), "topic", block.arena, where);
        if (topic.empty()) throw where("empty-id");
        if (PyDict_Size(documents.ptr()) == 0) continue;
        block.open(topic);
        Py_ssize_t at = 0;
        PyObject *doc_key, *value;
        while (PyDict_Next(documents.ptr(), &at, &doc_key, &value)) {
            Bytes doc = "";
            const auto in_topic = [&](const char* code) {
                place = "topic '" + std::string(topic) + "', document '" + std::string(doc) + "'";
                return where(code);
            };
            doc = id_of(doc_key, "document", block.arena, in_topic);
            if (doc.empty()) throw in_topic("empty-id");
            block.add_copy(doc.data(), doc.size(), value_of(value, kind, in_topic));
        }
    }
    return finished(std::move(block), threads);
}

ColumnsTable read_columns(nb::list topics, std::size_t per_topic, nb::list docs, nb::object values, ValueKind kind,
                          unsigned threads) {
    return columns(topics, per_topic, nb::len(docs), values, kind, threads, [&](std::size_t i, Block& block, const auto& where) {
        PyObject* const doc = PyList_GET_ITEM(docs.ptr(), static_cast<Py_ssize_t>(i));
        const Bytes id = id_of(doc, "document", block.arena, where);
        return id.empty() ? Bytes("") : block.arena.keep(id);
    });
}

ColumnsTable read_integer_columns(nb::list topics, std::size_t per_topic,
                                  nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> docs,
                                  nb::object values, std::int64_t padding, ValueKind kind, unsigned threads) {
    return columns(topics, per_topic, docs.size(), values, kind, threads, [&](std::size_t i, Block& block, const auto&) -> Bytes {
        if (docs.data()[i] == padding) return {};
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, docs.data()[i]).ptr;
        return block.arena.keep(Bytes(digits, static_cast<std::size_t>(end - digits)));
    });
}

}  // namespace cranfield
