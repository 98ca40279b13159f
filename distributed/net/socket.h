// Sockets, under the names of this folder. Private to the library.
#pragma once

#include "gradus/tensor/base/socket.h"

namespace gradus::distributed {

using detail::accept_from, detail::await, detail::connect_to, detail::is_loopback,
    detail::listen_at, detail::port_of, detail::read_some, detail::Socket, detail::Unsent,
    detail::write_some;

}  // namespace gradus::distributed
