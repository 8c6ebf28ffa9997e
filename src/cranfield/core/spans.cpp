#include "spans.hpp"

#include "separators.hpp"

namespace cranfield {

namespace {

// Lines, one after another: LF, CR LF and a lone CR each end one.
class Lines {
public:
    Lines(const char* begin, const char* end) : end_(end), feed_(find('\n', begin, end)) {}
    // Where the line ends that begins here, behind what ends it.
    const char* behind(const char* line) {
        if (feed_ < line) feed_ = find('\n', line, end_);  // not for every line anew: a text may have none
        const char* const carriage = find('\r', line, feed_);
        if (carriage + 1 < feed_) return carriage + 1;
        return feed_ < end_ ? feed_ + 1 : end_;
    }

private:
    static const char* find(char c, const char* begin, const char* end) {
        const void* const found = std::memchr(begin, c, static_cast<std::size_t>(end - begin));
        return found ? static_cast<const char*>(found) : end;
    }
    const char* const end_;
    const char* feed_;
};

Bytes first_field(const char* line, const char* end) {
    while (line < end && is_blank(*line)) ++line;
    const char* stop = line;
    while (stop < end && !is_blank(*stop) && !is_newline(*stop)) ++stop;
    return {line, static_cast<std::size_t>(stop - line)};
}

}  // namespace

Spans spans_of(Bytes text, std::size_t most) {
    Spans spans;
    if (text.empty()) return spans;
    const char* const end = text.data() + text.size();
    const char* begin = text.data();
    Bytes topic;
    const auto close = [&](const char* at) {
        spans.begins.push_back(at - text.data());
        spans.topics.append(topic);
        spans.topic_ends.push_back(static_cast<std::int64_t>(spans.topics.size()));
        begin = at;
    };
    Lines lines(begin, end);
    for (const char* line = begin; line < end; line = lines.behind(line)) {
        const Bytes field = first_field(line, end);
        const bool is_full = static_cast<std::size_t>(line - begin) >= most;
        if (line > begin && (is_full || !same_bytes(field, topic))) close(line);
        topic = field;
    }
    if (begin < end) close(end);
    return spans;
}

}  // namespace cranfield
