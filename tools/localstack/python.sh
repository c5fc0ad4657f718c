#!/bin/sh
# python.sh: the path of a Python 3.13 with venv, which LocalStack 4.14 needs: PYTHON, or python3.13 or python3 of the PATH, or one that pyenv
# or uv has installed.
for python in "${PYTHON:-}" python3.13 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python \
	"${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-3.13*/bin/python; do
	if [ -n "$python" ] && "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then
		command -v "$python"
		exit 0
	fi
done
echo "Python 3.13 with venv is missing; LocalStack 4.14 runs with no other. Debian 13: apt install python3-venv. Elsewhere: pyenv install 3.13," \
	"or uv python install 3.13, or set PYTHON to the program." >&2
exit 1
