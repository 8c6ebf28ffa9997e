#include "objects.hpp"

#include <charconv>
#include <cmath>

#include "arrow.hpp"  // RowError
#include "parallel.hpp"

namespace cranfield {

namespace {

// What the value of a str, int or integer-like object is as an id. The bytes live as long as the object, or in `arena`.
Bytes id_of(PyObject* object, const char* what, Arena& arena) {
    if (PyUnicode_Check(object)) {
        if (PyUnicode_IS_COMPACT_ASCII(object)) {
            return {static_cast<const char*>(PyUnicode_DATA(object)), static_cast<std::size_t>(PyUnicode_GET_LENGTH(object))};
        }
        // surrogateescape: ids that came from bytes which are not UTF-8 go back to the same bytes
        PyObject* const encoded = PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape");
        if (!encoded) throw nb::python_error();
        const Bytes kept = arena.keep(Bytes(PyBytes_AS_STRING(encoded), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded))));
        Py_DECREF(encoded);
        return kept;
    }
    if (PyIndex_Check(object) && !PyBool_Check(object)) {
        PyObject* const whole = PyNumber_Index(object);
        if (!whole) throw nb::python_error();
        PyObject* const text = PyObject_Str(whole);
        Py_DECREF(whole);
        if (!text) throw nb::python_error();
        const Bytes kept = arena.keep(id_of(text, what, arena));
        Py_DECREF(text);
        return kept;
    }
    throw nb::type_error((std::string(what) + " ids must be str or int, not " + Py_TYPE(object)->tp_name).c_str());
}

double value_of(PyObject* object, ValueKind kind) {
    if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
    const char* const what = kind == ValueKind::grade ? "grades" : "scores";
    if (!PyFloat_Check(object) && !PyLong_Check(object) && (!Py_TYPE(object)->tp_as_number || !Py_TYPE(object)->tp_as_number->nb_float)) {
        throw nb::type_error((std::string(what) + " must be numbers, not " + Py_TYPE(object)->tp_name).c_str());
    }
    const double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred()) throw nb::python_error();
    return value;
}

// `where` names the entry for the error message only.
template <typename Where>
double checked(double value, ValueKind kind, const Where& where) {
    if (std::isnan(value)) throw where("nan");
    if (std::isinf(value) && kind != ValueKind::score) throw where("infinite");
    return kind == ValueKind::rank ? -value : value;
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
    double operator[](std::size_t i) const {
        return list_ ? value_of(PyList_GET_ITEM(list_, static_cast<Py_ssize_t>(i)), kind_) : array_.data()[i];
    }

private:
    using Array = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    ValueKind kind_;
    PyObject* list_ = nullptr;
    Array array_;
    std::size_t size_ = 0;
};

// keep(i, block) gives the id of row i, kept in the block's arena, or an empty one to leave the row out.
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
        if (topic_object != last) {
            const Bytes topic = id_of(topic_object, "topic", block.arena);
            if (topic.empty()) throw RowError("empty-id", "topic", i, {});
            if (!last || topic != last_topic) block.open(topic);
            last = topic_object;
            last_topic = topic;
        }
        const Bytes doc = keep(i, block);
        if (doc.data() == nullptr) {
            ++out.padded;
            continue;
        }
        if (doc.empty()) throw RowError("empty-id", "document", i, {});
        const auto where = [i](const char* code) { return RowError(code, "value", i, {}); };
        block.add(doc.data(), doc.size(), checked(values[i], kind, where));
    }
    out.table = finished(std::move(block), threads);
    return out;
}

}  // namespace

Table read_dict(nb::dict outer, ValueKind kind, unsigned threads) {
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
        const Bytes topic = id_of(topic_key.ptr(), "topic", block.arena);
        if (topic.empty()) throw RowError("empty-id", "topic", 0, {});
        if (PyDict_Size(documents.ptr()) == 0) continue;
        block.open(topic);
        Py_ssize_t at = 0;
        PyObject *doc_key, *value;
        while (PyDict_Next(documents.ptr(), &at, &doc_key, &value)) {
            const Bytes doc = id_of(doc_key, "document", block.arena);
            const auto where = [&](const char* code) {
                return RowError(code, "dict", 0, "topic '" + std::string(topic) + "', document '" + std::string(doc) + "'");
            };
            if (doc.empty()) throw where("empty-id");
            block.add_copy(doc.data(), doc.size(), checked(value_of(value, kind), kind, where));
        }
    }
    return finished(std::move(block), threads);
}

ColumnsTable read_columns(nb::list topics, std::size_t per_topic, nb::list docs, nb::object values, ValueKind kind,
                          unsigned threads) {
    return columns(topics, per_topic, nb::len(docs), values, kind, threads, [&](std::size_t i, Block& block) {
        return block.arena.keep(id_of(PyList_GET_ITEM(docs.ptr(), static_cast<Py_ssize_t>(i)), "document", block.arena));
    });
}

ColumnsTable read_integer_columns(nb::list topics, std::size_t per_topic,
                                  nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> docs,
                                  nb::object values, std::int64_t padding, ValueKind kind, unsigned threads) {
    return columns(topics, per_topic, docs.size(), values, kind, threads, [&](std::size_t i, Block& block) -> Bytes {
        if (docs.data()[i] == padding) return {};
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, docs.data()[i]).ptr;
        return block.arena.keep(Bytes(digits, static_cast<std::size_t>(end - digits)));
    });
}

}  // namespace cranfield
