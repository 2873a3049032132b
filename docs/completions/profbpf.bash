# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Bash completion. Commands, options and fixed values are read from `profbpf -h` and
# `profbpf COMMAND -h`, which print the tables that the program itself parses with, so they cannot
# disagree. What a value names (a pid, a user, a file) is decided here, by the word that stands for
# it in the help.

# The words of the command list of profbpf -h.
_profbpf_commands() {
	"$1" -h 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Lines "--name|-k|ARG|values" of one command.
_profbpf_options() {
	"$1" "$2" -h 2>/dev/null | awk '
		function flush() {
			if (name == "") return
			values = ""
			if (match(text, /: [a-z0-9-]+(, [a-z0-9-]+)*$/)) {
				values = substr(text, RSTART + 2)
				gsub(/,/, "", values)
			}
			print name "|" key "|" arg "|" values
			name = ""
		}
		/^  (-.,|   ) --[a-z]/ {
			flush()
			key = substr($0, 3, 1) == "-" ? substr($0, 3, 2) : ""
			rest = substr($0, 7)
			split(rest, w, " ")
			name = w[1]
			rest = substr(rest, length(name) + 1)
			arg = ""
			if (rest ~ /^ [^ ]/) {
				arg = rest
				sub(/^ /, "", arg)
				text = arg
				if (!sub(/^.*[^ ]  +/, "", text)) text = ""
				sub(/  +.*$/, "", arg)
			} else {
				text = rest
				sub(/^ +/, "", text)
			}
			next
		}
		/^            / && name != "" { sub(/^ +/, ""); text = text " " $0; next }
		{ flush() }
		END { flush() }'
}

# Candidates for a value, by the word for it in the help.
_profbpf_value() {
	local arg=$1 values=$2 current=$3
	if [ -n "$values" ]; then
		compgen -W "$values" -- "$current"
		return
	fi
	case $arg in
	PID*) compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$current" ;;
	TID*) compgen -W "$(cd /proc && printf '%s\n' [0-9]*/task/[0-9]* | sed 's/.*\///')" -- "$current" ;;
	USER*) compgen -u -- "$current" ;;
	FILE* | PATH* | DIR*) compgen -f -- "$current" ;;
	esac
}

_profbpf() {
	local current=${COMP_WORDS[COMP_CWORD]} previous='' command=record word i line name key arg values options
	local program=${COMP_WORDS[0]}
	COMPREPLY=()
	[ "$COMP_CWORD" -lt 1 ] || previous=${COMP_WORDS[COMP_CWORD - 1]}
	# After "--" stands another program's command line.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			if [ $((i + 1)) = "$COMP_CWORD" ]; then
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			fi
			return
		fi
	done
	local commands
	commands=$(_profbpf_commands "$program")
	if [ "$COMP_CWORD" -gt 1 ]; then
		for word in $commands; do
			[ "${COMP_WORDS[1]}" = "$word" ] && command=$word
		done
	elif [ "${current#-}" = "$current" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
		return
	fi
	if [ "$command" = help ]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
		return
	fi
	options=$(_profbpf_options "$program" "$command")
	[ "$previous" != "=" ] || previous=${COMP_WORDS[COMP_CWORD - 2]}
	[ "$current" != "=" ] || {
		current=
		previous=${COMP_WORDS[COMP_CWORD - 1]}
	}
	local names=
	while IFS='|' read -r name key arg values; do
		[ -n "$name" ] || continue
		names="$names $name"
		[ -n "$arg" ] || continue
		if [ "$previous" = "$name" ] || { [ -n "$key" ] && [ "$previous" = "$key" ]; }; then
			mapfile -t COMPREPLY < <(_profbpf_value "$arg" "$values" "$current")
			return
		fi
	done <<<"$options"
	case $current in
	-*) mapfile -t COMPREPLY < <(compgen -W "$names" -- "$current") ;;
	*)
		if [ "$command" != record ]; then
			mapfile -t COMPREPLY < <(
				for line in $(compgen -f -- "$current"); do
					case $line in *.prof | *.part | *.old | *.folded | *.txt) echo "$line" ;; *) [ ! -d "$line" ] || echo "$line/" ;; esac
				done
			)
		fi
		;;
	esac
}
complete -o filenames -o bashdefault -F _profbpf profbpf
