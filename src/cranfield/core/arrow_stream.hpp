// Tables for others, through the Arrow C stream interface: columns topic, document, and score or grade. Rows stand as they
// do in wire.hpp. They are copied once, some topics at a time as they are asked for; who takes them copies nothing.
#pragma once

#include <memory>
#include <string>

#include "arrow.hpp"
#include "table.hpp"

namespace cranfield {

// Ids are strings where all of them are UTF-8, and otherwise bytes. `metadata` stands in the schema under the key that
// `arrow_metadata` looks for. The stream keeps the table alive; whoever releases it deletes it as well.
ArrowArrayStream* arrow_stream(std::shared_ptr<const Table> table, std::string value_name, std::string metadata);

}  // namespace cranfield
