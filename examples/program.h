// What the main functions of the examples share: reading options, and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include "table.h"

inline constexpr const char* kExitCodes =
    "Exit code: 0; 1 after one line on stderr that says what failed; 2 for wrong options.";

// A finite number from least to most.
inline CLI::Validator number_in(double least, double most) {
  const std::string range = format("a number from %g to %g", least, most);
  return {[=](const std::string& text) -> std::string {
            double number = NAN;
            if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most)
              return "";
            return "expected " + range + ", got " + text;
          },
          "in [" + format("%g - %g", least, most) + "]"};
}
inline CLI::Validator positive_number() {
  return {[](const std::string& text) -> std::string {
            double number = NAN;
            if (CLI::detail::lexical_cast(text, number) && number > 0 && std::isfinite(number))
              return "";
            return "expected a finite number above 0, got " + text;
          },
          "POSITIVE"};
}

// Reads the options and runs the program; returns main's exit code. What was printed and could not
// be written, as on a full disk, is a failure.
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, const Run& run) {
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  const auto failed = [&](const std::string& what) {
    std::cerr << name << ": " << what << '\n';
    return 1;
  };
  if (app.get_footer().empty()) app.footer(kExitCodes);
  try {
    app.parse(argc, argv);
    run();
  } catch (const CLI::Success& help) {
    app.exit(help);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return 2;
  } catch (const std::exception& error) {
    return failed(error.what());
  }
  if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout))
    return failed("cannot write to the standard output");
  return 0;
}
