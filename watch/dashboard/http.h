// HTTP/1.1 as far as a page for one machine needs it: GET of a path. Private to the library.
#pragma once

#include <string>
#include <string_view>

namespace gradus::watch::detail {

// The wish of a client. Nothing in it is trusted.
struct HttpRequest {
  enum class Status { kIncomplete, kWhole, kRefused };
  Status status = Status::kIncomplete;
  std::string path;     // of a whole one, without what follows a question mark
  std::string refusal;  // "403 Forbidden"
};

// Reads a request up to the empty line that ends it. Requests of more than 8 KiB, methods other
// than GET and hosts other than this machine are refused. The last keeps out sites of the web that
// let a name of theirs lead here.
HttpRequest parse_request(std::string_view bytes);

// An answer, after which the connection ends. status: "200 OK".
std::string http_response(std::string_view status, std::string_view type, std::string_view body);

}  // namespace gradus::watch::detail
