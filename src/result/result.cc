#include "pepe/result/chunk_writer.h"
#include "pepe/result/codec.h"
#include "pepe/result/stream.h"
