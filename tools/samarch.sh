#!/bin/sh
# samarch.sh PID: the value of the template's parameter Arch that the sam command which started the make process PID was given, by its
# arguments or by the samconfig.toml of this folder; nothing if it was given none or sam did not start it. SAM does not tell make.
set -u
sam=$(ps -o ppid= -p "$1" 2>/dev/null | tr -d ' ')
[ -n "$sam" ] || exit 0
arguments=$(ps -ww -o args= -p "$sam" 2>/dev/null) || exit 0
case " $arguments " in *sam*" build "*) ;; *) exit 0 ;; esac
# value reads the last Arch=VALUE or ParameterKey=Arch,ParameterValue=VALUE.
value() { sed -n 's/.*Arch\(,ParameterValue\)\{0,1\}=["'\'']\{0,1\}\([a-z0-9_]*\).*/\2/p' | tail -n 1; }
given=$(printf '%s\n' "$arguments" | value)
if [ -z "$given" ] && [ -f samconfig.toml ]; then
	environment=$(printf '%s\n' "$arguments" | sed -n 's/.*--config-env[ =]\([^ ]*\).*/\1/p')
	given=$(awk -v environment="${environment:-default}" '
		/^\[/ { inside = $0 == "[" environment ".build.parameters]" || $0 == "[" environment ".global.parameters]" }
		inside && /^parameter_overrides/' samconfig.toml | value)
fi
printf '%s\n' "$given"
