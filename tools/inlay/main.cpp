#include "command_line.h"

int main(int argc, char** argv) { return inlay::tool::run_command_line(argc, argv); }
