// Requests read, and answers written.
#include "gradus/watch/dashboard/http.h"

#include <algorithm>
#include <cctype>

namespace gradus::watch::detail {

namespace {

constexpr size_t kLargestRequest = 8192;

using Status = HttpRequest::Status;

HttpRequest refused(std::string_view why) { return {Status::kRefused, "", std::string(why)}; }

// The text up to the mark, which goes with it; all of it where there is no mark.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const size_t at = text.find(mark);
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + mark.size());
  return out;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

// Where a tunnel leads here, the port is that of its other end.
bool is_this_machine(std::string_view host) {
  const std::string_view name = host.substr(0, host.rfind(':'));
  const std::string_view port = host.substr(std::min(host.size(), name.size() + 1));
  return (name == "127.0.0.1" || same_word(name, "localhost")) &&
         std::ranges::all_of(port, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

HttpRequest parse_request(std::string_view bytes) {
  const size_t end = bytes.find("\r\n\r\n");
  if (std::min(end, bytes.size()) > kLargestRequest)
    return refused("431 Request Header Fields Too Large");
  if (end == std::string_view::npos) return {};
  std::string_view lines = bytes.substr(0, end);
  std::string_view first = cut(lines, "\r\n");
  const std::string_view method = cut(first, " "), target = cut(first, " "), version = first;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refused("400 Bad Request");
  if (!target.starts_with('/')) return refused("400 Bad Request");
  std::string_view host;
  while (!lines.empty()) {
    std::string_view value = cut(lines, "\r\n");
    const std::string_view name = cut(value, ":");
    if (!is_name(name)) return refused("400 Bad Request");
    if (!same_word(name, "Host")) continue;
    if (!host.empty()) return refused("400 Bad Request");
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    host = value.substr(0, value.find_last_not_of(' ') + 1);
  }
  if (!is_this_machine(host)) return refused("403 Forbidden");
  if (method != "GET") return refused("405 Method Not Allowed");
  return {Status::kWhole, std::string(target.substr(0, target.find('?'))), ""};
}

std::string http_response(std::string_view status, std::string_view type, std::string_view body) {
  std::string out = "HTTP/1.1 ";
  out.append(status).append("\r\nContent-Type: ").append(type);
  out += "; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\nCache-Control: no-store\r\nAllow: GET\r\n"
         "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
         "Content-Security-Policy: default-src 'none'; connect-src 'self'; img-src data:; "
         "script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n\r\n";
  return out.append(body);
}

}  // namespace gradus::watch::detail
