"""Which script an interpreter's command line names."""

from __future__ import annotations

import pytest

from evaluators.desktop.interpreters import script_of

NAMED = (
    "sh ./s.sh",
    "dash -eu s.sh",
    "bash -euo pipefail s.sh a b",
    "bash +o posix -O extglob s.sh",
    "bash -e s.sh noexec",
    "bash --norc --rcfile rc --init-file=x s.sh",
    "bash --init-file rc -- s.sh",
    "bash - s.sh",
    "zsh -- s.sh",
    "ksh s.sh -c x",
    "python3 -u s.py",
    "python3.12 -X dev -Wignore -O -E -I s.py",
    "python3 -Wignore s.py",
    "python3 -W ignore --check-hash-based-pycs always s.py",
    "perl -w -I lib -Ilib -MData::Dumper s.pl",
    "perl -i.be -l0e -X s.pl",
    "ruby -w -r json -X d -C d -E UTF-8 -Ku s.rb",
    "php -d a=b -c ini -f s.php",
    "php --php-ini x s.php",
    "php --define a=b --php-ini=x -S localhost:80 -t d s.php",
    "lua5.4 -i -l lib s.lua",
    "luajit -jv -O3 -l lib s.lua",
    "tclsh8.6 -encoding utf-8 s.tcl",
    "guile -L d -l f -C d -x .s -e main -s s.scm",
    "node --inspect --require m --import=m -r m -C c s.js",
    "nodejs --conditions c --loader l --env-file f s.js",
    "node --import m s.js",
    "gjs -m s.js",
    "gjs-console -I d -C x --include-path d s.js",
)
NONE = (
    "bash -n s.sh",
    "bash -i s.sh",
    "bash -l s.sh",
    "bash -eul s.sh",
    "bash --login s.sh",
    "sh -i s.sh",
    "sh -en s.sh",
    "bash -o noexec s.sh",
    "perl -wc s.pl",
    "ruby -c s.rb",
    "php -l s.php",
    "sh -c s.sh",
    "bash -ec s.sh",
    "bash -s s.sh",
    "bash -o",
    "bash -",
    "sh --",
    "sh",
    "python3 - s.py",
    "python3 -m s",
    "python3 -Ic s.py",
    "python3 -uc s.py s.py",
    "perl -we s.pl",
    "perl -E s.pl",
    "perl -S s.pl",
    "ruby -e s.rb",
    "ruby -S s.rb",
    "php -r s.php",
    "php --run s.php",
    "php -B s.php",
    "php -R s.php",
    "php -F s.php",
    "php -E s.php",
    "lua -e s.lua s.lua",
    "luajit -b s.lua o",
    "luajit -e s.lua",
    "guile -c s.scm",
    "node -e s.js",
    "node -p s.js",
    "node -c s.js",
    "node --eval=1 s.js",
    "node --print s.js",
    "node --check s.js",
    "node --test s.js",
    "node --run s.js",
    "gjs -c s.js",
    "gjs --command=1 s.js",
    "gedit s.py",
    "pythonic s.py",
    "vim-sh s.sh",
    "perl5.36x s.pl",
    "rubyx s.rb",
    "phpx s.php",
    "luax s.lua",
    "luajitx s.lua",
    "tclshx s.tcl",
    "guilex s.scm",
    "nodex s.js",
    "gjsx s.js",
)


@pytest.mark.parametrize("line", NAMED)
def test_script_is_the_first_argument_that_is_no_option(line: str) -> None:
    program, *args = line.split()
    assert (script_of(program, args) or "").removeprefix("./").startswith("s.")


@pytest.mark.parametrize("line", NONE)
def test_inline_code_has_no_file(line: str) -> None:
    program, *args = line.split()
    assert script_of(program, args) is None


def test_first_argument_after_the_end_of_options_is_the_script() -> None:
    assert script_of("sh", ["-e", "--", "-s.sh"]) == "-s.sh"
