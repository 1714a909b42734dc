"""Prints one line for all tests of a run: how many passed, failed and were skipped.

A GoogleTest program is one test of CTest but holds many: its own report replaces CTest's one.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count_xml(path, skip_names):
    """(passed, failed, skipped) of a JUnit file, without the test cases named in `skip_names`."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.get("name") in skip_names:
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_gtest(path):
    passed = failed = skipped = 0
    for suite in json.loads(path.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            if test.get("failures"):
                failed += 1
            elif test["status"] == "NOTRUN" or test["result"] == "SKIPPED":
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def main(folder):
    gtest = {path.stem: count_gtest(path) for path in sorted(folder.glob("*.json"))}
    counts = list(gtest.values())
    # A program that died wrote no report, so its one test of CTest counts, as failed.
    counts += [count_xml(path, gtest) for path in sorted(folder.glob("*.xml"))]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed and not failed else 1


sys.exit(main(pathlib.Path(sys.argv[1])))
