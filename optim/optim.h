// All of optim.
#pragma once

#include "gradus/optim/adagrad.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/adamw.h"
#include "gradus/optim/averaged_model.h"
#include "gradus/optim/grad_scaler.h"
#include "gradus/optim/lbfgs.h"
#include "gradus/optim/lion.h"
#include "gradus/optim/muon.h"
#include "gradus/optim/optimizer.h"
#include "gradus/optim/rmsprop.h"
#include "gradus/optim/schedulers/cosine.h"
#include "gradus/optim/schedulers/cyclic.h"
#include "gradus/optim/schedulers/decays.h"
#include "gradus/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "gradus/optim/schedulers/step_lr.h"
#include "gradus/optim/sgd.h"
