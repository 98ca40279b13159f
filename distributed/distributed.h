// Ranks (threads or processes) that train together. docs/distributed.md is the guide.
#pragma once

#include "gradus/distributed/collectives.h"
#include "gradus/distributed/ddp/distributed_data_parallel.h"
#include "gradus/distributed/ddp/model_parallel.h"
#include "gradus/distributed/ddp/sync_batchnorm.h"
#include "gradus/distributed/environment.h"
#include "gradus/distributed/init.h"
#include "gradus/distributed/job/error.h"
#include "gradus/distributed/tcp_store.h"
#include "gradus/distributed/threads/spawn.h"
