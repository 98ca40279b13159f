// close_files: the second half of the runner's system call filter.
#pragma once

// From now on this process opens no file: not those of the judge either.
void close_files();
