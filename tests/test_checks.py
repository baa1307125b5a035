"""The checks in tools/ themselves: each must see what it is there to see."""

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools"
sys.path.insert(0, str(TOOLS))

import check_layers  # noqa: E402
import check_size  # noqa: E402
import check_words  # noqa: E402
import sources  # noqa: E402


def functions(text):
    plain = sources.blank_directives(sources.blank(text))
    return {
        (name, count, plain.count("\n", first, last) + 1 if last else 0)
        for name, count, first, last in check_size.scan(plain)
    }


@pytest.mark.parametrize(
    "text, expected",
    [
        ("int f(void) { return 1; }", {("f", 0, 1)}),
        (
            "static inline const char* g(int a, char b[2]) {\n  if (a) {\n  }\n  return b;\n}\n",
            {("g", 2, 5)},
        ),
        (
            "TPT_MUST_USE tpt_status_t h(int a, void (*f)(int, int)) TPT_PRINTF(1, 2);",
            {("h", 2, 0)},
        ),
        ("static void __attribute__((noinline)) k(int a) { }", {("k", 1, 1)}),
        ("struct s { int a; void (*f)(int, int); };\nint t = 3;", set()),
        ("static const int table[] = { 1, f(2, 3), 4 };", set()),
        ("typedef struct row { int (*run)(int, int, int, int, int, int, int); } row_t;", set()),
        (
            'extern "C" {\nint f(int a) {\n  const char* s = "}}{(";\n'
            "  /* } */ return s[0] == '{';\n}\n}",
            {("f", 1, 4)},
        ),
        (
            "namespace n {\nclass C : public B {\n public:\n  C(int a, int b) : a_(a) {\n  }\n"
            "  bool operator==(const C& o) const { return true; }\n};\n}",
            {("C", 2, 2), ("operator==", 1, 1)},
        ),
        ("std::map<int, int> f(std::map<int, std::pair<int, int>> a, int b) {\n}", {("f", 2, 2)}),
        ("#define M(a, b) \\\n  int a(void) { \\\n  }\nint f(int x) {\n}", {("f", 1, 2)}),
        ("void f(int a, int b, int c, int d, int e, int f, int g) {}", {("f", 7, 1)}),
    ],
)
def test_scanner_finds_functions(text, expected):
    assert functions(text) == expected


def test_long_functions_and_files_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(check_size, "name", lambda path: path.name)
    body = "int f(int a) {\n" + "  a++;\n" * 79 + "}\n"
    assert check_size.check_c(tmp_path / "x.c", body) == ["x.c:1: f has 81 lines; at most 80"]
    assert check_size.check_c(tmp_path / "x.c", body.replace("  a++;\n", "", 1)) == []
    python = "def f(a, b, c, d, e, f, g, *, h):\n" + "    a += 1\n" * 80
    assert len(check_size.check_python(tmp_path / "x.py", python)) == 2


@pytest.mark.parametrize(
    "folder, target, fine",
    [
        ("src/base", "base/str.h", True),
        ("src/base", "hlo/graph.h", False),
        ("src/base", "tputorch/type.h", True),
        ("src/aten", "hlo/graph.h", True),
        ("src/aten", "pjrt/client.h", False),
        ("src/pjrt", "aten/lower.h", False),
        ("src/vtpu", "pjrt/pjrt_abi.h", True),
        ("src/vtpu", "pjrt/client.h", False),
        ("src/vtpu", "pjrt/call.h", False),
        ("src/eager", "aten/lower.h", True),
        ("src/eager", "vtpu/program.h", False),
        ("adapter", "hlo/graph.h", False),
        ("src/hlo", "graph.h", False),
        ("src/hlo", "ATen/ATen.h", False),
    ],
)
def test_layers_allow_only_what_lies_below(folder, target, fine):
    path = sources.ROOT / folder / "x.c"
    assert (check_layers.check_include(path, folder, '"', target) is None) == fine


@pytest.mark.parametrize(
    "where, text, fine",
    [
        ("src/hlo/x.c", 'printf("a");', False),
        ("src/hlo/x.c", 'snprintf(a, 1, "a");', True),
        ("src/hlo/x.c", "exit(1);", False),
        ("src/hlo/x.c", 'f("exit(1)"); // abort()', True),
        ("src/tools/x.c", 'printf("a");', True),
        ("src/hlo/x_test.c", 'printf("a");', True),
        ("src/hlo/x.c", 'getenv("A");', False),
        ("src/base/options.c", 'getenv("A");', True),
        ("src/hlo/x.c", "p = malloc(3);", False),
        ("src/hlo/x.c", "tpt_free(p); o->free(p);", True),
        ("src/hlo/x.c", "// " + "TO" + "DO: more", False),
        ("docs/x.md", "see /ho" + "me/me/x", False),
        ("docs/x.md", "a/work/b, ./work/x, /tmp", True),
    ],
)
def test_words_are_found(where, text, fine):
    path = sources.ROOT / where
    found = check_words.find(check_words.TEXT_RULES, path, text)
    found += check_words.find(check_words.CALL_RULES, path, sources.blank(text))
    assert (found == []) == fine
