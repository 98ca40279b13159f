// The page of a dashboard, which the build makes of page.html. Private to the library.
#pragma once

namespace gradus::watch::detail {

extern const char* const kDashboardPage;

}  // namespace gradus::watch::detail
