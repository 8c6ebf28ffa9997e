// Where fields end. The text is looked at 64 bytes together, ahead of the lines, and only positions are kept: no
// branch depends on how long a field is, which is what makes splitting by hand slow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace cranfield {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_newline(char c) { return c == '\n' || c == '\r'; }

class Separators {
public:
    Separators(const char* begin, const char* end, char delimiter)
        : begin_(begin), end_(end), ahead_(begin), delimiter_(delimiter), positions_(text_ahead + 64),
          line_ends_(text_ahead + 64) {}

    // The next byte at which a field may end (any up to the blank, or the delimiter), or the end of the text.
    const char* next() {
        while (first_ == filled_) {
            if (ahead_ >= end_) return end_;
            fill();
        }
        // Whoever goes byte by byte passes lines on the way: keep count of them.
        if (line_ < lines_ && line_ends_[line_] == first_) ++line_;
        return begin_ + positions_[first_++];
    }

    // If the next line surely has exactly `fields` fields with one blank between two, the positions at which they
    // end (the last is the newline); otherwise nullptr, and nothing is consumed.
    const std::uint32_t* plain_line(std::uint32_t fields) {
        if (line_ == lines_) {
            if (ahead_ >= end_) return nullptr;
            fill();
            if (line_ == lines_) return nullptr;
        }
        if (first_ < plain_from_ || line_ends_[line_] - first_ != fields - 1) return nullptr;
        const std::uint32_t* const ends = positions_.data() + first_;
        first_ = line_ends_[line_++] + 1;
        return ends;
    }

private:
    static constexpr std::size_t text_ahead = 8192;
    static constexpr std::uint32_t nothing_plain = 0xFFFFFFFFu;

    // What 64 bytes hold: a bit a byte.
    struct Marks {
        std::uint64_t separators, newlines, returns, odd;  // odd: control characters that are neither blank nor newline
    };

    void fill() {
        // Keep what is not consumed yet: less than a line.
        const std::uint32_t left = filled_ - first_;
        plain_from_ = plain_from_ <= first_ ? 0 : std::min(plain_from_ - first_, left);
        filled_ = static_cast<std::uint32_t>(std::copy(positions_.begin() + first_, positions_.begin() + filled_,
                                                       positions_.begin()) - positions_.begin());
        for (std::uint32_t i = line_; i < lines_; ++i) line_ends_[i - line_] = line_ends_[i] - first_;
        lines_ -= line_;
        first_ = line_ = 0;
        positions_.resize(std::max(positions_.size(), filled_ + text_ahead + 64));
        line_ends_.resize(std::max(line_ends_.size(), lines_ + text_ahead + 64));
#if defined(__SSE2__) && defined(__GNUC__)
        static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
        if (wide) return fill_wide();
#endif
        fill_window([this](const char* p) { return look_at(p); }, [](std::uint64_t x) { return __builtin_popcountll(x); });
    }

    template <typename Look, typename Count>
#if defined(__GNUC__)
    __attribute__((always_inline))
#endif
    inline void fill_window(const Look& look, const Count& count) {
        std::uint32_t* out = positions_.data() + filled_;
        std::uint32_t* line_out = line_ends_.data() + lines_;
        std::uint64_t odd = 0;
        for (std::size_t done = 0; done < text_ahead && ahead_ < end_; done += 64, ahead_ += 64) {
            Marks marks = end_ - ahead_ >= 64 ? look(ahead_) : look_at_tail();
            // CR LF is one end of a line, at its first byte.
            const std::uint64_t second = marks.newlines & ~marks.returns & (marks.returns << 1 | last_was_return_);
            last_was_return_ = marks.returns >> 63;
            marks.separators &= ~second;
            marks.newlines &= ~second;
            const auto base = static_cast<std::uint32_t>(ahead_ - begin_);
            const auto before = static_cast<std::uint32_t>(out - positions_.data());
            odd |= marks.odd | (marks.separators & (marks.separators << 1 | last_was_separator_));
            last_was_separator_ = marks.separators >> 63;
            for (std::uint64_t left = marks.newlines; left != 0; left &= left - 1) {
                const std::uint64_t up_to_it = left ^ (left - 1);
                *line_out++ = before + static_cast<std::uint32_t>(count(marks.separators & up_to_it)) - 1;
            }
            std::uint32_t* const stop = out + count(marks.separators);
            for (std::uint64_t mask = marks.separators; out < stop;) {
                for (int i = 0; i < 4; ++i) {  // four at a time, the last ones in vain: they are overwritten
                    *out++ = base + static_cast<std::uint32_t>(__builtin_ctzll(mask | std::uint64_t{1} << 63));
                    mask &= mask - 1;
                }
            }
            out = stop;
        }
        if (odd != 0) plain_from_ = nothing_plain;  // a window is plain or not as a whole
        filled_ = static_cast<std::uint32_t>(out - positions_.data());
        lines_ = static_cast<std::uint32_t>(line_out - line_ends_.data());
    }

    Marks look_at_tail() const {
        // Loading past the end could touch a page that is not there.
        std::array<char, 64> tail;
        tail.fill(delimiter_ == 'x' ? 'y' : 'x');
        std::copy(ahead_, end_, tail.begin());
        return look_at(tail.data());
    }

    Marks look_at(const char* p) const {
        Marks marks{0, 0, 0, 0};
#if defined(__SSE2__)
        const auto bits = [](__m128i found) { return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found))); };
        for (int i = 0; i < 4; ++i) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
            const auto equal = [bytes](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
            const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
            const __m128i carriage_return = equal('\r');
            const __m128i newline = _mm_or_si128(equal('\n'), carriage_return);
            const __m128i blank = _mm_or_si128(equal(' '), equal('\t'));
            marks.separators |= bits(_mm_or_si128(low, equal(delimiter_))) << (16 * i);
            marks.newlines |= bits(newline) << (16 * i);
            marks.returns |= bits(carriage_return) << (16 * i);
            marks.odd |= bits(_mm_andnot_si128(_mm_or_si128(newline, blank), low)) << (16 * i);
        }
#else
        for (int i = 0; i < 64; ++i) {
            const bool low = static_cast<unsigned char>(p[i]) <= ' ';
            marks.separators |= static_cast<std::uint64_t>(low || p[i] == delimiter_) << i;
            marks.newlines |= static_cast<std::uint64_t>(is_newline(p[i])) << i;
            marks.returns |= static_cast<std::uint64_t>(p[i] == '\r') << i;
            marks.odd |= static_cast<std::uint64_t>(low && !is_newline(p[i]) && !is_blank(p[i])) << i;
        }
#endif
        return marks;
    }

#if defined(__SSE2__) && defined(__GNUC__)
    // The same with the wider registers most machines have.
    __attribute__((target("avx2,bmi,popcnt"))) void fill_wide() {
        const auto look = [this](const char* p) __attribute__((target("avx2,bmi,popcnt"))) { return look_wide(p); };
        fill_window(look, [](std::uint64_t x) __attribute__((target("avx2,bmi,popcnt"))) { return __builtin_popcountll(x); });
    }
    __attribute__((target("avx2,bmi,popcnt"))) Marks look_wide(const char* p) const {
        Marks marks{0, 0, 0, 0};
        for (int i = 0; i < 2; ++i) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * i));
            const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(' ')), bytes);
            const __m256i carriage_return = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\r'));
            const __m256i newline = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n')), carriage_return);
            const __m256i blank = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(' ')),
                                                  _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\t')));
            const __m256i delimiter = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(delimiter_));
            const auto bits = [i](int found) { return static_cast<std::uint64_t>(static_cast<unsigned>(found)) << (32 * i); };
            marks.separators |= bits(_mm256_movemask_epi8(_mm256_or_si256(low, delimiter)));
            marks.newlines |= bits(_mm256_movemask_epi8(newline));
            marks.returns |= bits(_mm256_movemask_epi8(carriage_return));
            marks.odd |= bits(_mm256_movemask_epi8(_mm256_andnot_si256(_mm256_or_si256(newline, blank), low)));
        }
        return marks;
    }
#endif

    const char* const begin_;
    const char* const end_;
    const char* ahead_;  // the text before this has been looked at
    const char delimiter_;
    std::vector<std::uint32_t> positions_;  // from the start of the text
    std::vector<std::uint32_t> line_ends_;  // which of the positions are newlines
    std::uint32_t first_ = 0, filled_ = 0, line_ = 0, lines_ = 0;
    std::uint64_t last_was_separator_ = 0, last_was_return_ = 0;
    std::uint32_t plain_from_ = 0;  // from this position on, one separator stands between two fields, and no odd byte
};

}  // namespace cranfield
