// The Python face of what is done with the texts of documents: their terms, and rows of weights.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "numpy.hpp"
#include "sparse.hpp"
#include "terms.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace cranfield {

namespace {

nb::list as_texts(const std::vector<Bytes>& texts) {
    nb::list made;
    for (const Bytes text : texts) {
        PyObject* const one = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
        if (!one) throw nb::python_error();
        made.append(nb::steal(one));
    }
    return made;
}

// Texts of a list, each kept as long as this is: the list may change meanwhile.
struct HeldTexts {
    std::vector<nb::object> held;
    std::vector<PlainText> texts;

    explicit HeldTexts(const nb::list& given) {
        held.reserve(given.size());
        texts.reserve(given.size());
        for (const nb::handle text : given) {
            if (!PyUnicode_Check(text.ptr())) throw nb::type_error("texts are strings");
            const bool ascii = PyUnicode_IS_ASCII(text.ptr());
            held.push_back(ascii ? nb::borrow(text) : nb::object(text.attr("lower")()));
            PyObject* const kept = held.back().ptr();
            texts.push_back({PyUnicode_DATA(kept), static_cast<std::size_t>(PyUnicode_GET_LENGTH(kept)),
                             static_cast<int>(PyUnicode_KIND(kept)), static_cast<bool>(PyUnicode_IS_ASCII(kept))});
        }
    }
};

std::vector<Bytes> as_bytes(const nb::list& texts) {
    std::vector<Bytes> made;
    made.reserve(texts.size());
    for (const nb::handle text : texts) {
        Py_ssize_t length = 0;
        const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
        if (!bytes) throw nb::python_error();
        made.emplace_back(bytes, static_cast<std::size_t>(length));
    }
    return made;
}

template <typename Count>
nb::object with_counts(const Postings& made) {
    const auto* const first = reinterpret_cast<const Count*>(made.counts.data());  // aligned as whatever new gives is
    return nb::cast(to_numpy(std::vector<Count>(first, first + made.counts.size() / sizeof(Count))));
}

// The counts in the type that they were counted in; those of one byte, nearly all that there are, are not copied.
nb::tuple as_arrays(Postings&& made) {
    nb::object counts;
    if (made.width == 1) {
        counts = nb::cast(to_numpy(std::move(made.counts)));
    } else {
        counts = made.width == 2 ? with_counts<std::uint16_t>(made) : with_counts<std::uint32_t>(made);
    }
    return nb::make_tuple(to_numpy(std::move(made.starts)), to_numpy(std::move(made.documents)), counts);
}

SparseRows sparse_rows(const Offsets& starts, const Given<std::int32_t>& columns, const Given<float>& weights, std::size_t width) {
    if (starts.size() == 0) throw nb::value_error("offsets begin with 0");
    same_length(columns.size(), weights.size());
    return {starts.data(), starts.size() - 1, columns.data(), weights.data(), columns.size(), width};
}

template <typename Number>
void add_products(nb::module_& m) {
    m.def(
        "row_products",
        [](Offsets starts, Given<std::int32_t> columns, Given<float> weights, Given<Number> vector, std::optional<Offsets> named,
           unsigned threads) {
            const SparseRows rows = sparse_rows(starts, columns, weights, vector.size());
            const std::int64_t* const numbers = named ? named->data() : nullptr;
            return computed([&] { return row_products(rows, vector.data(), numbers, named ? named->size() : 0, threads); });
        },
        "starts"_a, "columns"_a, "weights"_a, "vector"_a, "named"_a.none(), "threads"_a);
}

}  // namespace

void add_documents(nb::module_& m) {
    nb::class_<TermCounter>(m, "TermCounter")
        .def(
            "__init__",
            [](TermCounter* self, const std::vector<std::uint32_t>& marks, nb::list stopped, unsigned threads) {
                std::vector<std::string> words;
                for (const Bytes word : as_bytes(stopped)) words.emplace_back(word);
                new (self) TermCounter(marks, words, threads);
            },
            "marks"_a, "stopped"_a, "threads"_a)
        .def(
            "read",
            [](TermCounter& counter, nb::list texts) {
                const HeldTexts given(texts);
                std::vector<Bytes> fresh;
                {
                    nb::gil_scoped_release release;
                    fresh = counter.read(given.texts);
                }
                return as_texts(fresh);
            },
            "texts"_a)
        .def(
            "name",
            [](TermCounter& counter, nb::list terms) { counter.name(as_bytes(terms)); }, "terms"_a)
        .def("count", &TermCounter::count, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("documents", &TermCounter::documents)
        .def("terms", [](const TermCounter& counter) { return as_texts(counter.terms()); })
        .def(
            "inverted",
            [](TermCounter& counter, Given<std::uint32_t> order) {
                Postings made;
                {
                    nb::gil_scoped_release release;
                    made = counter.inverted({order.data(), order.data() + order.size()});
                }
                return as_arrays(std::move(made));
            },
            "order"_a)
        .def("hashed", [](const TermCounter& counter) {
            HashedTerms made;
            {
                nb::gil_scoped_release release;
                made = counter.hashed();
            }
            return nb::make_tuple(to_numpy(std::move(made.starts)), to_numpy(std::move(made.hashes)), to_numpy(std::move(made.counts)));
        });

    add_products<float>(m);
    add_products<double>(m);
    m.def(
        "nearest_rows",
        [](Offsets starts, Given<std::int32_t> columns, Given<float> weights, Given<bool> shared, std::size_t each, unsigned threads) {
            const SparseRows rows = sparse_rows(starts, columns, weights, shared.size());
            Nearest made;
            {
                nb::gil_scoped_release release;
                made = nearest_rows(rows, shared.data(), each, threads);
            }
            return nb::make_tuple(to_numpy(std::move(made.numbers)), to_numpy(std::move(made.products)));
        },
        "starts"_a, "columns"_a, "weights"_a, "shared"_a, "each"_a, "threads"_a);
}

}  // namespace cranfield
